// Fields between host and device, and from one storage to another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/fields/words_of_site.hpp"

namespace quarksmith {
namespace {

void require_four_dimensions(const SpinorField& f) {
  if (f.slices() > 1)
    throw UsageError(fmt::format("host fields have four dimensions, the field {} slices; use by_slice()", f.slices()));
}

const PrecisionInfo& double_precision() { return find_precision("double"); }
bool is_double(const PrecisionInfo& p) { return &p == &double_precision(); }

void check_same(const Lattice& a, const char* what_a, const Lattice& b, const char* what_b) {
  if (!(a == b))
    throw WrongLattice(fmt::format("{} is {}, {} is {}; they must be equal", what_a, a.text(), what_b, b.text()));
}

/// out = M in on the spin index of a site; M is 4x4 row-major (re, im), conjugate-transposed if asked.
void rotate(const double* m, bool adjoint, int colours, const Complex64* in, Complex64* out) {
  std::fill_n(out, 4 * colours, Complex64(0));
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const double* e = adjoint ? m + 2 * (4 * s + r) : m + 2 * (4 * r + s);
      const Complex64 factor(e[0], adjoint ? -e[1] : e[1]);
      if (factor == 0.0) continue;
      for (int c = 0; c < colours; ++c) out[colours * r + c] += factor * in[colours * s + c];
    }
}

void check_colours(const HostSpinor& host, const SpinorField& f) {
  if (host.colours() != f.colours())
    throw UsageError(fmt::format("the host field has {} colours, the device field {}; they must be equal",
                                 host.colours(), f.colours()));
}

/// Runs a kernel on both parities with the arguments that `prepare` completes.
template <class Prepare>
void on_both_parities(const Domain& domain, const Kernel& kernel, int rhs, const Prepare& prepare) {
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, 1, rhs);
    a.parity = int(parity);
    if (prepare(a, parity)) domain.device().run(kernel, a);
  }
}

/// Puts what psi(site) points to at the sites of a range.
template <class Site>
void put_sites(SpinorField& to, const BasisInfo& basis, int rhs, SiteRange range, const Site& psi) {
  require_four_dimensions(to);
  if (!is_double(to.precision())) {
    SpinorField staging(to.domain_pointer(), double_precision(), to.subset(), to.rhs(), to.components());
    if (to.rhs() > 1 || range.end - range.first < to.domain().lattice().sites()) convert(to, staging);
    put_sites(staging, basis, rhs, range, psi);
    return convert(staging, to);
  }
  const MemoryOrder order = order_of(to);
  for_each_site_of(to.domain(), to.lanes(), to.subset(), range, Way::to_device, to.select(to.operand(), rhs).data,
                   order, [&](long long i, const WordsOfSite& words) {
                     Complex64 made[4 * most_colours], turned[4 * most_colours];
                     const Complex64* site = psi(i, made);
                     if (to.spins() == 4) {
                       rotate(basis.rotation, false, to.colours(), site, turned);
                       site = turned;
                     }
                     for (int n = 0; n < order.group / 2; ++n) words.set(n, site[n]);
                   });
}

}  // namespace

void upload(const HostSpinor& from, SpinorField& to, const BasisInfo& basis, int rhs) {
  check_colours(from, to);
  check_same(from.lattice, "the host field", to.domain().lattice(), "the device field");
  put_sites(to, basis, rhs, all_sites(from.lattice), [&](long long i, Complex64*) { return from.site.at(i); });
}

void upload_slices(SpinorField& to, const BasisInfo& basis, int rhs, int first, int last, const MakeSite& make) {
  const Lattice& lattice = to.domain().lattice();
  const long long space = lattice.space_sites();
  to.columns(rhs, 1).fill(0);
  first = std::clamp(first - lattice.origin(3), 0, lattice.extent(3));
  const int end = std::clamp(last - lattice.origin(3) + 1, first, lattice.extent(3));
  if (first == end) return;
  put_sites(to, basis, rhs, {first * space, end * space}, [&](long long i, Complex64* site) {
    make(i, site);
    return site;
  });
}

void download(const SpinorField& from, HostSpinor& to, const BasisInfo& basis, int rhs) {
  require_four_dimensions(from);
  check_colours(to, from);
  check_same(to.lattice, "the host field", from.domain().lattice(), "the device field");
  if (!is_double(from.precision())) {
    SpinorField staging(from.domain_pointer(), double_precision(), from.subset(), from.rhs(), from.components());
    convert(from, staging);
    return download(staging, to, basis, rhs);
  }
  const MemoryOrder order = order_of(from);
  if (from.subset() != Subset::full || from.spins() != 4) to.site.clear();
  for_each_site_of(from.domain(), from.lanes(), from.subset(), all_sites(to.lattice), Way::to_host,
                   from.select(from.operand(), rhs).data, order, [&](long long i, const WordsOfSite& words) {
                     Complex64 psi[4 * most_colours], *out = to.site.at(i);
                     for (int n = 0; n < order.group / 2; ++n) psi[n] = words.number(n);
                     if (from.spins() == 4)
                       rotate(basis.rotation, true, from.colours(), psi, out);
                     else
                       std::copy_n(psi, order.group / 2, out);
                   });
}

void convert(const SpinorField& from, SpinorField& to) {
  if (from.slices() > 1 && from.slices() == to.slices()) {
    SpinorField slices = to.by_slice();
    return convert(from.by_slice(), slices);
  }
  if (!alike(from.domain(), to.domain()) || from.subset() != to.subset() || from.rhs() != to.rhs() ||
      from.components() != to.components() || from.slices() != to.slices())
    throw UsageError("conversion between spinor fields of different kinds");
  const bool importing = is_double(from.precision());
  if (!importing && !is_double(to.precision()))
    throw UsageError(fmt::format("no conversion from {} to {}; one of the two must be double", from.precision().name,
                                 to.precision().name));
  const Kernel& kernel =
      find(from.device().kernels(), {.operation = importing ? "import" : "export",
                                     .precision = importing ? to.precision().name : from.precision().name,
                                     .spins = from.spins(),
                                     .colours = from.colours()});
  on_both_parities(from.domain(), kernel, from.rhs(), [&](Arguments& a, Parity parity) {
    if (!holds(from.subset(), parity)) return false;
    a.in = from.operand(parity);
    a.out = to.operand(parity);
    return true;
  });
}

namespace {

/// Runs encode_links or decode_links on both parities.
void convert_links(const LinkField& from, LinkField& to, bool encode) {
  const LinkField& stored = encode ? to : from;
  const Kernel& kernel = find(from.domain().device().kernels(), {.operation = encode ? "encode_links" : "decode_links",
                                                                 .precision = stored.precision().name,
                                                                 .links = stored.storage().name});
  on_both_parities(from.domain(), kernel, 1, [&](Arguments& a, Parity) {
    a.links = from.operand();
    a.out = to.operand();
    return true;
  });
}

}  // namespace

void upload_each(LinkField& to, const std::function<void(long long, Complex64*)>& make) {
  to.stand_alone();
  const MemoryOrder order = order_of(to);
  for_each_site_of(to.domain(), to.lanes(), Subset::full, all_sites(to.domain().lattice()), Way::to_device,
                   to.operand().data, order, [&](long long i, const WordsOfSite& words) {
                     std::array<Complex64, directions * most_colours * most_colours> site;
                     make(i, site.data());
                     for (int n = 0; n < order.site_words() / 2; ++n) words.set(n, site[n]);
                   });
  to.exchange_ghosts();
}

void require_group(const HostGauge& links, const StorageInfo& storage, Communicator& communicator) {
  if (storage.colours != links.colours())
    throw UsageError(fmt::format("link storage {} holds {} colours, the links have {}; use {}", storage.name,
                                 storage.colours, links.colours(), full_storage(links.colours()).name));
  if (storage.group.starts_with("SU("))
    require_su3(links, fmt::format("link storage {}", storage.name), communicator,
                fmt::format("use {} reals", 2 * links.elements()));
  if (storage.group.starts_with("su(")) require_algebra(links, "momenta", communicator);
  if (storage.group.starts_with("U(")) require_u3(links, fmt::format("link storage {}", storage.name), communicator);
}

LinkField upload(const HostGauge& from, DomainPointer domain, const PrecisionInfo& precision,
                 const StorageInfo& storage, int depth) {
  check_same(from.lattice, "the gauge field", domain->lattice(), "the domain");
  require_group(from, storage, domain->communicator());
  if (storage.temporal) require_temporal_gauge(from, domain->communicator());
  LinkField plain(domain, double_precision(), full_storage(from.colours()), depth);
  upload_each(plain, [&](long long i, Complex64* site) { std::copy_n(from.site.at(i), from.site.each(), site); });
  if (is_double(precision) && &storage == &plain.storage()) return plain;
  return encode_links(plain, precision, storage);
}

LinkField encode_links(const LinkField& from, const PrecisionInfo& precision, const StorageInfo& storage) {
  LinkField to(from.domain_pointer(), precision, storage, from.depth());
  convert_links(from, to, true);
  from.domain().device().synchronize();
  to.exchange_ghosts();
  return to;
}

namespace {

/// Largest real or imaginary part, and the mean of tr U U^+ / N.
struct LinkSizes {
  double largest = 0, mean_square = 0;
};
LinkSizes sizes_of(const HostGauge& gauge, Communicator& communicator) {
  double largest = 0, sum = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t i = 0; i < gauge.site.size(); ++i)
    for (const Complex64& z : std::span(gauge.site.at(i), gauge.site.each()))
      largest = std::max({largest, std::abs(z.real()), std::abs(z.imag())});
  for (std::size_t i = 0; i < gauge.site.size(); ++i)
    for (const Complex64& z : std::span(gauge.site.at(i), gauge.site.each())) sum += std::norm(z);
  std::vector<double> sums = {sum};
  communicator.sum(sums);
  return {communicator.largest(largest),
          sums[0] / (double(gauge.colours()) * directions * double(gauge.lattice.global_sites()))};
}

HostGauge divided_by(double scale, const HostGauge& links) {
  HostGauge divided(links.lattice, links.colours());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < divided.site.size(); ++i)
    for (std::size_t n = 0; n < links.site.each(); ++n) divided.site.at(i)[n] = links.site.at(i)[n] / scale;
  return divided;
}

}  // namespace

bool is_multiple_of_unitary(const HostGauge& links, Communicator& communicator) {
  const double square = sizes_of(links, communicator).mean_square;
  return square > 0 && check_unitarity(divided_by(std::sqrt(square), links), communicator, true).unitary <= 1e-5;
}

LinkField upload_scaled(const HostGauge& from, DomainPointer domain, const PrecisionInfo& precision,
                        const StorageInfo& storage, int depth) {
  const LinkSizes sizes = sizes_of(from, domain->communicator());
  double scale = precision.word_bytes < 4 ? sizes.largest : 1;
  if (storage.group.starts_with("U(")) scale = std::sqrt(sizes.mean_square);
  if (scale == 0 || scale == 1) return upload(from, std::move(domain), precision, storage, depth);
  LinkField links = upload(divided_by(scale, from), std::move(domain), precision, storage, depth);
  links.set_scale(scale);
  return links;
}

namespace {

/// The same of links on the device.
double largest_of(const LinkField& links) {
  links.stand_alone();
  const MemoryOrder order = order_of(links);
  const int boxes = links.domain().layout(links.lanes()).boxes();
  const auto* words = static_cast<const double*>(links.operand().data);
  double largest = 0;
  for (int n = 0; n < order.site_words(); ++n)
    largest = std::max(largest, links.domain().device().largest(order.numbers(words, n, boxes)));
  return links.domain().communicator().largest(largest);
}
double mean_square_of(const LinkField& links) {
  const double matrices = double(directions) * double(links.domain().lattice().global_sites());
  return evaluate("matrices_norm2", {links})[0] / (links.colours() * matrices);
}

}  // namespace

LinkField encode_scaled(const LinkField& from, const PrecisionInfo& precision, const StorageInfo& storage, int depth) {
  const bool integers = precision.word_bytes < 4, unitary = storage.group.starts_with("U(");
  const double scale = unitary ? std::sqrt(mean_square_of(from)) : integers ? largest_of(from) : 1;
  const bool divides = scale != 0 && scale != 1;
  if (!divides && from.depth() == depth) return encode_links(from, precision, storage);
  LinkField divided(from.domain_pointer(), from.precision(), from.storage(), depth);
  evaluate("set_links", {from, divides ? 1 / scale : 1}, {divided});
  const bool plain = is_double(precision) && &storage == &divided.storage();
  LinkField to = plain ? std::move(divided) : encode_links(divided, precision, storage);
  if (divides) to.set_scale(scale);
  return to;
}

LinkField decode_links(const LinkField& from) {
  LinkField plain(from.domain_pointer(), double_precision(), full_storage(from.colours()));
  convert_links(from, plain, false);
  plain.set_scale(from.scale());
  return plain;
}

void for_each_link_of(const LinkField& from, const std::function<void(long long, const Complex64*)>& visit) {
  if (!is_double(from.precision()) || &from.storage() != &full_storage(from.colours()))
    return for_each_link_of(decode_links(from), visit);
  from.stand_alone();
  const MemoryOrder order = order_of(from);
  for_each_site_of(from.domain(), from.lanes(), Subset::full, all_sites(from.domain().lattice()), Way::to_host,
                   from.operand().data, order, [&](long long i, const WordsOfSite& words) {
                     std::array<Complex64, directions * most_colours * most_colours> site;
                     for (int n = 0; n < order.site_words() / 2; ++n) site[n] = from.scale() * words.number(n);
                     visit(i, site.data());
                   });
}

HostGauge download(const LinkField& from) {
  HostGauge to(from.domain().lattice(), from.colours());
  for_each_link_of(from, [&](long long i, const Complex64* site) { std::copy_n(site, to.site.each(), to.site.at(i)); });
  return to;
}

std::vector<HostTerm> download(const TermField& from) {
  if (!is_double(from.precision()))
    throw UsageError(fmt::format("site terms are read back in double, not {}", from.precision().name));
  const MemoryOrder order = order_of(from);
  std::vector<HostTerm> terms(static_cast<std::size_t>(from.domain().lattice().sites()));
  for_each_site_of(from.domain(), from.lanes(), Subset::full, all_sites(from.domain().lattice()), Way::to_host,
                   from.operand().data, order, [&](long long site, const WordsOfSite& words) {
                     for (int block = 0; block < 2; ++block) {
                       auto& h = terms[site][block];
                       for (int i = 0; i < 6; ++i) {
                         h[7 * i] = words[36 * block + i];
                         for (int j = 0; j < i; ++j) {
                           const int n = 6 + 2 * (i * (i - 1) / 2 + j);
                           h[6 * i + j] = {words[36 * block + n], words[36 * block + n + 1]};
                           h[6 * j + i] = std::conj(h[6 * i + j]);
                         }
                       }
                     }
                   });
  return terms;
}

TermField upload_term(const HostGauge& packed, DomainPointer domain) {
  check_same(packed.lattice, "the site term", domain->lattice(), "the domain");
  TermField to(std::move(domain), double_precision());
  const MemoryOrder order = order_of(to);
  for_each_site_of(to.domain(), to.lanes(), Subset::full, all_sites(packed.lattice), Way::to_device, to.operand().data,
                   order, [&](long long i, const WordsOfSite& words) {
                     for (int n = 0; n < order.site_words() / 2; ++n) words.set(n, packed.site.at(i)[n]);
                   });
  double largest = 0;
  for (std::size_t i = 0; i < packed.site.size(); ++i)
    for (const Complex64& z : std::span(packed.site.at(i), packed.site.each()))
      largest = std::max({largest, std::abs(z.real()), std::abs(z.imag())});
  to.set_largest(largest);
  return to;
}

namespace {

void convert_term(const TermField& from, TermField& to, const Kernel& kernel, double factor) {
  on_both_parities(from.domain(), kernel, 1, [&](Arguments& a, Parity parity) {
    a.term = from.operand(parity);
    a.out = to.operand(parity);
    a.a.re = factor;
    return true;
  });
}

}  // namespace

TermField encode_term(const TermField& from, const PrecisionInfo& precision) {
  TermField to(from.domain_pointer(), precision);
  // The scale of the whole lattice, so that its parts are stored with the same bits.
  if (precision.word_bytes < 4) to.set_scale(from.domain().communicator().largest(from.largest()));
  const auto kernels = from.domain().device().kernels();
  convert_term(from, to, find(kernels, {.operation = "encode_term", .precision = precision.name}), 1 / to.scale());
  return to;
}

TermField decode_term(const TermField& from) {
  TermField to(from.domain_pointer(), double_precision());
  const auto kernels = from.domain().device().kernels();
  convert_term(from, to, find(kernels, {.operation = "decode_term", .precision = from.precision().name}), from.scale());
  return to;
}

}  // namespace quarksmith
