/// \file
/// Arrays of other codes: places of sites, links and spinor components.
#pragma once

#include "interface/handle.hpp"
#include "runtime/fields/rows.hpp"
#include "runtime/fields/spinor_array.hpp"

namespace quarksmith::interface {

/// \throws StatusError `values` is no permutation of 0..3; the message begins with `what`.
std::array<int, directions> permutation(const int values[4], const char* what);

/// \throws StatusError `value` is not 0 or 1; the message has its name and what to use.
bool choice(int value, const char* what, const char* names);

/// Consecutive real numbers in an array of a caller, of double or float. \tparam Void `void` or `const void`.
template <class Void>
class Reals {
 public:
  Reals(Void* first, bool single) : first_(first), single_(single) {}
  double operator[](int n) const { return single_ ? at<float>()[n] : at<double>()[n]; }
  void set(int n, double value) const { single_ ? void(at<float>()[n] = float(value)) : void(at<double>()[n] = value); }
  /// Complex number n: pairs (re, im).
  Complex64 number(int n) const { return {(*this)[2 * n], (*this)[2 * n + 1]}; }
  void set_number(int n, Complex64 z) const { set(2 * n, z.real()), set(2 * n + 1, z.imag()); }
  /// The numbers from number n on.
  Reals from(int n) const { return {single_ ? static_cast<Void*>(at<float>() + n) : at<double>() + n, single_}; }

 private:
  template <class T>
  auto* at() const {
    return static_cast<std::conditional_t<std::is_const_v<Void>, const T, T>*>(first_);
  }
  Void* first_;
  bool single_;
};

/// How arrays of a caller hold sites: all access of the host to such arrays is through this class.
class SiteArrays {
 public:
  /// \param format any of quarksmith_orders.h. \param reals of a site. \param half arrays hold one parity only.
  /// \throws StatusError a precision, order or stride that does not exist, or axes that are no permutation of 0..3.
  template <class Format>
  SiteArrays(const Lattice& lattice, const Format& format, int reals, bool half = false)
      : SiteArrays(lattice, format.precision, format.sites, format.axes, format.stride, reals, half) {}

  const Lattice& lattice() const { return lattice_; }
  /// Bytes from the first to the last number, and whether others lie between the sites.
  std::size_t bytes() const { return size() - std::size_t(places_.place_bytes) + site_bytes_; }
  bool apart() const { return std::size_t(places_.place_bytes) > site_bytes_; }
  /// Bytes to an array that follows it.
  std::size_t size() const { return count_ * std::size_t(places_.place_bytes); }
  const SitePlaces& places() const { return places_; }
  /// The sites of a subset in an array, each a row. Where those of both parities alternate, all of them.
  Rows<char> rows(void* array, Subset subset) const;
  /// Their places in a copy of these rows.
  SitePlaces places_of_rows(Subset subset) const;
  /// The numbers of the site with this place, see for_each_site.
  template <class Void>
  Reals<Void> at(Void* array, long long place) const {
    using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
    return {static_cast<Byte*>(array) + place * places_.place_bytes, places_.single};
  }
  /// Calls visit(lexicographic site, coordinates, place in arrays) for the sites of a subset, several at once.
  template <class Visit>
  void for_each_site(Subset subset, const Visit& visit) const {
#pragma omp parallel for schedule(static)
    for (long long i = 0; i < lattice_.sites(); ++i) {
      const Coordinates x = lattice_.coordinates(i);
      if (holds(subset, Lattice::parity(x))) visit(i, x, places_.of(x));
    }
  }

 private:
  SiteArrays(const Lattice& lattice, int precision, int sites, const int axes[4], size_t stride, int reals, bool half);

  Lattice lattice_;
  SitePlaces places_;
  std::size_t count_, site_bytes_;
  bool half_;
};

/// \throws StatusError the array is in the memory of another device than the context.
/// \return whether it is in that of the device.
bool is_on(const Device& device, const void* array);

/// Arrays where the host reaches them: those in the memory of a GPU are copied.
template <class Void>
class ArraysOnHost {
 public:
  ArraysOnHost(Device& device, Void* const* given, int count, const SiteArrays& format)
      : device_(device), given_(given) {
    require(given, "links");
    for (int k = 0; k < count; ++k) {
      arrays_[k] = require(given[k], "an array of links");
      if (!is_on(device, given[k])) continue;
      device.begin_for_caller();
      copies_[k].resize(format.bytes());
      if (std::is_const_v<Void> || format.apart()) device.download(copies_[k].data(), given[k], copies_[k].size());
      arrays_[k] = copies_[k].data();
    }
  }
  Void* const* arrays() const { return arrays_.data(); }
  /// Copies what the host has written to where it belongs.
  void give_back() const {
    for (int k = 0; k < directions; ++k) {
      if (copies_[k].empty()) continue;
      device_.upload(given_[k], copies_[k].data(), copies_[k].size());
      device_.end_for_caller();
    }
  }

 private:
  Device& device_;
  Void* const* given_;
  std::array<Void*, directions> arrays_{};
  std::array<std::vector<char>, directions> copies_;
};

/// The sites of a subset of an array where the device reaches them: those in memory of the host are copied if the
/// device has its own.
class ArrayOnDevice {
 public:
  /// \param reads kernels read it, or leave parts of it. \throws StatusError it is NULL, or of another device.
  ArrayOnDevice(const DomainPointer& domain, const void* array, const char* what, const SiteArrays& sites,
                Subset subset, bool reads);
  char* data() const { return static_cast<char*>(copy_.bytes() > 0 ? copy_.data() : array_); }
  const SitePlaces& places() const { return places_; }
  /// After the kernels: what they have written gets where it belongs.
  void end(bool writes) const;

 private:
  Device* device_;
  void* array_;
  bool here_;
  SitePlaces places_;
  Rows<char> rows_;
  Memory copy_;
};

/// What the matrices of arrays are.
enum class MatrixKind { links, momenta };

/// The format of arrays of links or momenta, checked.
class LinkArrays {
 public:
  /// \param length sites of a hop with these links. \param may_spread its phases may be spread over all links.
  /// \throws StatusError the format is impossible, or has what momenta do not.
  LinkArrays(const Lattice& lattice, const quarksmith_link_format& format, MatrixKind kind = MatrixKind::links,
             int length = 1, bool may_spread = false);
  bool spread() const { return spread_; }

  /// Links of arrays, in memory of the host or of the device, as a field of doubles with all reals. Phases that the
  /// format names are divided out. \throws StatusError they are in memory of another device.
  LinkField read(const DomainPointer& domain, const void* const* arrays) const;
  /// Links times phases. \param phase of their boundary. \throws StatusError the format has others.
  void write(const LinkField& from, const std::array<Complex64, directions>& phase, void* const* arrays) const;
  /// Phases of the boundary that the format names.
  const std::array<Complex64, directions>& boundary() const { return boundary_; }
  /// The same of momenta, which the host reads and writes.
  void read_momenta(Device& device, const void* const* arrays, HostGauge& to) const;
  void write_momenta(Device& device, const HostGauge& from, void* const* arrays) const;
  /// Whether the host finds all matrices finite, no number beyond 1e10, none zero unless they may vanish. False for
  /// those of a device, at which it does not look.
  bool are_sound(const Device& device, const void* const* arrays, bool may_vanish = false) const;
  /// \throws StatusError the format names boundary phases other than these.
  void require_boundary(const std::array<Complex64, directions>& phase) const;
  /// The numbers of the format that have to be the same on all ranks.
  std::string phases_text() const;

 private:
  /// A matrix that a real number of the array multiplies, by its elements other than 0.
  using Generator = std::vector<std::pair<int, Complex64>>;
  static std::vector<Generator> generators(int reals);
  template <class Void, class Visit>
  void for_each_link(Void* const* arrays, const Visit& visit) const;
  /// Calls work(matrices where the device reaches them, mu) for each direction.
  template <class Void, class Work>
  void on_device(const DomainPointer& domain, Void* const* given, const std::array<Complex64, directions>& phase,
                 const Work& work) const;

  Lattice lattice_;
  int length_;
  bool spread_;
  int reals_;
  bool by_direction_, by_column_;
  SiteArrays sites_;
  std::array<int, directions> mu_of_;
  std::array<unsigned, directions> eta_{};  ///< bits of the directions whose coordinates count
  std::array<Complex64, directions> boundary_{1, 1, 1, 1};
  std::vector<Generator> generators_;  ///< none if the numbers are the elements
};

/// The format of spinor arrays, checked.
class SpinorArrays {
 public:
  /// \param spins 4, or 1 of staggered quarks. \param basis of fields. \param format NULL: an error.
  /// \throws StatusError impossible format; UnknownName no such basis.
  SpinorArrays(const Lattice& lattice, const quarksmith_spinor_format* format, int spins, const BasisInfo& basis);

  /// Copies an array, in memory of the host or of the device, to a right-hand side of a field of doubles in four
  /// dimensions, or back. \throws StatusError it is NULL, or in memory of another device.
  void read(const void* array, SpinorField& to, int rhs) const;
  void write(const SpinorField& from, int rhs, void* array) const;
  /// \throws StatusError arrays of half the sites for a full field.
  void require_fits(Subset subset) const;
  /// The arrays of the slices of vectors, which follow one another.
  template <class Void>
  std::vector<Void*> of_slices(Void* const* vectors, int n, int slices) const {
    std::vector<Void*> all;
    for (int i = 0; i < n * slices; ++i) {
      using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
      all.push_back(static_cast<Byte*>(vectors[i / slices]) + std::size_t(i % slices) * sites_.size());
    }
    return all;
  }

 private:
  /// Calls work(the array where the device reaches it).
  template <class Work>
  void on_device(const void* array, const SpinorField& field, bool reads, bool writes, const Work& work) const;

  SpinorArray order_;  ///< of each array
  bool half_;
  SiteArrays sites_;
};

/// Copies arrays to the right-hand sides of a field, and converts them once; with several slices, arrays of a vector
/// are consecutive.
void upload_all(const SpinorArrays& arrays, const void* const* from, SpinorField& to);
/// Copies the right-hand sides of a field to arrays, the inverse of upload_all.
void download_all(const SpinorField& from, const SpinorArrays& arrays, void* const* to);

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
