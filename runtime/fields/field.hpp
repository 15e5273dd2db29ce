/// \file
/// Fields: on the host in the order of files, on a device in the order of its kernels.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/ranks/communicator.hpp"
#include "runtime/device.hpp"
#include "runtime/fields/host_sites.hpp"
#include "runtime/fields/lattice.hpp"

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

/// What a site of a field holds: vectors of so many colours.
struct Components {
  int spins, colours;
  Components(int spins_ = 4, int colours_ = 3) : spins(spins_), colours(colours_) {}
  friend bool operator==(const Components&, const Components&) = default;
};

class BorderedPart;
struct BorderedLinks;
class Halos;
class Mail;
class RankSums;

/// Sites beyond a part that kernels read, along each direction and both ways alike.
struct BorderDepth {
  Coordinates sites{};
  bool corners = false;  ///< some of them are reached by steps along several directions
  friend bool operator==(const BorderDepth&, const BorderDepth&) = default;
};

/// Fields whose borders were filled from other ranks, bytes that this rank sent for that, and copies of whole fields
/// from a part into the memory that has a border, and back.
struct BorderTraffic {
  long long exchanges = 0, bytes = 0, copies = 0;
};

/// A lattice, or one rank's part of it, on a device: shared by all fields that kernels use together.
class Domain {
 public:
  /// \param communicator the ranks that hold the parts of the lattice, in the order of their numbers.
  /// \param reach sites of the longest hop of kernels on it, 1 or 3.
  /// \throws WrongLattice the lattice, or this part of it, is shorter than a hop.
  Domain(const Lattice& lattice, std::shared_ptr<Device> device,
         std::shared_ptr<Communicator> communicator = Communicator::self(), int reach = 1);
  ~Domain();

  const Lattice& lattice() const { return lattice_; }
  Communicator& communicator() const { return *communicator_; }
  const std::shared_ptr<Communicator>& communicator_pointer() const { return communicator_; }
  /// The boundaries of this part, made when first asked for: by all ranks together.
  /// \throws UsageError the lattice is not split.
  Halos& halos() const;
  /// What takes links and fields at the boundaries to the neighbours, made like `halos`.
  Mail& mail() const;
  /// This part with so much of its neighbours round it, for fields whose numbers have so many bytes; null if kernels of
  /// that depth stay within the part. It may be deeper than asked for.
  /// \throws WrongLattice the part is shorter than the depth; the message names `what`.
  /// \param shared give the deepest there is, which holds copies of links already, not one of that depth alone.
  const BorderedPart* bordered(const BorderDepth& depth, int element_bytes, std::string_view what,
                               bool shared = true) const;
  /// The one of these whose box that is; null if none is.
  const BorderedPart* bordered_in(const Domain& box) const;
  /// A box of these extents with the part at that place in it, for such numbers, so that parts share copies of links;
  /// null if none is.
  std::shared_ptr<const Domain> box_like(const Coordinates& extents, const Coordinates& offset,
                                         int element_bytes) const;
  /// What the borders of its fields have cost so far.
  BorderTraffic border_traffic() const;
  /// How sums extend over the ranks; made like `halos`. Null for one rank.
  const RankSums* rank_sums() const;
  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& device_pointer() const { return device_; }
  /// Whether fields of the two are stored alike, so that they can be copied into each other.
  friend bool alike(const Domain& a, const Domain& b) {
    return &a == &b || (a.device_ == b.device_ && a.lattice_.extent() == b.lattice_.extent() && a.reach_ == b.reach_);
  }
  /// Lanes in which numbers of so many bytes are stored: the device's full width, or 1 if the lattice does not allow
  /// it.
  int lanes(int element_bytes) const;
  /// Sites of the longest hop.
  int reach() const { return reach_; }
  /// \throws UsageError hops of the kernel are longer.
  void require_reach(const Kernel& kernel) const;
  /// Lanes and numbering for fields stored with so many lanes.
  const LaneLayout& layout(int lanes) const;
  /// Slots (SitePair) of the last `depth` slices along mu in a link field of so many lanes, and of what the next part
  /// gets of them; made once.
  const Memory& leaving_slots(int lanes, int mu, int depth) const;
  /// The number in the whole lattice of the site of each slot of a full field (SiteDraws::numbers); made once.
  const Memory& site_numbers(int lanes) const;

 private:
  Lattice lattice_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Communicator> communicator_;
  int reach_;
  mutable std::array<std::unique_ptr<LaneLayout>, 5> layouts_;  // by log2(lanes)
  mutable std::unique_ptr<Halos> halos_;
  mutable std::unique_ptr<Mail> mail_;
  mutable std::vector<std::unique_ptr<BorderedPart>> bordered_;
  mutable std::unique_ptr<RankSums> rank_sums_;
  mutable std::map<std::array<int, 3>, Memory> leaving_slots_;  // by lanes, direction and depth
  mutable std::map<int, Memory> site_numbers_;                  // by lanes
};
using DomainPointer = std::shared_ptr<const Domain>;

/// Which sites a field holds.
enum class Subset { even, odd, full };

/// Number of parities that a subset holds.
constexpr int parities(Subset s) { return s == Subset::full ? 2 : 1; }

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
  /// The half of one parity.
  /// \throws UsageError the field does not hold it.
  Operand operand(Parity parity) const;
  /// All sites of all slices: `count` places (runtime/kernels/view.hpp: element_place) of the arguments below.
  Operand operand() const;
  long long count() const;
  /// Arguments of an element-wise kernel: geometry, right-hand sides and count.
  Arguments arguments() const;
  /// Right-hand side `rhs` alone.
  Operand select(Operand operand, int rhs) const;
  /// A field of the same kind, not initialised.
  SpinorField like() const { return {domain_, *precision_, subset_, rhs_, components_, slices_}; }
  /// Right-hand sides first ... first + count - 1 as a field that shares their memory.
  /// \throws UsageError there are not so many.
  SpinorField columns(int first, int count) const;
  /// Slice s of vector n as right-hand side n slices() + s of a field that shares the memory: what kernels that know
  /// four dimensions work on.
  SpinorField by_slice() const;
  /// Sets every byte; 0 makes the field zero, 255 fills floating-point formats with NaN.
  void fill(int byte);
  /// \throws UsageError the kinds differ.
  void copy_from(const SpinorField& other);
  /// The sites of one parity become those of `other`.
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

/// Links for kernels: both parities, four directions; of a part of a lattice also those that lead into it from the
/// parts behind.
class LinkField {
 public:
  /// \param depth slices of the parts behind that hops over these links reach: 1, or 3 for long links.
  LinkField(DomainPointer domain, const PrecisionInfo& precision, const StorageInfo& storage, int depth = 1);

  const Domain& domain() const { return *domain_; }
  const DomainPointer& domain_pointer() const { return domain_; }
  const PrecisionInfo& precision() const { return *precision_; }
  const StorageInfo& storage() const { return *storage_; }
  int colours() const { return storage_->colours; }
  int lanes() const { return lanes_; }
  int depth() const { return depth_; }
  /// What the coefficients of hops carry, since links are stored divided by it.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  Operand operand() const;
  /// Their memory, to tell fields apart.
  const void* memory() const { return home_ != nullptr ? operand_in_box().data : data_.data(); }
  /// Leaves the box of a part, so that the parities lie one after the other in memory.
  void stand_alone() const;
  /// The links of direction mu on the last slices of the part behind; data null where the lattice is not split.
  /// Fetched from the other ranks, all of which ask, if the links have changed.
  Operand ghosts(int mu) const;
  /// Fetches these now.
  void exchange_ghosts() const;
  /// Tells that kernels have written into the links: what was copied of them is old.
  void changed();
  /// Sets every byte.
  void fill(int byte);
  /// \throws UsageError the kinds differ.
  void copy_from(const LinkField& other);

 private:
  friend class BorderedPart;
  DomainPointer domain_;
  const PrecisionInfo* precision_;
  const StorageInfo* storage_;
  int lanes_, depth_;
  double scale_ = 1;
  mutable Memory data_;
  mutable std::array<Memory, directions> ghosts_;
  mutable bool ghosts_are_old_ = true;
  void bring_home() const;
  Operand operand_in_box() const;
  mutable std::vector<std::shared_ptr<BorderedLinks>> bordered_;  ///< made by expressions that read beyond the part
  mutable const BorderedLinks* away_ = nullptr;  ///< the one of these that holds the links, while data_ does not yet
  mutable BorderedLinks* home_ = nullptr;        ///< the one in which they lie; there is no data_ then
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
  /// What kernels multiply the stored numbers by.
  double scale() const { return scale_; }
  void set_scale(double scale) { scale_ = scale; }
  /// Both parities; the scale array that building kernels fill belongs to `parity`.
  Operand operand(Parity parity = Parity::even) const;
  /// Sets every byte of the numbers.
  void fill(int byte);
  /// Largest modulus of a real or imaginary part, as the kernel that made a double field has left it.
  double largest() const;

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
/// A double field in another precision, scaled to the range of the format.
TermField encode_term(const TermField& from, const PrecisionInfo& precision);
/// The inverse, times the scale: a double field.
TermField decode_term(const TermField& from);

/// Copies a host field into right-hand side `rhs` of a field whose kernels use `basis`; a half field takes its sites.
/// \throws UsageError the lattices differ.
void upload(const HostSpinor& from, SpinorField& to, const BasisInfo& basis, int rhs = 0);
/// Makes spinor or colour vector of a site, lexicographic in this part; it holds anything before. Several at once.
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
/// The same from links on the device with all reals in double; that they are such multiples is not checked.
LinkField encode_scaled(const LinkField& from, const PrecisionInfo& precision, const StorageInfo& storage,
                        int depth = 1);
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
/// Applies a reducing kernel and adds up over the ranks of the domain: kernel.sums numbers for each right-hand side.
std::vector<double> reduce(const Domain& domain, const Kernel& kernel, const Arguments& arguments);
/// Applies a kernel of vector updates, whose sums extend over the ranks before its program on device scalars runs.
void update(const Domain& domain, const Kernel& kernel, const Arguments& arguments);

}  // namespace quarksmith
