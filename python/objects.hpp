/// \file
/// Objects of Python: lattices on a device, and fields in double precision on them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <complex>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/fields/gauge.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith::python {

namespace nb = nanobind;

/// Guard of a call of the library: releases the GIL, so that other threads of Python continue, and makes their calls
/// wait, since a device serves one thread at a time. The first one joins the ranks that were started with this process.
/// \throws UsageError this thread is in a call already, from which a callback calls the library, or any thread calls
/// it while a callback runs.
class Busy {
 public:
  enum class Joins { no, yes };
  explicit Busy(Joins joins = Joins::yes);
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  nb::gil_scoped_release release_;
  std::unique_lock<std::mutex> lock_;
};

/// A function of the user runs, which a call has called.
class Callback {
 public:
  Callback();
  ~Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
};

struct LatticeObject {
  DomainPointer domain;
};

/// Links with all reals.
struct GaugeObject {
  LinkField links;
  std::array<Complex64, directions> phase;  ///< of the boundary, as HostGauge has it
  nb::object report = {};                   ///< report of the call that made the links
};

/// Momenta of links: anti-Hermitian and traceless.
struct MomentumObject {
  LinkField momenta;
  nb::object report = {};
};

/// Quark fields or sources as right-hand sides, on all sites.
struct SpinorObject {
  SpinorField field;
  const BasisInfo* basis;  ///< of the stored numbers
  nb::object report = {};
};

/// The device of a name; the same object for all calls, so that their fields can be combined.
std::shared_ptr<Device> device_named(const std::string& name);
/// A domain on the ranks of ranks().
DomainPointer domain_of(const Lattice& lattice, const std::string& device);
/// The default gamma basis of solves.
const BasisInfo& usual_basis();

GaugeObject on_device(const HostGauge& gauge, DomainPointer domain);
HostGauge on_host(const GaugeObject& gauge);
/// A field of zeros.
SpinorObject make_spinors(DomainPointer domain, int rhs, int spins);
/// A source in all spins and colours, or of staggered quarks in all colours. \param gauge links for smeared sources, or
/// null.
SpinorObject source(const DomainPointer& domain, const GaugeObject* gauge, const std::string& text, int spins);
SpinorObject copy(const SpinorObject& from);
/// Copies spinors to the domain and basis of `to`.
void move_columns(const SpinorObject& from, SpinorObject& to);

/// A view of the memory of a field, as kernels use it.
struct MemoryView {
  void* data;
  std::vector<std::size_t> shape;  ///< of doubles without gaps
  Device* device;
};
MemoryView view_of(const SpinorObject& f);
MemoryView view_of(const LinkField& u);
/// The local lexicographic number of the site at each place in memory; -1: none.
std::vector<long long> sites_of(const Domain& domain, int lanes, std::vector<std::size_t>& shape);

/// The shape of lexicographic arrays of the local lattice.
std::vector<std::size_t> lexicographic_shape(const SpinorObject& f);
std::vector<std::size_t> lexicographic_shape(const LinkField& u);
void read(const SpinorObject& f, Complex64* to);
void read(const LinkField& u, Complex64* to);
void write(SpinorObject& f, const Complex64* from);
void write(GaugeObject& u, const Complex64* from);
/// \throws BadData matrices are not in the algebra.
void write(MomentumObject& p, const Complex64* from);
/// The field with the numbers of an object.
inline const SpinorObject& numbers_of(const SpinorObject& f) { return f; }
inline const LinkField& numbers_of(const GaugeObject& u) { return u.links; }
inline const LinkField& numbers_of(const MomentumObject& p) { return p.momenta; }
inline const Domain& domain_of(const SpinorObject& f) { return f.field.domain(); }
inline const Domain& domain_of(const LinkField& u) { return u.domain(); }

// a x + b y, in the basis of x. \throws UsageError, WrongLattice they do not go together. Likewise for products.
SpinorObject combined(Complex64 a, const SpinorObject& x, Complex64 b, const SpinorObject& y);
MomentumObject combined(double a, const MomentumObject& x, double b, const MomentumObject& y);
GaugeObject combined(double a, const GaugeObject& x, double b, const GaugeObject& y);
/// sum conj(x) y of each right-hand side.
std::vector<std::complex<double>> dots(const SpinorObject& x, const SpinorObject& y);
/// sum -tr P Q, Re sum tr U^+ V
std::vector<double> dots(const MomentumObject& x, const MomentumObject& y);
std::vector<double> dots(const GaugeObject& x, const GaugeObject& y);
/// A product of gamma matrices by its name in mesons, in the basis of lexicographic().
Spin4 gamma_named(const std::string& name);
/// A matrix in that basis times the spins.
SpinorObject turned(const Spin4& g, const SpinorObject& x);

/// \throws UsageError no run has a trajectory of that number.
void require_trajectory(std::uint64_t number);
/// P = 0, or P = i p_a T_a with p_a of variance 1, as trajectory so and so of a run with this seed draws them.
MomentumObject make_momenta(const DomainPointer& domain, int colours);
MomentumObject draw_momenta(const DomainPointer& domain, int colours, std::uint64_t seed, std::uint64_t trajectory);
/// sum -tr P^2
double kinetic_energy(const MomentumObject& p);
/// exp(step P) U
GaugeObject moved(const GaugeObject& u, const MomentumObject& p, double step);

void bind_errors(nb::module_& m);
void bind_source(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_objects(nb::module_& m);
void bind_gamma(nb::module_& m);
void bind_calls(nb::module_& m);

}  // namespace quarksmith::python
