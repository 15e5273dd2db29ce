/// \file
/// Arrays of other codes: places of sites, links and spinor components.
#pragma once

#include "interface/handle.hpp"

namespace quarksmith::interface {

/// \throws StatusError `values` is no permutation of 0..3; the message begins with `what`.
std::array<int, directions> permutation(const int values[4], const char* what);

/// Order of the sites of a lattice in arrays.
class SiteOrder {
 public:
  /// \param half the array holds one parity only.
  /// \throws StatusError an order that does not exist, or axes that are no permutation of 0..3.
  SiteOrder(const Lattice& lattice, int sites, const int axes[4], bool half);

  /// Place of a site in the array.
  long long operator()(const Coordinates& x) const {
    long long n = 0;
    for (int k = directions - 1; k >= 0; --k) n = n * lattice_.extent(axes_[k]) + x[axes_[k]];
    // Two neighbours along the fastest axis are one number of each parity: extents are even.
    if (half_) return n / 2;
    return even_odd_ ? n / 2 + (Lattice::parity(x) == Parity::odd ? lattice_.half_sites() : 0) : n;
  }

 private:
  Lattice lattice_;
  std::array<int, directions> axes_{};
  bool even_odd_, half_;
};

/// Copies links between arrays of a caller and HostGauge.
/// \throws StatusError the format or an array is impossible.
void copy_links(const void* const* from, const quarksmith_link_format& format, HostGauge& to);
void copy_links(const HostGauge& from, const quarksmith_link_format& format, void* const* to);

/// The format of spinor arrays, checked.
class SpinorArrays {
 public:
  /// \param spins 4, or 1 of staggered quarks.
  /// \throws StatusError impossible format; UnknownName no such basis.
  SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format& format, int spins = 4);

  /// Copies the sites of a subset; `array` is what the caller passed.
  void read(const void* array, Subset subset, HostSpinor& to) const;
  void write(const HostSpinor& from, Subset subset, void* array) const;
  /// \throws StatusError arrays of half the sites for a full field.
  void require_fits(Subset subset) const;

 private:
  template <class Visit>
  void for_each_site(Subset subset, const Visit& visit) const;

  SiteOrder order_;
  Lattice lattice_;
  int spins_;
  bool single_, colour_spin_, half_;
  std::array<std::array<Complex64, 4>, 4> rotation_;  ///< from DeGrand-Rossi to the basis of the arrays
};

/// Copies arrays to the right-hand sides of a field, and converts them once; with several slices, arrays of a vector
/// are consecutive.
void upload_all(const SpinorArrays& arrays, const void* const* from, SpinorField& to, const BasisInfo& basis);
/// Copies the right-hand sides of a field to arrays, the inverse of upload_all.
void download_all(const SpinorField& from, const BasisInfo& basis, const SpinorArrays& arrays, void* const* to);

/// The sums of a kernel such as norm2 or cdot, for each right-hand side in turn.
std::vector<double> sums(std::string_view operation, const SpinorField& x, const SpinorField* y = nullptr);

/// \throws StatusError two of the n output arrays are the same, or one is also an input.
template <class P>
void require_apart(P* const* written, int n, const char* name, const void* const* read = nullptr, int count = 0,
                   const char* reads = "") {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k)
      if (written[i] == written[k])
        throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                          fmt::format("{0}[{1}] and {0}[{2}] are one array; pass one for each", name, k, i));
    for (int k = 0; k < count; ++k)
      if (written[i] == read[k])
        throw StatusError(
            QUARKSMITH_BAD_ARGUMENT,
            fmt::format("{}[{}] is {}[{}]; pass another array: a solve that fails would lose it", name, i, reads, k));
  }
}

/// \throws StatusError n < 1, or one of the n arrays is NULL.
template <class P>
void require_all(P* const* arrays, int n, const char* name) {
  if (n < 1) throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} right-hand sides; use at least 1", n));
  require(arrays, name);
  for (int i = 0; i < n; ++i)
    if (arrays[i] == nullptr) throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{}[{}] is NULL", name, i));
}

}  // namespace quarksmith::interface
