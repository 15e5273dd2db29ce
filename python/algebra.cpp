// Sums, products and norms of fields.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include "python/values.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/text.hpp"
#include "solvers/hmc/links.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith::python {
namespace {

/// \throws UsageError fields that do not go together.
template <class Object>
void require_alike(const Object& x, const Object& y) {
  if (!alike(domain_of(numbers_of(x)), domain_of(numbers_of(y))))
    throw WrongLattice("the fields are of different lattices or devices; take both of one");
  if (lexicographic_shape(numbers_of(x)) != lexicographic_shape(numbers_of(y)))
    throw UsageError("the fields have different right-hand sides, spins or colours; take two alike");
}

double norm2(const LinkField& matrices) { return evaluate("matrices_norm2", {matrices})[0]; }

/// y, which is in another basis perhaps, as x is.
SpinorObject in_basis_of(const SpinorObject& x, const SpinorObject& y) {
  SpinorObject made{y.field.like(), x.basis};
  move_columns(y, made);
  return made;
}

}  // namespace

SpinorObject combined(Complex64 a, const SpinorObject& x, Complex64 b, const SpinorObject& y) {
  require_alike(x, y);
  SpinorObject sum = in_basis_of(x, y);
  Blas(x.field).axpby(a, x.field, b, sum.field);
  return sum;
}

MomentumObject combined(double a, const MomentumObject& x, double b, const MomentumObject& y) {
  require_alike(x, y);
  MomentumObject sum{zero_momenta(x.momenta.domain_pointer(), x.momenta.colours())};
  evaluate("kick", {sum.momenta, x.momenta, a}, {sum.momenta});
  evaluate("kick", {sum.momenta, y.momenta, b}, {sum.momenta});
  return sum;
}

GaugeObject combined(double a, const GaugeObject& x, double b, const GaugeObject& y) {
  require_alike(x, y);
  GaugeObject sum{LinkField(x.links.domain_pointer(), x.links.precision(), x.links.storage()), x.phase};
  sum.links.fill(0);
  evaluate("add_matrices", {sum.links, x.links, a}, {sum.links});
  evaluate("add_matrices", {sum.links, y.links, b}, {sum.links});
  return sum;
}

std::vector<std::complex<double>> dots(const SpinorObject& x, const SpinorObject& y) {
  require_alike(x, y);
  const SpinorObject other = in_basis_of(x, y);
  const Blas blas(x.field);
  std::vector<std::complex<double>> all;
  for (int n = 0; n < x.field.rhs(); ++n) all.push_back(blas.dot(x.field.columns(n, 1), other.field.columns(n, 1)));
  return all;
}

std::vector<double> dots(const MomentumObject& x, const MomentumObject& y) {
  const MomentumObject sum = combined(1, x, 1, y), difference = combined(1, x, -1, y);
  return {(kinetic_energy(sum) - kinetic_energy(difference)) / 4};
}

std::vector<double> dots(const GaugeObject& x, const GaugeObject& y) {
  const GaugeObject sum = combined(1, x, 1, y), difference = combined(1, x, -1, y);
  return {(norm2(sum.links) - norm2(difference.links)) / 4};
}

Spin4 gamma_named(const std::string& name) {
  const auto number = meson_number(name);
  if (number) return gamma_product(*number);
  std::vector<std::string_view> known;
  for (const auto& one : meson_names()) known.emplace_back(one);
  unknown_name("gamma matrix", name, known);
}

SpinorObject turned(const Spin4& g, const SpinorObject& x) {
  if (x.field.spins() != 4) throw UsageError("a field of one spin has no gamma matrices; use one of spins=4");
  SpinorObject made{x.field.like(), x.basis};
  const int colours = x.field.colours();
  HostSpinor from(x.field.domain().lattice(), colours), to(x.field.domain().lattice(), colours);
  for (int n = 0; n < x.field.rhs(); ++n) {
    download(x.field, from, *x.basis, n);
#pragma omp parallel for schedule(static)
    for (std::size_t site = 0; site < from.site.size(); ++site)
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < colours; ++c) {
          Complex64 sum = 0;
          for (int r = 0; r < 4; ++r) sum += g[s][r] * from.site.at(site)[r * colours + c];
          to.site.at(site)[s * colours + c] = sum;
        }
    upload(to, made.field, *made.basis, n);
  }
  return made;
}

void bind_gamma(nb::module_& m) {
  m.def(
      "gamma",
      [](const std::string& name) {
        const Spin4 g = gamma_named(name);
        auto numbers = std::make_unique_for_overwrite<Complex64[]>(16);
        std::copy_n(&g[0][0], 16, numbers.get());
        return array_of(std::move(numbers), {4, 4});
      },
      nb::arg("name"), nb::sig("def gamma(name: str) -> typing.Any"),
      "A product of gamma matrices by its name in mesons, as an array in the basis of lexicographic().");
}

}  // namespace quarksmith::python
