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
  const SiteOrder order(lattice, format.sites, format.axes, false);
  const auto mu_of = permutation(format.directions, "directions");
  const bool by_direction = choice(format.order, "order", "QUARKSMITH_SITE_MAJOR or QUARKSMITH_DIRECTION_MAJOR");
  const bool by_column = choice(format.colour, "colour", "QUARKSMITH_ROW_MAJOR or QUARKSMITH_COLUMN_MAJOR");
  require(arrays, "links");
  for (int k = 0; k < (by_direction ? directions : 1); ++k) require(arrays[k], "an array of links");
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const long long n = order(lattice.coordinates(i));
    for (int k = 0; k < directions; ++k)
      visit(i, mu_of[k], arrays[by_direction ? k : 0], 9 * (by_direction ? n : directions * n + k), by_column ? 1 : 3,
            by_column ? 3 : 1);
  }
}

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

SiteOrder::SiteOrder(const Lattice& lattice, int sites, const int axes[4], bool half)
    : lattice_(lattice),
      axes_(permutation(axes, "axes")),
      even_odd_(choice(sites, "sites", "QUARKSMITH_LEXICOGRAPHIC or QUARKSMITH_EVEN_ODD")),
      half_(half) {}

void copy_links(const void* const* from, const quarksmith_link_format& format, HostGauge& to) {
  const bool single = is_single(format.precision);
  for_each_link(to.lattice, from, format,
                [&](long long site, int mu, const void* array, long long first, int row, int column) {
                  for (int n = 0; n < 9; ++n)
                    to.site[site][mu][n] = load(array, first + n / 3 * row + n % 3 * column, single);
                });
}

void copy_links(const HostGauge& from, const quarksmith_link_format& format, void* const* to) {
  const bool single = is_single(format.precision);
  for_each_link(from.lattice, to, format,
                [&](long long site, int mu, void* array, long long first, int row, int column) {
                  const Complex64 phase = boundary_phase(from, from.lattice.coordinates(site), mu);
                  for (int n = 0; n < 9; ++n)
                    store(array, first + n / 3 * row + n % 3 * column, single, phase * from.site[site][mu][n]);
                });
}

SpinorArrays::SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format& format, int spins)
    : order_(lattice, format.sites, format.axes, choice(format.half, "half", "0 or 1")),
      lattice_(lattice),
      spins_(spins),
      single_(is_single(format.precision)),
      colour_spin_(choice(format.order, "order", "QUARKSMITH_SPIN_COLOUR or QUARKSMITH_COLOUR_SPIN")),
      half_(format.half == 1),
      rotation_(rotation_to(require(format.basis, "basis"))) {}

template <class Visit>
void SpinorArrays::for_each_site(Subset subset, const Visit& visit) const {
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice_.sites(); ++i) {
    const Coordinates x = lattice_.coordinates(i);
    if (holds(subset, Lattice::parity(x))) visit(i, 3 * spins_ * order_(x));
  }
}

void SpinorArrays::read(const void* array, Subset subset, HostSpinor& to) const {
  require(array, "an array of spinors");
  for_each_site(subset, [&](long long site, long long first) {
    HostSite psi{};
    for (int c = 0; c < 3 && spins_ == 1; ++c) psi[c] = load(array, first + c, single_);
    for (int s = 0; s < 4 && spins_ == 4; ++s)
      for (int c = 0; c < 3; ++c) {
        const Complex64 z = load(array, first + (colour_spin_ ? 4 * c + s : 3 * s + c), single_);
        for (int r = 0; r < 4; ++r)
          if (rotation_[s][r] != 0.0) psi[3 * r + c] += std::conj(rotation_[s][r]) * z;
      }
    to.site[site] = psi;
  });
}

void SpinorArrays::write(const HostSpinor& from, Subset subset, void* array) const {
  require(array, "an array of spinors");
  for_each_site(subset, [&](long long site, long long first) {
    for (int c = 0; c < 3 && spins_ == 1; ++c) store(array, first + c, single_, from.site[site][c]);
    for (int s = 0; s < 4 && spins_ == 4; ++s)
      for (int c = 0; c < 3; ++c) {
        Complex64 z = 0;
        for (int r = 0; r < 4; ++r)
          if (rotation_[s][r] != 0.0) z += rotation_[s][r] * from.site[site][3 * r + c];
        store(array, first + (colour_spin_ ? 4 * c + s : 3 * s + c), single_, z);
      }
  });
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
  HostSpinor host(to.domain().lattice());
  SpinorField slices = to.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) {
    arrays.read(from[i], to.subset(), host);
    upload(host, slices, basis, i);
  }
}

void download_all(const SpinorField& from, const BasisInfo& basis, const SpinorArrays& arrays, void* const* to) {
  const PrecisionInfo& high = find_precision("double");
  if (&from.precision() != &high) {
    SpinorField exact(from.domain_pointer(), high, from.subset(), from.rhs(), from.spins(), from.slices());
    convert(from, exact);
    return download_all(exact, basis, arrays, to);
  }
  HostSpinor host(from.domain().lattice());
  const SpinorField slices = from.by_slice();
  for (int i = 0; i < slices.rhs(); ++i) {
    download(slices, host, basis, i);
    arrays.write(host, from.subset(), to[i]);
  }
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
