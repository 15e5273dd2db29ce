/// \file
/// What Python holds: lattices on a device, and fields of double precision on them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/fields/gauge.hpp"

namespace quarksmith::python {

namespace nb = nanobind;

/// Work of the library: other threads of Python go on meanwhile, and their calls wait, since a device serves one thread
/// at a time. \throws UsageError this thread is in such work already: a function that it calls back called the library.
class Busy {
 public:
  Busy();
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  nb::gil_scoped_release release_;
  std::unique_lock<std::mutex> lock_;
};

struct LatticeObject {
  DomainPointer domain;
};

/// Links with all reals.
struct GaugeObject {
  LinkField links;
  std::array<Complex64, directions> phase;  ///< of the boundary, as HostGauge has it
  nb::object report = {};                   ///< of the call that has left it
};

/// Right-hand sides, quark fields or sources: all sites.
struct SpinorObject {
  SpinorField field;
  const BasisInfo* basis;  ///< of the stored numbers
  nb::object report = {};
};

/// The device of that name; one object for each, so that fields of different calls go together.
std::shared_ptr<Device> device_named(const std::string& name);
DomainPointer domain_of(const Lattice& lattice, const std::string& device);
/// The basis of kernels that solves take unless told otherwise.
const BasisInfo& usual_basis();

GaugeObject on_device(const HostGauge& gauge, DomainPointer domain);
HostGauge on_host(const GaugeObject& gauge);
/// Zero.
SpinorObject make_spinors(DomainPointer domain, int rhs, int spins);
/// A source in all spins and colours, or of staggered quarks in all colours. \param gauge for smeared ones, or null.
SpinorObject source(const DomainPointer& domain, const GaugeObject* gauge, const std::string& text, int spins);
SpinorObject copy(const SpinorObject& from);
/// As `to` is: on its domain, in its basis.
void move_columns(const SpinorObject& from, SpinorObject& to);

/// Memory as kernels have it.
struct MemoryView {
  void* data;
  std::vector<std::size_t> shape;  ///< of doubles without gaps
  Device* device;
};
MemoryView view_of(const SpinorObject& f);
MemoryView view_of(const GaugeObject& u);
/// The lexicographic number of the site in each place, -1: none.
std::vector<long long> sites_of(const Domain& domain, int lanes, std::vector<std::size_t>& shape);

/// Axes of lexicographic arrays.
std::vector<std::size_t> lexicographic_shape(const SpinorObject& f);
std::vector<std::size_t> lexicographic_shape(const GaugeObject& u);
void read(const SpinorObject& f, Complex64* to);
void read(const GaugeObject& u, Complex64* to);
void write(SpinorObject& f, const Complex64* from);
void write(GaugeObject& u, const Complex64* from);

void bind_objects(nb::module_& m);
void bind_calls(nb::module_& m);

}  // namespace quarksmith::python
