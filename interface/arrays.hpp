/// \file
/// Arrays of other codes: places of sites, links and spinor components.
#pragma once

#include "interface/handle.hpp"
#include "runtime/fields/spinor_array.hpp"

namespace quarksmith::interface {

/// \throws StatusError `values` is no permutation of 0..3; the message begins with `what`.
std::array<int, directions> permutation(const int values[4], const char* what);

/// The order of sites in an array: the directions, the fastest first, and whether parities are apart.
struct SiteOrder {
  /// \throws StatusError an order that does not exist, or axes that are no permutation of 0..3.
  SiteOrder(int sites, const int axes_of[4]);

  std::array<int, directions> axes;
  bool even_odd;
};

/// Copies links between arrays of a caller, in memory of the host or of the device, and HostGauge.
/// \throws StatusError the format or an array is impossible.
void copy_links(Device& device, const void* const* from, const quarksmith_link_format& format, HostGauge& to);
void copy_links(Device& device, const HostGauge& from, const quarksmith_link_format& format, void* const* to);

/// The format of spinor arrays, checked.
class SpinorArrays {
 public:
  /// \param spins 4, or 1 of staggered quarks.
  /// \throws StatusError impossible format; UnknownName no such basis.
  SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format& format, int spins = 4);

  /// Copies an array, in memory of the host or of the device, to a right-hand side of a field of doubles in four
  /// dimensions, or back. \param basis of the field. \throws StatusError it is NULL, or in memory of another device.
  void read(const void* array, SpinorField& to, int rhs, const BasisInfo& basis) const;
  void write(const SpinorField& from, int rhs, const BasisInfo& basis, void* array) const;
  /// \throws StatusError arrays of half the sites for a full field.
  void require_fits(Subset subset) const;

 private:
  /// Calls work(the array where the device reaches it).
  template <class Work>
  void on_device(const void* array, const SpinorField& field, const BasisInfo& basis, bool reads, bool writes,
                 const Work& work) const;

  SpinorArray layout_;
  long long places_;
  bool half_;
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
