#include "interface/arrays.hpp"

#include <atomic>
#include <numbers>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/order.hpp"
#include "solvers/actions/dirac.hpp"
#include "runtime/text.hpp"

namespace quarksmith::interface {
namespace {

/// Checked number of reals of a matrix.
int reals_of(const quarksmith_link_format& format, MatrixKind kind) {
  constexpr int known[] = {18, 10, 9, 8};
  const bool links = kind == MatrixKind::links;
  if (std::find(known, known + (links ? 1 : 4), format.reals) == known + (links ? 1 : 4))
    refuse(fmt::format("{} reals of {}; use {}", format.reals, links ? "links" : "momenta",
                       links ? "18" : "18, 10, 9 or 8"));
  if (format.reals != 18 && format.colour != QUARKSMITH_ROW_MAJOR)
    refuse(fmt::format("colour {} with {} reals, whose order is fixed; leave it 0", format.colour, format.reals));
  return format.reals;
}

std::string angles_text(const std::array<Complex64, directions>& phases) {
  std::array<double, directions> angles;
  for (int mu = 0; mu < directions; ++mu) angles[mu] = std::arg(phases[mu]) / std::numbers::pi;
  return fmt::format("{}", fmt::join(angles, ","));
}

/// A basis of arrays alone: V of gamma = V gamma_nr V^+, gamma_nr of the non-relativistic basis, is these four numbers
/// times unit matrices of two spins.
struct ArrayBasis {
  std::string_view name;
  double blocks[4];
};
constexpr double half_root = std::numbers::sqrt2 / 2;
/// ukqcd: gamma_i = (0, i sigma_i; -i sigma_i, 0), gamma_t = diag(1, 1, -1, -1); chiral: gamma_i = (0, -i sigma_i; i
/// sigma_i, 0), gamma_t = (0, -1; -1, 0), of which QUDA's ChiralToNonRelBasis makes ukqcd.
constexpr ArrayBasis array_bases[] = {{"ukqcd", {1, 0, 0, -1}},
                                      {"chiral", {-half_root, -half_root, half_root, -half_root}}};

/// \throws UnknownName neither fields nor arrays have such a basis.
const BasisInfo& basis_of_fields(std::string_view name) try { return find_basis(name); } catch (const UnknownName&) {
  std::vector<std::string_view> all;
  for (const BasisInfo& b : bases()) all.push_back(b.name);
  for (const ArrayBasis& b : array_bases) all.push_back(b.name);
  unknown_name("basis", name, all);
}

/// V of gamma = V gamma_DeGrandRossi V^+ for the basis of an array.
std::array<std::array<Complex64, 4>, 4> rotation_to(std::string_view name) {
  const auto own = std::ranges::find(array_bases, name, &ArrayBasis::name);
  const bool known = own != std::end(array_bases);
  const BasisInfo& basis = known ? find_basis("non_relativistic") : basis_of_fields(name);
  const ArrayBasis turn = known ? *own : ArrayBasis{name, {1, 0, 0, 1}};
  std::array<std::array<Complex64, 4>, 4> v{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      for (int half : {0, 1}) {
        const int from = 4 * (2 * half + r % 2) + s;
        if (const double factor = turn.blocks[2 * (r / 2) + half]; factor != 0)
          v[r][s] += factor * Complex64(basis.rotation[2 * from], basis.rotation[2 * from + 1]);
      }
  return v;
}

/// The order of spins and colours, and the rotation from the basis of an array to that of fields.
SpinorArray order_in(const quarksmith_spinor_format& format, int spins, const BasisInfo& basis) {
  SpinorArray order;
  if (choice(format.order, "order", "QUARKSMITH_SPIN_COLOUR or QUARKSMITH_COLOUR_SPIN")) {
    order.spin = 1;
    order.colour = spins;
  }
  const auto of_array = rotation_to(require(format.basis, "basis"));
  order.rotated = spins == 4;
  for (int n = 0; n < 16 && order.rotated; ++n) {
    Complex64 e = 0;
    for (int k = 0; k < 4; ++k) {
      const double* of_field = basis.rotation + 2 * (4 * (n / 4) + k);
      e += Complex64(of_field[0], of_field[1]) * std::conj(of_array[n % 4][k]);
    }
    const auto clean = [](double x) {  // 0 and 1 come as products of roots
      return std::abs(x - std::round(x)) < 1e-15 ? std::round(x) : x;
    };
    order.rotation[2 * n] = clean(e.real());
    order.rotation[2 * n + 1] = clean(e.imag());
  }
  return order;
}

}  // namespace

bool is_on(const Device& device, const void* array) {
  const std::string holder = device.holder_of(array);
  if (!holder.empty() && holder != device.name())
    refuse(fmt::format("an array is in the memory of {}, the context on {}; pass one of the host or of {}", holder,
                       device.name(), device.name()));
  return !holder.empty();
}

ArrayOnDevice::ArrayOnDevice(const DomainPointer& domain, const void* array, const char* what, const SiteArrays& sites,
                             Subset subset, bool reads)
    : device_(&domain->device()),
      array_(const_cast<void*>(require(array, what))),
      here_(is_on(*device_, array)),
      places_(sites.places()),
      rows_(sites.rows(array_, subset)) {
  if (here_) {
    device_->begin_for_caller();
  } else if (device_->asynchronous()) {
    places_ = sites.places_of_rows(subset);
    copy_ = Memory(domain->device_pointer(), rows_.count * rows_.bytes);
    if (reads) upload_rows(*device_, copy_.data(), {rows_.first, rows_.bytes, rows_.stride, rows_.count});
  }
}

void ArrayOnDevice::end(bool writes) const {
  if (writes && copy_.bytes() > 0) download_rows(*device_, rows_, copy_.data());
  if (here_) device_->end_for_caller();
}

bool choice(int value, const char* what, const char* names) {
  if (value != 0 && value != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {}; use {}", what, value, names));
  return value == 1;
}

std::array<int, directions> permutation(const int values[4], const char* what) {
  std::array<int, directions> result{};
  int seen = 0;
  for (int k = 0; k < directions; ++k) {
    result[k] = values[k];
    if (values[k] >= 0 && values[k] < directions) seen |= 1 << values[k];
  }
  if (seen != 15)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {},{},{},{}; use each of 0,1,2,3 once", what, values[0],
                                                           values[1], values[2], values[3]));
  return result;
}

SiteArrays::SiteArrays(const Lattice& lattice, int precision, int sites, const int axes[4], size_t stride, int reals,
                       bool half)
    : lattice_(lattice), count_(std::size_t(half ? lattice.half_sites() : lattice.sites())), half_(half) {
  long long step = 1;
  for (const int mu : permutation(axes, "axes")) {
    places_.step[mu] = step;
    step *= lattice.extent(mu);
  }
  places_.single = choice(precision, "precision", "QUARKSMITH_DOUBLE or QUARKSMITH_SINGLE");
  // Two neighbours along the fastest axis are one number of each parity: extents are even.
  places_.halves = choice(sites, "sites", "QUARKSMITH_LEXICOGRAPHIC or QUARKSMITH_EVEN_ODD") || half;
  places_.odd = half ? 0 : lattice.half_sites();
  const std::size_t word = places_.single ? sizeof(float) : sizeof(double);
  site_bytes_ = std::size_t(reals) * word;
  constexpr std::size_t most = std::size_t(1) << 32;
  if (stride != 0 && (stride < site_bytes_ || stride > most || stride % word != 0))
    refuse(fmt::format("stride {}: a site has {} numbers of {} bytes; use 0, or a multiple of {} from {} to {}", stride,
                       reals, word, word, site_bytes_, most));
  places_.place_bytes = static_cast<long long>(stride != 0 ? stride : site_bytes_);
}

Rows<char> SiteArrays::rows(void* array, Subset subset) const {
  const auto each = std::size_t(places_.place_bytes);
  const bool some = places_.halves && !half_ && subset != Subset::full;
  const std::size_t before = some && subset == Subset::odd ? std::size_t(places_.odd) : 0;
  return {static_cast<char*>(array) + before * each, site_bytes_, each, some ? count_ / 2 : count_};
}

SitePlaces SiteArrays::places_of_rows(Subset subset) const {
  SitePlaces places = places_;
  places.place_bytes = static_cast<long long>(site_bytes_);
  if (subset == Subset::odd) places.odd = 0;
  return places;
}

LinkArrays::LinkArrays(const Lattice& lattice, const quarksmith_link_format& format, MatrixKind kind, int length,
                       bool may_spread)
    : lattice_(lattice),
      length_(length),
      spread_(choice(format.spread, "spread", "0 or 1")),
      reals_(reals_of(format, kind)),
      by_direction_(choice(format.order, "order", "QUARKSMITH_SITE_MAJOR or QUARKSMITH_DIRECTION_MAJOR")),
      by_column_(choice(format.colour, "colour", "QUARKSMITH_ROW_MAJOR or QUARKSMITH_COLUMN_MAJOR")),
      sites_(lattice, format, by_direction_ ? reals_ : directions * reals_),
      mu_of_(permutation(format.directions, "directions")),
      generators_(generators(reals_)) {
  for (int mu = 0; mu < directions; ++mu) boundary_[mu] = phase_of(format.boundary[mu]);
  const bool staggered = std::ranges::any_of(format.eta, [](int mu) { return mu != 0; });
  if (staggered) {
    unsigned before = 0;
    for (const int mu : permutation(format.eta, "eta")) {
      eta_[mu] = before;
      before |= 1u << mu;
    }
  }
  if (kind == MatrixKind::momenta && (staggered || std::ranges::count(format.boundary, 0.0) != directions))
    refuse("eta or boundary of momenta, which have no phases; leave them 0");
  if (spread_ && !may_spread) refuse("spread 1 belongs to the links of a gauge field; use 0 here");
}

/// Those of P; of 8 reals i lambda_a / 2.
std::vector<LinkArrays::Generator> LinkArrays::generators(int reals) {
  const Complex64 i(0, 1), h = i / 2.0;
  if (reals == 18) return {};
  if (reals == 8)
    return {{{1, h}, {3, h}},
            {{1, 0.5}, {3, -0.5}},
            {{0, h}, {4, -h}},
            {{2, h}, {6, h}},
            {{2, 0.5}, {6, -0.5}},
            {{5, h}, {7, h}},
            {{5, 0.5}, {7, -0.5}},
            {{0, h / std::numbers::sqrt3}, {4, h / std::numbers::sqrt3}, {8, -2.0 * h / std::numbers::sqrt3}}};
  std::vector<Generator> all = {{{1, 1}, {3, -1}}, {{1, i}, {3, i}},  {{2, 1}, {6, -1}},
                                {{2, i}, {6, i}},  {{5, 1}, {7, -1}}, {{5, i}, {7, i}},
                                {{0, i}},          {{4, i}},          {{8, i}}};
  if (reals == 10) all.emplace_back();  // the number that is not used
  return all;
}

template <class Void, class Visit>
void LinkArrays::for_each_link(Void* const* arrays, const Visit& visit) const {
  sites_.for_each_site(Subset::full, [&](long long i, const Coordinates&, long long place) {
    for (int k = 0; k < directions; ++k)
      visit(i, mu_of_[k], by_direction_ ? sites_.at(arrays[k], place) : sites_.at(arrays[0], place).from(k * reals_));
  });
}

template <class Void, class Work>
void LinkArrays::on_device(const DomainPointer& domain, Void* const* given,
                           const std::array<Complex64, directions>& phase, const Work& work) const {
  constexpr bool writes = !std::is_const_v<Void>;
  require(given, "links");
  std::vector<ArrayOnDevice> there;
  for (int k = 0; k < (by_direction_ ? directions : 1); ++k)
    there.emplace_back(domain, given[k], "an array of links", sites_, Subset::full, !writes);
  SpinorArray matrices;
  if (by_column_) std::swap(matrices.spin, matrices.colour);
  for (int k = 0; k < directions; ++k) {
    const int mu = mu_of_[k];
    const ArrayOnDevice& one = there[by_direction_ ? k : 0];
    static_cast<SitePlaces&>(matrices) = one.places();
    matrices.data =
        one.data() + (by_direction_ ? 0 : k * reals_ * int(matrices.single ? sizeof(float) : sizeof(double)));
    matrices.phased = eta_[mu] != 0 || phase[mu] != 1.0;
    matrices.signs = eta_[mu];
    matrices.along = mu;
    matrices.beyond = lattice_.global_extent(mu) - length_;
    matrices.across[0] = phase[mu].real(), matrices.across[1] = phase[mu].imag();
    work(matrices, mu);
  }
  for (const ArrayOnDevice& one : there) one.end(writes);
}

LinkField LinkArrays::read(const DomainPointer& domain, const void* const* given) const {
  LinkField to(domain, find_precision("double"), find_storage("r18"));
  to.fill(0);
  on_device(domain, given, boundary_, [&](const SpinorArray& a, int mu) { copy_array(a, to, mu); });
  return to;
}

void LinkArrays::write(const LinkField& from, const std::array<Complex64, directions>& phase,
                       void* const* given) const {
  require_boundary(phase);
  on_device(from.domain_pointer(), given, phase, [&](const SpinorArray& a, int mu) { copy_array(from, mu, a); });
}

bool LinkArrays::are_sound(const Device& device, const void* const* given, bool may_vanish) const {
  for (int k = 0; k < (by_direction_ ? directions : 1); ++k)
    if (is_on(device, given[k])) return false;
  std::atomic<bool> sound = true;
  for_each_link(given, [&](long long, int, const Reals<const void>& reals) {
    double sum = 0;
    for (int n = 0; n < reals_; ++n) sum += std::abs(reals[n]);
    if (!(sum <= 1e10) || (sum == 0 && !may_vanish)) sound = false;
  });
  return sound;
}

void LinkArrays::read_momenta(Device& device, const void* const* given, HostGauge& to) const {
  const ArraysOnHost<const void> there(device, given, by_direction_ ? directions : 1, sites_);
  for_each_link(there.arrays(), [&](long long i, int mu, const Reals<const void>& reals) {
    Matrix3& u = to.site[i][mu];
    if (generators_.empty()) {
      for (int n = 0; n < 9; ++n) u[n] = reals.number(by_column_ ? 3 * (n % 3) + n / 3 : n);
    } else {
      u = {};
      for (std::size_t n = 0; n < generators_.size(); ++n)
        for (const auto& [element, value] : generators_[n]) u[element] += value * reals[int(n)];
    }
  });
}

void LinkArrays::write_momenta(Device& device, const HostGauge& from, void* const* given) const {
  const ArraysOnHost<void> there(device, given, by_direction_ ? directions : 1, sites_);
  for_each_link(there.arrays(), [&](long long i, int mu, const Reals<void>& reals) {
    const Matrix3& u = from.site[i][mu];
    if (generators_.empty())
      for (int n = 0; n < 9; ++n) reals.set_number(by_column_ ? 3 * (n % 3) + n / 3 : n, u[n]);
    for (std::size_t n = 0; n < generators_.size(); ++n) {
      double along = 0, size = 0;
      for (const auto& [element, value] : generators_[n]) {
        along += (std::conj(value) * u[element]).real();
        size += std::norm(value);
      }
      reals.set(int(n), size == 0 ? 0 : along / size);
    }
  });
  there.give_back();
}

void LinkArrays::require_boundary(const std::array<Complex64, directions>& phase) const {
  bool named = false, same = true;
  for (int mu = 0; mu < directions; ++mu) {
    named = named || boundary_[mu] != 1.0;
    same = same && std::abs(boundary_[mu] - phase[mu]) < 1e-5;
  }
  if (named && !same)
    refuse(
        fmt::format("boundary {} of the format, {} of the gauge field; give the latter, or load that with the former",
                    angles_text(boundary_), angles_text(phase)));
}

std::string LinkArrays::phases_text() const { return fmt::format("{} {} {}", eta_, angles_text(boundary_), spread_); }

SpinorArrays::SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format* format, int spins,
                           const BasisInfo& basis)
    : order_(order_in(require_struct(format, "quarksmith_spinor_format"), spins, basis)),
      half_(choice(format->half, "half", "0 or 1")),
      sites_(lattice, *format, 6 * spins, half_) {
  std::copy_n(format->spread, directions, order_.turn);
  order_.spread = std::ranges::count(order_.turn, 0.0) != directions;
}

template <class Work>
void SpinorArrays::on_device(const void* array, const SpinorField& field, bool reads, bool writes,
                             const Work& work) const {
  const ArrayOnDevice given(field.domain_pointer(), array, "an array of spinors", sites_, field.subset(), reads);
  SpinorArray there = order_;
  static_cast<SitePlaces&>(there) = given.places();
  there.data = given.data();
  work(there);
  given.end(writes);
}

void SpinorArrays::read(const void* array, SpinorField& to, int rhs) const {
  on_device(array, to, true, false, [&](const SpinorArray& a) { copy_array(a, to, rhs); });
}

void SpinorArrays::write(const SpinorField& from, int rhs, void* array) const {
  const bool keeps = from.subset() != Subset::full && !sites_.places().halves;  // what is not written
  on_device(array, from, keeps, true, [&](const SpinorArray& a) { copy_array(from, rhs, a); });
}

void SpinorArrays::require_fits(Subset subset) const {
  if (half_ && subset == Subset::full)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      "arrays of one parity (half = 1) for a field or operator on all sites; use half = 0");
}

void upload_all(const SpinorArrays& arrays, const void* const* from, SpinorField& to) {
  const PrecisionInfo& high = find_precision("double");
  if (&to.precision() != &high) {
    SpinorField exact(to.domain_pointer(), high, to.subset(), to.rhs(), to.spins(), to.slices());
    upload_all(arrays, from, exact);
    convert(exact, to);
    return to.device().synchronize();  // before the double field goes
  }
  SpinorField slices = to.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) arrays.read(from[i], slices, i);
}

void download_all(const SpinorField& from, const SpinorArrays& arrays, void* const* to) {
  const PrecisionInfo& high = find_precision("double");
  if (&from.precision() != &high) {
    SpinorField exact(from.domain_pointer(), high, from.subset(), from.rhs(), from.spins(), from.slices());
    convert(from, exact);
    return download_all(exact, arrays, to);
  }
  const SpinorField slices = from.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) arrays.write(slices, i, to[i]);
}

std::vector<double> sums(std::string_view operation, const SpinorField& x, const SpinorField* y) {
  const Kernel& kernel = find(x.device().kernels(), {.operation = operation, .precision = x.precision().name});
  Arguments a = arguments_for(x.domain(), x.lanes(), x.rhs());
  a.count = x.count();
  a.x = x.operand();
  if (y != nullptr) a.y = y->operand();
  return reduce(x.domain(), kernel, a);
}

}  // namespace quarksmith::interface
