#include "solvers/measure/propagator.hpp"

#include "runtime/fields/expression.hpp"

namespace quarksmith {
namespace {

const BasisInfo& own_basis() { return find_basis("degrand_rossi"); }

/// Changes the basis by a kernel if the build has both bases, else on the host.
void turn(std::string_view kernel, const SpinorField& from, const BasisInfo& in, SpinorField& to,
          const BasisInfo& out) {
  if (from.spins() != 4 || in.name == out.name) return to.copy_from(from);
  if (in.name == "non_relativistic" || out.name == "non_relativistic") {
    evaluate(kernel, {from}, {to}, {.basis = own_basis().name});
    return;
  }
  HostSpinor column(from.domain().lattice());
  for (int n = 0; n < from.rhs(); ++n) {
    download(from, column, in, n);
    upload(column, to, out, n);
  }
}

}  // namespace

Propagator::Propagator(const DomainPointer& domain, int spins)
    : field_(domain, find_precision("double"), Subset::full, 3 * spins, spins) {
  field_.fill(0);
}

void Propagator::set_column(int column, const HostSpinor& solution) { upload(solution, field_, own_basis(), column); }
void Propagator::get_column(int column, HostSpinor& solution) const { download(field_, solution, own_basis(), column); }

void Propagator::take(int first, const SpinorField& solutions, const BasisInfo& basis) {
  SpinorField columns = field_.columns(first, solutions.rhs());
  to_propagator_basis(solutions, columns, basis);
}

void Propagator::give(int first, SpinorField& to, const BasisInfo& basis) const {
  from_propagator_basis(field_.columns(first, to.rhs()), to, basis);
}

void to_propagator_basis(const SpinorField& from, SpinorField& to, const BasisInfo& basis) {
  turn("to_degrand_rossi", from, basis, to, own_basis());
}
void from_propagator_basis(const SpinorField& from, SpinorField& to, const BasisInfo& basis) {
  turn("from_degrand_rossi", from, own_basis(), to, basis);
}

Propagator ahead_of(const Propagator& s, int mu, const std::shared_ptr<const LinkField>& links,
                    const std::array<Complex64, directions>& boundary) {
  const DomainPointer& domain = s.field().domain_pointer();
  SpinorField zero(domain, find_precision("double"), Subset::full, 1, s.spins());
  zero.fill(0);
  Propagator ahead(domain, s.spins());
  evaluate("path_ahead", {*links, s.field(), zero, LatticeDirection{mu}}, {ahead.field()}, {.boundary = boundary});
  return ahead;
}

}  // namespace quarksmith
