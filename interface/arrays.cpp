#include "interface/arrays.hpp"

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/order.hpp"

namespace quarksmith::interface {
namespace {

/// \throws StatusError `value` is not 0 or 1.
bool choice(int value, const char* what, const char* names) {
  if (value != 0 && value != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {}; use {}", what, value, names));
  return value == 1;
}

bool is_single(int precision) { return choice(precision, "precision", "QUARKSMITH_DOUBLE or QUARKSMITH_SINGLE"); }

/// A complex number of an array: a pair of double or float.
Complex64 load(const void* array, long long n, bool single) {
  if (single) return {static_cast<const float*>(array)[2 * n], static_cast<const float*>(array)[2 * n + 1]};
  return {static_cast<const double*>(array)[2 * n], static_cast<const double*>(array)[2 * n + 1]};
}
void store(void* array, long long n, bool single, Complex64 z) {
  if (single) {
    static_cast<float*>(array)[2 * n] = static_cast<float>(z.real());
    static_cast<float*>(array)[2 * n + 1] = static_cast<float>(z.imag());
  } else {
    static_cast<double*>(array)[2 * n] = z.real();
    static_cast<double*>(array)[2 * n + 1] = z.imag();
  }
}

/// Calls visit(site, direction, array, number of the link's first element, step of a row, step of a column).
template <class Array, class Visit>
void for_each_link(const Lattice& lattice, Array* const* arrays, const quarksmith_link_format& format,
                   const Visit& visit) {
  const SiteOrder order(format.sites, format.axes);
  const auto mu_of = permutation(format.directions, "directions");
  const bool by_direction = choice(format.order, "order", "QUARKSMITH_SITE_MAJOR or QUARKSMITH_DIRECTION_MAJOR");
  const bool by_column = choice(format.colour, "colour", "QUARKSMITH_ROW_MAJOR or QUARKSMITH_COLUMN_MAJOR");
  require(arrays, "links");
  for (int k = 0; k < (by_direction ? directions : 1); ++k) require(arrays[k], "an array of links");
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    long long n = 0;
    for (int k = directions - 1; k >= 0; --k) n = n * lattice.extent(order.axes[k]) + x[order.axes[k]];
    // Two neighbours along the fastest axis are one number of each parity: extents are even.
    if (order.even_odd) n = n / 2 + (Lattice::parity(x) == Parity::odd ? lattice.half_sites() : 0);
    for (int k = 0; k < directions; ++k)
      visit(i, mu_of[k], arrays[by_direction ? k : 0], 9 * (by_direction ? n : directions * n + k), by_column ? 1 : 3,
            by_column ? 3 : 1);
  }
}

/// \throws StatusError the array is in the memory of another device than the context.
/// \return whether it is in that of the device.
bool is_on(const Device& device, const void* array) {
  const std::string holder = device.holder_of(array);
  if (!holder.empty() && holder != device.name())
    refuse(fmt::format("an array is in the memory of {}, the context on {}; pass one of the host or of {}", holder,
                       device.name(), device.name()));
  return !holder.empty();
}

/// Arrays of links where the host reaches them: those in the memory of a GPU are copied.
template <class Number>
class ArraysOnHost {
 public:
  ArraysOnHost(Device& device, Number* const* given, const HostGauge& links, const quarksmith_link_format& format)
      : device_(device), given_(given) {
    require(given, "links");
    const int count = format.order == QUARKSMITH_DIRECTION_MAJOR ? directions : 1;
    const std::size_t reals = 18 * links.site.size() * (count == 1 ? directions : 1);
    for (int k = 0; k < count; ++k) {
      arrays_[k] = given[k];
      if (given[k] == nullptr || !is_on(device, given[k])) continue;
      device.begin_for_caller();
      copies_[k].resize(reals * (is_single(format.precision) ? sizeof(float) : sizeof(double)));
      if constexpr (std::is_const_v<Number>) device.download(copies_[k].data(), given[k], copies_[k].size());
      arrays_[k] = copies_[k].data();
    }
  }
  Number* const* arrays() const { return arrays_.data(); }
  /// Copies what the host has written to where it belongs.
  void give_back() const {
    for (int k = 0; k < directions; ++k)
      if (!copies_[k].empty()) device_.upload(given_[k], copies_[k].data(), copies_[k].size());
    device_.end_for_caller();
  }

 private:
  Device& device_;
  Number* const* given_;
  std::array<Number*, directions> arrays_{};
  std::array<std::vector<char>, directions> copies_;
};

/// V of gamma = V gamma_DeGrandRossi V^+ for the basis of an array.
std::array<std::array<Complex64, 4>, 4> rotation_to(std::string_view name) {
  // UKQCD: gamma_i = (0, i sigma_i; -i sigma_i, 0), the non-relativistic basis with other signs of the gamma_i. Its
  // gamma_t turns those: V = gamma_t V_nr.
  const bool ukqcd = name == "ukqcd";
  const BasisInfo& basis = find_basis(ukqcd ? "non_relativistic" : name);
  std::array<std::array<Complex64, 4>, 4> v{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const Complex64 sign = ukqcd ? Complex64(basis.gamma[3][2 * (5 * r)]) : Complex64(1);
      v[r][s] = sign * Complex64(basis.rotation[2 * (4 * r + s)], basis.rotation[2 * (4 * r + s) + 1]);
    }
  return v;
}

}  // namespace

std::array<int, directions> permutation(const int values[4], const char* what) {
  std::array<int, directions> result{};
  int seen = 0;
  for (int k = 0; k < directions; ++k)
    if (values[k] >= 0 && values[k] < directions) seen |= 1 << (result[k] = values[k]);
  if (seen != 15)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} {},{},{},{}; use each of 0,1,2,3 once", what, values[0],
                                                           values[1], values[2], values[3]));
  return result;
}

SiteOrder::SiteOrder(int sites, const int axes_of[4])
    : axes(permutation(axes_of, "axes")),
      even_odd(choice(sites, "sites", "QUARKSMITH_LEXICOGRAPHIC or QUARKSMITH_EVEN_ODD")) {}

void copy_links(Device& device, const void* const* from, const quarksmith_link_format& format, HostGauge& to) {
  const bool single = is_single(format.precision);
  ArraysOnHost<const void> there(device, from, to, format);
  for_each_link(to.lattice, there.arrays(), format,
                [&](long long site, int mu, const void* array, long long first, int row, int column) {
                  for (int n = 0; n < 9; ++n)
                    to.site[site][mu][n] = load(array, first + n / 3 * row + n % 3 * column, single);
                });
}

void copy_links(Device& device, const HostGauge& from, const quarksmith_link_format& format, void* const* to) {
  const bool single = is_single(format.precision);
  ArraysOnHost<void> there(device, to, from, format);
  for_each_link(from.lattice, there.arrays(), format,
                [&](long long site, int mu, void* array, long long first, int row, int column) {
                  const Complex64 phase = boundary_phase(from, from.lattice.coordinates(site), mu);
                  for (int n = 0; n < 9; ++n)
                    store(array, first + n / 3 * row + n % 3 * column, single, phase * from.site[site][mu][n]);
                });
  there.give_back();
}

SpinorArrays::SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format& format, int spins)
    : half_(choice(format.half, "half", "0 or 1")), rotation_(rotation_to(require(format.basis, "basis"))) {
  const SiteOrder order(format.sites, format.axes);
  places_ = half_ ? lattice.half_sites() : lattice.sites();
  layout_.single = is_single(format.precision);
  long long step = 1;
  for (const int mu : order.axes) {
    layout_.step[mu] = step;
    step *= lattice.extent(mu);
  }
  layout_.halves = half_ || order.even_odd;
  layout_.odd = half_ ? 0 : lattice.half_sites();
  layout_.place_bytes = 2ll * 3 * spins * (layout_.single ? sizeof(float) : sizeof(double));
  if (choice(format.order, "order", "QUARKSMITH_SPIN_COLOUR or QUARKSMITH_COLOUR_SPIN") && spins > 1) {
    layout_.spin = 1;
    layout_.colour = spins;
  }
}

template <class Work>
void SpinorArrays::on_device(const void* array, const SpinorField& field, const BasisInfo& basis, bool reads,
                             bool writes, const Work& work) const {
  require(array, "an array of spinors");
  Device& device = field.device();
  SpinorArray there = layout_;
  there.data = static_cast<char*>(const_cast<void*>(array));
  there.rotation[0] = 1;
  for (int n = 0; n < 16 && field.spins() == 4; ++n) {  // from the basis of the array to that of the field
    Complex64 e = 0;
    for (int k = 0; k < 4; ++k) {
      const double* of_field = basis.rotation + 2 * (4 * (n / 4) + k);
      e += Complex64(of_field[0], of_field[1]) * std::conj(rotation_[n % 4][k]);
    }
    const auto clean = [](double x) {  // 0 and 1 come as products of roots
      return std::abs(x - std::round(x)) < 1e-15 ? std::round(x) : x;
    };
    there.rotation[2 * n] = clean(e.real());
    there.rotation[2 * n + 1] = clean(e.imag());
  }
  const bool here = is_on(device, array);
  if (here) device.begin_for_caller();
  Memory copy;
  if (!here && device.asynchronous()) {
    copy = Memory(field.domain().device_pointer(), std::size_t(places_ * there.place_bytes));
    if (reads) device.upload(copy.data(), array, copy.bytes());
    there.data = static_cast<char*>(copy.data());
  }
  work(there);
  if (writes && copy.bytes() > 0) device.download(const_cast<void*>(array), copy.data(), copy.bytes());
  if (here) device.end_for_caller();
}

void SpinorArrays::read(const void* array, SpinorField& to, int rhs, const BasisInfo& basis) const {
  on_device(array, to, basis, true, false, [&](const SpinorArray& a) { copy_array(a, to, rhs); });
}

void SpinorArrays::write(const SpinorField& from, int rhs, const BasisInfo& basis, void* array) const {
  const bool keeps = from.subset() != Subset::full && !half_;  // the sites of the other parity
  on_device(array, from, basis, keeps, true, [&](const SpinorArray& a) { copy_array(from, rhs, a); });
}

void SpinorArrays::require_fits(Subset subset) const {
  if (half_ && subset == Subset::full)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      "arrays of one parity (half = 1) for a field or operator on all sites; use half = 0");
}

void upload_all(const SpinorArrays& arrays, const void* const* from, SpinorField& to, const BasisInfo& basis) {
  const PrecisionInfo& high = find_precision("double");
  if (&to.precision() != &high) {
    SpinorField exact(to.domain_pointer(), high, to.subset(), to.rhs(), to.spins(), to.slices());
    upload_all(arrays, from, exact, basis);
    convert(exact, to);
    return to.device().synchronize();  // before the double field goes
  }
  SpinorField slices = to.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) arrays.read(from[i], slices, i, basis);
}

void download_all(const SpinorField& from, const BasisInfo& basis, const SpinorArrays& arrays, void* const* to) {
  const PrecisionInfo& high = find_precision("double");
  if (&from.precision() != &high) {
    SpinorField exact(from.domain_pointer(), high, from.subset(), from.rhs(), from.spins(), from.slices());
    convert(from, exact);
    return download_all(exact, basis, arrays, to);
  }
  const SpinorField slices = from.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) arrays.write(slices, i, basis, to[i]);
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
