#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

QuarkColumns::QuarkColumns(const DomainPointer& domain, std::vector<double> m) : masses(std::move(m)) {
  if (masses.empty()) quarks.emplace_back(domain);
  for (std::size_t n = 0; n < masses.size(); ++n) quarks.emplace_back(domain, 1);
}

void QuarkColumns::take(int n, const HostSpinor& column) {
  const auto [quark, number] = place(n);
  quarks[quark].set_column(number, column);
}

void QuarkColumns::take(int n, const SpinorField& column, const BasisInfo& basis) {
  const auto [quark, number] = place(n);
  quarks[quark].take(number, column, basis);
}

void QuarkColumns::give(int n, HostSpinor& column) const {
  const auto [quark, number] = place(n);
  quarks[quark].get_column(number, column);
}

void QuarkColumns::smear(int n, const QuarkSmearing& sink, const std::shared_ptr<const LinkField>& links) {
  const auto [quark, number] = place(n);
  SpinorField column = quarks[quark].field().columns(number, 1);
  quarksmith::smear(sink, links, column);
}

SpinorField all_columns(const QuarkColumns& quark, const DomainPointer& domain, const BasisInfo& basis) {
  const int each = quark.quarks[0].columns(), count = each * static_cast<int>(quark.quarks.size());
  SpinorField columns(domain, find_precision("double"), Subset::full, count, quark.quarks[0].spins());
  HostSpinor column(quark.lattice());
  for (int n = 0; n < count; ++n) {
    quark.quarks[static_cast<std::size_t>(n / each)].get_column(n % each, column);
    upload(column, columns, basis, n);
  }
  return columns;
}

}  // namespace quarksmith
