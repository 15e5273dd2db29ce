/// \file
/// Fields: on the host in the order of files, on a device in the order of its kernels.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/fields/host_sites.hpp"
#include "runtime/fields/link_field.hpp"
#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// Spinor field on the host: DeGrand-Rossi basis, lexicographic sites; at each 4 spins, colour fastest.
struct HostSpinor {
  Lattice lattice;
  HostSites<HostSite> site;
  explicit HostSpinor(const Lattice& l, int colours = 3)
      : lattice(l), site(static_cast<std::size_t>(l.sites()), std::size_t(4 * colours)) {}
  int colours() const { return static_cast<int>(site.each() / 4); }
};

/// Gauge field on the host: lexicographic sites, then directions x, y, z, t. Links of `phase` 1 are meant to be SU(N).
struct HostGauge {
  Lattice lattice;
  HostSites<std::array<Matrix3, directions>> site;
  /// Phases that multiply the links across the last slice of each direction; see fold_boundary_phases.
  std::array<Complex64, directions> phase{1, 1, 1, 1};
  explicit HostGauge(const Lattice& l, int colours = 3)
      : lattice(l),
        site(static_cast<std::size_t>(l.sites()), std::size_t(directions * colours * colours)),
        n_(colours) {}
  int colours() const { return n_; }
  /// Complex numbers of a link.
  int elements() const { return n_ * n_; }
  /// A link, row by row.
  std::span<Complex64> link(long long i, int mu) { return {site.at(i) + mu * elements(), std::size_t(elements())}; }
  std::span<const Complex64> link(long long i, int mu) const {
    return {site.at(i) + mu * elements(), std::size_t(elements())};
  }

 private:
  int n_;
};

/// The content of a site of a field: `spins` vectors of `colours` colours.
struct Components {
  int spins, colours;
  Components(int spins_ = 4, int colours_ = 3) : spins(spins_), colours(colours_) {}
  friend bool operator==(const Components&, const Components&) = default;
};

/// Site fields for kernels: `rhs` vectors on the sites of a subset. A vector is a Dirac spinor field, one of colour
/// vectors, or several of these that belong together (slices of a fifth dimension, flavours), one after the other.
class SpinorField {
 public:
  /// \throws Error the device has not enough memory.
  /// \param components colour vectors a site, 4, or 1 for staggered fields, and their colours.
  /// \param slices four-dimensional fields of a vector.
  SpinorField(DomainPointer domain, const PrecisionInfo& precision, Subset subset, int rhs = 1,
              Components components = {}, int slices = 1);

  const Domain& domain() const { return *domain_; }
  const DomainPointer& domain_pointer() const { return domain_; }
  Device& device() const { return domain_->device(); }
  const PrecisionInfo& precision() const { return *precision_; }
  Subset subset() const { return subset_; }
  int rhs() const { return rhs_; }
  int spins() const { return components_.spins; }
  int colours() const { return components_.colours; }
  const Components& components() const { return components_; }
  /// Words of a colour vector.
  int colour_words() const { return precision_->spin_words * colours() / 3; }
  int slices() const { return slices_; }
  int lanes() const { return lanes_; }
  /// The sites of one parity as an operand of kernels.
  /// \throws UsageError the field does not hold it.
  Operand operand(Parity parity) const;
  /// All sites of all slices: `count` places (runtime/kernels/view.hpp: element_place) of the arguments below.
  Operand operand() const;
  long long count() const;
  /// Arguments of an element-wise kernel: geometry, right-hand sides and count.
  Arguments arguments() const;
  /// The operand for right-hand side `rhs` only.
  Operand select(Operand operand, int rhs) const;
  /// A field of the same kind, not initialised.
  SpinorField like() const { return {domain_, *precision_, subset_, rhs_, components_, slices_}; }
  /// Right-hand sides first ... first + count - 1 as a field that shares their memory.
  /// \throws UsageError there are not so many.
  SpinorField columns(int first, int count) const;
  /// A field that shares the memory, in which slice s of vector n is right-hand side n slices() + s: for kernels in
  /// four dimensions.
  SpinorField by_slice() const;
  /// Sets every byte; 0 makes the field zero, 255 fills floating-point formats with NaN.
  void fill(int byte);
  /// \throws UsageError the kinds differ.
  void copy_from(const SpinorField& other);
  /// Copies the sites of one parity from `other`.
  /// \throws UsageError one of the fields does not hold them, or the kinds differ.
  void copy_half(Parity parity, const SpinorField& other);
  /// Bytes of one right-hand side.
  std::size_t bytes_per_rhs() const;
  SpinorField(SpinorField&&) noexcept = default;
  SpinorField& operator=(SpinorField&&) noexcept = default;

 private:
  SpinorField(const SpinorField&) = default;
  std::size_t data_bytes() const;
  std::size_t norm_bytes() const;
  long long norms() const;

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  Subset subset_;
  int rhs_, slices_, lanes_;
  Components components_;
  int first_ = 0;                        ///< where a range of right-hand sides begins
  std::shared_ptr<Memory> data_, norm_;  ///< shared with ranges of right-hand sides only
};

/// A site on the host whose two 6x6 blocks are kept whole: [block][6 i + j], index 3 s + c.
using HostTerm = std::array<std::array<Complex64, 36>, 2>;

/// Site terms for kernels: two Hermitian 6x6 blocks at every site of both parities (runtime/kernels/term.hpp).
class TermField {
 public:
  TermField(DomainPointer domain, const PrecisionInfo& precision);

  const Domain& domain() const { return *domain_; }
  const DomainPointer& domain_pointer() const { return domain_; }
  const PrecisionInfo& precision() const { return *precision_; }
  int lanes() const { return lanes_; }
  /// Factor by which kernels multiply the stored numbers.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  /// Both parities; the scale array that building kernels fill belongs to `parity`.
  Operand operand(Parity parity = Parity::even) const;
  /// Sets every byte of the numbers.
  void fill(int byte);
  /// Largest modulus of a real or imaginary part, as recorded by the kernel that made the field; double fields only.
  double largest() const;
  void set_largest(double largest);

 private:
  std::size_t norms() const;

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  int lanes_;
  double scale_ = 1;
  Memory data_, norm_;
};

/// The stored term times its scale, whole blocks; double fields only.
std::vector<HostTerm> download(const TermField& from);
/// A double field from 36 reals for each block, as kernels store them, one after the other at each site.
TermField upload_term(const HostGauge& packed, DomainPointer domain);
/// A double field in another precision, scaled to the range of the format.
TermField encode_term(const TermField& from, const PrecisionInfo& precision);
/// Inverse of encode_term: the numbers times the scale, as a double field.
TermField decode_term(const TermField& from);

/// Copies a host field into right-hand side `rhs` of a field whose kernels use `basis`; a half field takes its sites.
/// \throws UsageError the lattices differ.
void upload(const HostSpinor& from, SpinorField& to, const BasisInfo& basis, int rhs = 0);
/// Sets the spinor or colour vector of a local site (lexicographic number); its content before is arbitrary. Called by
/// several threads at once.
using MakeSite = std::function<void(long long site, Complex64* numbers)>;
/// Sets right-hand side `rhs` at the sites of the time slices `first` to `last` of the whole lattice, to zero
/// elsewhere.
void upload_slices(SpinorField& to, const BasisInfo& basis, int rhs, int first, int last, const MakeSite& make);
/// Inverse of upload; sites that `from` does not hold become zero.
void download(const SpinorField& from, HostSpinor& to, const BasisInfo& basis, int rhs = 0);
/// Changes the storage precision of a field; one of the two must be double.
/// \throws UsageError the kinds differ or no conversion kernel was built.
void convert(const SpinorField& from, SpinorField& to);

/// Sets all links of a double field with all reals: make(lexicographic site of this part, links), which are row by row
/// one after the other; sites in any order and several at once.
void upload_each(LinkField& to, const std::function<void(long long, Complex64*)>& make);
/// \throws NotSU3 links farther from SU(N) than 1e-5 for a storage that assumes SU(N), or from U(N) for one of U(N).
/// \throws UsageError the storage is of other colours.
void require_group(const HostGauge& links, const StorageInfo& storage, Communicator& communicator);
/// Links on the device, stored as asked for. \throws what require_group does.
LinkField upload(const HostGauge& from, DomainPointer domain, const PrecisionInfo& precision,
                 const StorageInfo& storage, int depth = 1);
/// Links that are on the device with all reals in double in another precision and storage, in whose group they are:
/// that is not checked.
LinkField encode_links(const LinkField& from, const PrecisionInfo& precision, const StorageInfo& storage);
/// General links divided by a number of the field, its scale(): where the storage assumes U(3), the real multiple of
/// unitary matrices that they are; in integer formats, the largest part of an element.
/// \throws NotSU3 they are no such multiple to 1e-5.
LinkField upload_scaled(const HostGauge& from, DomainPointer domain, const PrecisionInfo& precision,
                        const StorageInfo& storage, int depth = 1);
/// Whether links are one real number of the field times unitary matrices, to 1e-5. \throws BadData as check_unitarity.
bool is_multiple_of_unitary(const HostGauge& links, Communicator& communicator);
/// As upload_scaled, from links on the device with all reals in double; whether they are multiples of unitary matrices
/// is not checked.
LinkField encode_scaled(const LinkField& from, const PrecisionInfo& precision, const StorageInfo& storage,
                        int depth = 1);
/// The same links in double with all reals.
LinkField decode_links(const LinkField& from);
/// Calls visit(lexicographic site of this part, links) with the links times their scale, decompressed, row by row one
/// after the other; sites in any order, several at once, and on processors some of them more than once.
void for_each_link_of(const LinkField& from, const std::function<void(long long, const Complex64*)>& visit);
/// The same links in a field on the host.
HostGauge download(const LinkField& from);

/// Coefficients of hops: `bulk` times the phase where a hop leaves the global lattice; lattices are no shorter than
/// hops.
Hops hops_of(const Lattice& lattice, const std::array<double, directions>& bulk,
             const std::array<Complex64, directions>& phase);

/// Arguments that name the geometry in which `lanes` lanes are stored, and the ranks over which sums extend.
Arguments arguments_for(const Domain& domain, int lanes, int rhs = 1);
/// Applies a kernel with sums, and adds these up over the ranks of the domain: kernel.sums numbers for each right-hand
/// side.
std::vector<double> reduce(const Domain& domain, const Kernel& kernel, const Arguments& arguments);
/// Applies a kernel of vector updates, whose sums extend over the ranks before its program on device scalars runs.
void update(const Domain& domain, const Kernel& kernel, const Arguments& arguments);

}  // namespace quarksmith
