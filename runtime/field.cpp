#include "runtime/field.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"

namespace quarksmith {
namespace {

constexpr int spinor_reals = 24;
constexpr long long site_padding = 1;

/// Where reals lie in the memory of a field: short vectors or blocks of lanes (runtime/view.hpp).
struct Order {
  int group;         ///< components of one group: a spinor, or the link of one direction
  int groups;        ///< groups of a site
  int vector;        ///< reals of a short vector
  long long blocks;  ///< sites or blocks of all parities held
  int lanes;
  bool short_vectors;

  long long words() const { return blocks * lanes * group * groups; }
  long long stride() const { return short_vectors ? blocks : static_cast<long long>(group) * groups; }
  /// Words from the first to the second parity.
  long long parity_words(long long half_blocks) const {
    return short_vectors ? half_blocks * vector : half_blocks * stride() * lanes;
  }
  /// Word of component n (counted over all groups) of a block and lane.
  long long word(long long block, int lane, int n) const {
    if (short_vectors) return ((n / vector) * blocks + block) * vector + n % vector;
    return (block * stride() + n) * lanes + lane;
  }
};

Order make_order(const Device& device, int group, int groups, int word_bytes, long long blocks, int lanes) {
  return {group, groups, vector_bytes(group * word_bytes) / word_bytes, blocks, lanes, device.short_vectors()};
}

/// x -> M x on the spin index; M is 4x4 row-major (re, im), conjugate-transposed if asked.
HostSite rotate(const double* m, bool adjoint, const HostSite& in) {
  HostSite out{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const double* e = adjoint ? m + 2 * (4 * s + r) : m + 2 * (4 * r + s);
      const Complex64 factor(e[0], adjoint ? -e[1] : e[1]);
      if (factor == 0.0) continue;
      for (int c = 0; c < 3; ++c) out[3 * r + c] += factor * in[3 * s + c];
    }
  return out;
}

const PrecisionInfo& double_precision() { return find_precision("double"); }

void check_same(const Lattice& a, const char* what_a, const Lattice& b, const char* what_b) {
  if (!(a == b))
    throw UsageError(fmt::format("{} is {}, {} is {}; they must be equal", what_a, a.text(), what_b, b.text()));
}

bool holds(Subset subset, Parity parity) { return subset == Subset::full || int(subset) == int(parity); }

}  // namespace

Domain::Domain(const Lattice& lattice, std::shared_ptr<Device> device) : lattice_(lattice), device_(std::move(device)) {
  for (int bits = 0, lanes = 1; lanes <= max_lanes && LaneLayout::possible(lattice_, lanes); ++bits, lanes *= 2)
    layouts_[bits] = std::make_unique<LaneLayout>(lattice_, lanes);
}

int Domain::lanes(int element_bytes) const {
  const int full = device_->full_lanes(element_bytes);
  return LaneLayout::possible(lattice_, full) ? full : 1;
}

const LaneLayout& Domain::layout(int lanes) const { return *layouts_.at(std::countr_zero(unsigned(lanes))); }

Arguments arguments_for(const Domain& domain, int lanes, int rhs) {
  Arguments a;
  a.geometry = domain.layout(lanes).geometry();
  a.rhs = rhs;
  return a;
}

SpinorField::SpinorField(DomainPointer domain, const PrecisionInfo& precision, Subset subset, int rhs)
    : domain_(std::move(domain)),
      precision_(&precision),
      subset_(subset),
      rhs_(rhs),
      lanes_(domain_->lanes(precision.element_bytes)) {
  if (rhs < 1) throw UsageError(fmt::format("a spinor field needs at least one right-hand side, not {}", rhs));
  const Order order = make_order(device(), spinor_reals, 1, precision.word_bytes, count(), lanes_);
  data_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(order.words()) * precision.word_bytes * rhs);
  if (precision.norm)
    norm_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(count()) * lanes_ * sizeof(float) * rhs);
}

long long SpinorField::count() const {
  return static_cast<long long>(domain_->lattice().half_sites()) / lanes_ * parities(subset_);
}

Operand SpinorField::operand() const {
  const Order order = make_order(device(), spinor_reals, 1, precision_->word_bytes, count(), lanes_);
  Operand f;
  f.data = data_.data();
  f.norm = static_cast<float*>(norm_.data());
  f.stride = order.stride();
  f.rhs_stride = order.words();
  f.norm_rhs_stride = count() * lanes_;
  f.parity_stride = order.parity_words(count() / parities(subset_));
  f.lanes = lanes_;
  return f;
}

Operand SpinorField::operand(Parity parity) const {
  if (!holds(subset_, parity)) throw UsageError("the spinor field does not hold the parity that was asked for");
  Operand f = operand();
  if (subset_ == Subset::full && parity == Parity::odd) {
    f.data = static_cast<char*>(f.data) + f.parity_stride * precision_->word_bytes;
    if (f.norm != nullptr) f.norm += count() / 2 * lanes_;
  }
  return f;
}

Operand SpinorField::select(Operand f, int rhs) const {
  f.data = static_cast<char*>(f.data) + rhs * f.rhs_stride * precision_->word_bytes;
  if (f.norm != nullptr) f.norm += rhs * f.norm_rhs_stride;
  return f;
}

void SpinorField::fill(int byte) {
  device().fill(data_.data(), byte, data_.bytes());
  if (precision_->norm) device().fill(norm_.data(), byte, norm_.bytes());
}

void SpinorField::copy_from(const SpinorField& other) {
  if (data_.bytes() != other.data_.bytes() || precision_ != other.precision_ || subset_ != other.subset_)
    throw UsageError("copy between spinor fields of different kinds");
  device().copy(data_.data(), other.data_.data(), data_.bytes());
  if (precision_->norm) device().copy(norm_.data(), other.norm_.data(), norm_.bytes());
}

void SpinorField::copy_half(Parity parity, const SpinorField& other) {
  if (domain_ != other.domain_ || precision_ != other.precision_ || rhs_ != other.rhs_)
    throw UsageError("copy between spinor fields of different kinds");
  const Operand to = operand(parity), from = other.operand(parity);
  // Short vectors keep the stride of their own field: one row of them at a time.
  const int rows = device().short_vectors()
                       ? spinor_reals * precision_->word_bytes / vector_bytes(spinor_reals * precision_->word_bytes)
                       : 1;
  const std::size_t bytes =
      static_cast<std::size_t>(domain_->lattice().half_sites()) * spinor_reals * precision_->word_bytes / rows;
  const auto row = [&](const Operand& f, int r, int n) {
    const long long shift = r * f.rhs_stride + n * (f.rhs_stride / rows);
    return static_cast<char*>(f.data) + shift * precision_->word_bytes;
  };
  for (int r = 0; r < rhs_; ++r) {
    for (int n = 0; n < rows; ++n) device().copy(row(to, r, n), row(from, r, n), bytes);
    if (precision_->norm)
      device().copy(to.norm + r * to.norm_rhs_stride, from.norm + r * from.norm_rhs_stride,
                    domain_->lattice().half_sites() * sizeof(float));
  }
}

LinkField::LinkField(DomainPointer domain, const PrecisionInfo& precision, const StorageInfo& storage)
    : domain_(std::move(domain)),
      precision_(&precision),
      storage_(&storage),
      lanes_(domain_->lanes(precision.element_bytes)) {
  const std::size_t reals = static_cast<std::size_t>(domain_->lattice().sites()) * directions * storage.reals;
  data_ = Memory(domain_->device_pointer(), reals * precision.word_bytes);
}

Operand LinkField::operand() const {
  const long long half = domain_->lattice().half_sites() / lanes_;
  const Order order =
      make_order(domain_->device(), storage_->reals, directions, precision_->word_bytes, 2 * half, lanes_);
  Operand f;
  f.data = data_.data();
  f.stride = order.stride();
  f.parity_stride = order.parity_words(half);
  f.lanes = lanes_;
  return f;
}

namespace {

/// Calls visit(site number, words of its reals relative to the field) for every site of a field of doubles.
template <class Visit>
void for_each_stored_site(const Domain& domain, const Order& order, Subset subset, const Visit& visit) {
  const Lattice& lattice = domain.lattice();
  const LaneLayout& layout = domain.layout(order.lanes);
  const long long half_blocks = lattice.half_sites() / order.lanes;
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    const Parity parity = Lattice::parity(x);
    if (!holds(subset, parity)) continue;
    const auto [block, lane] = layout.position(x);
    const long long first = subset == Subset::full && parity == Parity::odd ? half_blocks : 0;
    visit(i, first + block, lane);
  }
}

}  // namespace

void upload(const HostSpinor& from, SpinorField& to, const BasisInfo& basis, int rhs) {
  check_same(from.lattice, "the host field", to.domain().lattice(), "the device field");
  if (&to.precision() != &double_precision()) {
    SpinorField staging(to.domain_pointer(), double_precision(), to.subset(), to.rhs());
    if (to.rhs() > 1) convert(to, staging);
    upload(from, staging, basis, rhs);
    return convert(staging, to);
  }
  const Order order = make_order(to.device(), spinor_reals, 1, 8, to.count(), to.lanes());
  std::vector<double> packed(static_cast<std::size_t>(order.words()));
  for_each_stored_site(to.domain(), order, to.subset(), [&](long long i, long long block, int lane) {
    const HostSite psi = rotate(basis.rotation, false, from.site[i]);
    for (int n = 0; n < spinor_reals; ++n)
      packed[order.word(block, lane, n)] = n % 2 == 0 ? psi[n / 2].real() : psi[n / 2].imag();
  });
  to.device().upload(to.select(to.operand(), rhs).data, packed.data(), packed.size() * sizeof(double));
}

void download(const SpinorField& from, HostSpinor& to, const BasisInfo& basis, int rhs) {
  check_same(to.lattice, "the host field", from.domain().lattice(), "the device field");
  if (&from.precision() != &double_precision()) {
    SpinorField staging(from.domain_pointer(), double_precision(), from.subset(), from.rhs());
    convert(from, staging);
    return download(staging, to, basis, rhs);
  }
  const Order order = make_order(from.device(), spinor_reals, 1, 8, from.count(), from.lanes());
  std::vector<double> packed(static_cast<std::size_t>(order.words()));
  from.device().download(packed.data(), from.select(from.operand(), rhs).data, packed.size() * sizeof(double));
  if (from.subset() != Subset::full) to.site.assign(to.site.size(), HostSite{});
  for_each_stored_site(from.domain(), order, from.subset(), [&](long long i, long long block, int lane) {
    HostSite psi;
    for (int n = 0; n < 12; ++n)
      psi[n] = {packed[order.word(block, lane, 2 * n)], packed[order.word(block, lane, 2 * n + 1)]};
    to.site[i] = rotate(basis.rotation, true, psi);
  });
}

void convert(const SpinorField& from, SpinorField& to) {
  if (&from.domain() != &to.domain() || from.subset() != to.subset() || from.rhs() != to.rhs())
    throw UsageError("conversion between spinor fields of different kinds");
  const bool importing = &from.precision() == &double_precision();
  if (!importing && &to.precision() != &double_precision())
    throw UsageError(fmt::format("no conversion from {} to {}; one of the two must be double", from.precision().name,
                                 to.precision().name));
  const Kernel& kernel =
      find(from.device().kernels(), {.operation = importing ? "import" : "export",
                                     .precision = importing ? to.precision().name : from.precision().name});
  for (const Parity parity : {Parity::even, Parity::odd}) {
    if (!holds(from.subset(), parity)) continue;
    Arguments a = arguments_for(from.domain(), 1, from.rhs());
    a.parity = int(parity);
    a.in = from.operand(parity);
    a.out = to.operand(parity);
    from.device().run(kernel, a);
  }
}

namespace {

/// Runs encode_links or decode_links on both parities.
void convert_links(const LinkField& from, LinkField& to, bool encode) {
  const LinkField& stored = encode ? to : from;
  const Kernel& kernel = find(from.domain().device().kernels(), {.operation = encode ? "encode_links" : "decode_links",
                                                                 .precision = stored.precision().name,
                                                                 .links = stored.storage().name});
  for (int parity = 0; parity < 2; ++parity) {
    Arguments a = arguments_for(from.domain(), 1);
    a.parity = parity;
    a.links = from.operand();
    a.out = to.operand();
    from.domain().device().run(kernel, a);
  }
}

Order link_order(const LinkField& field) {
  return make_order(field.domain().device(), 18, directions, 8, field.domain().lattice().sites() / field.lanes(),
                    field.lanes());
}

}  // namespace

LinkField upload(const HostGauge& from, DomainPointer domain, const PrecisionInfo& precision,
                 const StorageInfo& storage) {
  check_same(from.lattice, "the gauge field", domain->lattice(), "the domain");
  if (storage.reals < 18) require_su3(from, fmt::format("link storage {}", storage.name));
  LinkField plain(domain, double_precision(), find_storage("r18"));
  const Order order = link_order(plain);
  std::vector<double> packed(static_cast<std::size_t>(order.words()));
  for_each_stored_site(*domain, order, Subset::full, [&](long long i, long long block, int lane) {
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n) {
        packed[order.word(block, lane, 18 * mu + 2 * n)] = from.site[i][mu][n].real();
        packed[order.word(block, lane, 18 * mu + 2 * n + 1)] = from.site[i][mu][n].imag();
      }
  });
  domain->device().upload(plain.operand().data, packed.data(), packed.size() * sizeof(double));
  if (&precision == &double_precision() && storage.reals == 18) return plain;
  LinkField result(domain, precision, storage);
  convert_links(plain, result, true);
  domain->device().synchronize();
  return result;
}

HostGauge download(const LinkField& from) {
  if (&from.precision() != &double_precision() || from.storage().reals != 18) {
    LinkField plain(from.domain_pointer(), double_precision(), find_storage("r18"));
    convert_links(from, plain, false);
    return download(plain);
  }
  HostGauge to(from.domain().lattice());
  const Order order = link_order(from);
  std::vector<double> packed(static_cast<std::size_t>(order.words()));
  from.domain().device().download(packed.data(), from.operand().data, packed.size() * sizeof(double));
  for_each_stored_site(from.domain(), order, Subset::full, [&](long long i, long long block, int lane) {
    for (int mu = 0; mu < directions; ++mu)
      for (int n = 0; n < 9; ++n)
        to.site[i][mu][n] = {packed[order.word(block, lane, 18 * mu + 2 * n)],
                             packed[order.word(block, lane, 18 * mu + 2 * n + 1)]};
  });
  return to;
}

}  // namespace quarksmith
