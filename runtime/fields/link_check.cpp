#include "runtime/fields/link_check.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "runtime/fields/expression.hpp"
#include "runtime/fields/spinor_array.hpp"
#include "runtime/registry.hpp"

namespace quarksmith {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

}  // namespace

bool has_kernels(const Device& device, std::initializer_list<const char*> kernels) {
  return std::ranges::none_of(kernels, [&](const char* k) { return device.kernels_named(k).empty(); });
}

bool is_multiple_of_unitary(const LinkField& links) {
  const Domain& domain = links.domain();
  if (has_kernels(domain.device(), {"matrices_norm2", "set_links", "off_unitarity"})) {
    const double rows = double(links.colours()) * directions * double(domain.lattice().global_sites()),
                 square = evaluate("matrices_norm2", {links})[0] / rows;
    if (!(square > 0)) return false;
    LinkField divided(links.domain_pointer(), links.precision(), links.storage());
    evaluate("set_links", {links, 1 / std::sqrt(square)}, {divided});
    const double off = std::sqrt(site_sums("off_unitarity", {divided}).largest()[0]);
    if (off <= 1e-5) return true;  // all elements of a site are off by no more
    if (off > 6e-5) return false;  // one of its 36 is off by a sixth at least
  }
  return is_multiple_of_unitary(download(links), domain.communicator());
}

LinkDifference difference_of(LinkField a, const LinkField& b) {
  if (!has_kernels(a.domain().device(), {"add_matrices", "matrices_norm2"})) return {unknown, unknown};
  evaluate("add_matrices", {a, b, -1}, {a});
  const SiteSums squares = site_sums("matrices_norm2", {a});
  const double sum = squares.totals()[0];
  if (!std::isfinite(sum)) return {unknown, unknown};  // which largest() passes over
  return {std::sqrt(squares.largest()[0]), std::sqrt(sum)};
}

double bound_of_deviation(const LinkField& links) {
  if (!has_kernels(links.domain().device(), {"back_to_su3"})) return unknown;
  LinkField nearest(links.domain_pointer(), links.precision(), links.storage());
  evaluate("back_to_su3", {links}, {nearest});
  // U = V + E, V of SU(N): |U U^+ - 1| <= 2 |E| + |E|^2, and |det U - 1| is of this size for N = 3.
  const double size = difference_of(std::move(nearest), links).largest;
  return size < 1 ? 2 * size + size * size : unknown;
}

namespace {

/// The matrices of one direction in lexicographic order.
class OneDirection {
 public:
  explicit OneDirection(const LinkField& links) {
    const Lattice& lattice = links.domain().lattice();
    array.spin = links.colours();
    array.place_bytes = static_cast<long long>(sizeof(Complex64)) * links.colours() * links.colours();
    memory_ = Memory(links.domain().device_pointer(), static_cast<std::size_t>(lattice.sites() * array.place_bytes));
    array.data = static_cast<char*>(memory_.data());
    long long step = 1;
    for (int mu = 0; mu < directions; step *= lattice.extent(mu++)) array.step[mu] = step;
  }
  SpinorArray array;

 private:
  Memory memory_;
};

}  // namespace

std::shared_ptr<const LinkField> links_on(const DomainPointer& domain, std::shared_ptr<const LinkField> links) {
  if (links->domain_pointer() == domain) return links;
  LinkField made(domain, links->precision(), links->storage());
  const OneDirection between(*links);  // lanes of another domain may hold other sites
  for (int mu = 0; mu < directions; ++mu) {
    copy_array(*links, mu, between.array);
    copy_array(between.array, made, mu);
  }
  return std::make_shared<const LinkField>(std::move(made));
}

void multiply_across(LinkField& links, int mu, Complex64 phase) {
  const OneDirection between(links);
  SpinorArray times = between.array;
  times.phased = true;
  times.along = mu;
  times.beyond = links.domain().lattice().global_extent(mu) - 1;
  times.across[0] = phase.real(), times.across[1] = phase.imag();
  copy_array(links, mu, times);
  copy_array(between.array, links, mu);
}

}  // namespace quarksmith
