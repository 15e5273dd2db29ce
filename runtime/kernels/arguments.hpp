/// \file
/// What a kernel receives: plain records shared by host code and every target. No host library is used here.
#pragma once

/// Functions that hosts and kernels share; a target whose compiler needs attributes defines it before.
#if !defined(QUARKSMITH_ANYWHERE)
#define QUARKSMITH_ANYWHERE inline __attribute__((always_inline))
#endif

namespace quarksmith {

/// Number of space-time directions; the order is x, y, z, t.
inline constexpr int directions = 4;
/// Most colours of a field (generator/algebra/su3.py).
inline constexpr int most_colours = 16;
/// Sites of a block in the memory of a GPU: the threads of a warp.
inline constexpr int site_block = 32;
/// Widest block of SIMD lanes that any target uses.
inline constexpr int max_lanes = 16;

/// How the lanes of a CPU block relate to each other; index [mu][0] is the forward, [mu][1] the backward hop.
struct LaneTables {
  /// Lane that holds the neighbour of lane l when the hop leaves the block's sub-lattice.
  int permutation[directions][2][max_lanes];
  /// -1 for a lane whose hop also crosses the boundary of the lattice, else 0.
  int crossing[directions][2][max_lanes];
};

/// Division by a constant extent as multiplication and shift.
struct Divisor {
  unsigned multiplier;
  int shift;
};

/// Extents and lane structure of a (sub-)lattice. Sites of one parity are numbered x fastest, two x to a number.
struct Geometry {
  int extent[directions];         ///< extents of the sub-lattice that one lane covers; even
  int stride[directions];         ///< distance of neighbours in the numbering of sites; [0] is not used
  Divisor by_half_x, by_y, by_z;  ///< division by extent[0]/2, extent[1], extent[2]
  int half_sites;                 ///< sites (GPU) or blocks of lanes (CPU) of one parity
  int lanes;                      ///< lanes to a block; 1 on GPUs
  int split[directions];          ///< lanes along each direction; extent * split = extent of the lattice
  int lane_bits;                  ///< log2 of the number of boxes (sub-lattices) that lanes cover, see boxes_of
  int lane_direction[4];          ///< direction halved by each lane bit, in the order of the bits
  const LaneTables* lane_tables;  ///< null when lanes == 1
  int slab;  ///< planes of z that a GPU works on for all t before the next ones; 0: it goes slice by slice in t
};

/// Boxes of a lattice that lanes cover; if there are fewer than lanes, each is covered by several.
inline int boxes_of(const Geometry& g) { return 1 << g.lane_bits; }

/// A field as an operand of a kernel; runtime/kernels/view.hpp has the layout of component n of site i.
struct Operand {
  void* data = nullptr;
  float* norm = nullptr;          ///< one scale a site and right-hand side for formats that need it
  long long rhs_stride = 0;       ///< words between right-hand sides
  long long norm_rhs_stride = 0;  ///< norms between right-hand sides; of site terms: between parities
  long long parity_stride = 0;    ///< words from the even to the odd half (link fields)
  int lanes = 1;                  ///< lanes of the blocks in which this field is stored
};

/// A real number in both arithmetic precisions, so that kernels need not convert it.
struct Scalar {
  double d = 0;
  float f = 0;
  constexpr Scalar() = default;
  constexpr Scalar(double value) : d(value), f(static_cast<float>(value)) {}
};

/// A complex coefficient of a vector update.
struct ComplexScalar {
  Scalar re, im;
};

/// Coefficient c_mu(x) of a forward hop: `bulk`, or `edge` where the hop leaves the sub-lattices of all lanes; backward
/// conj(c_mu(x-mu)). At a boundary between ranks inside the lattice, `edge` equals `bulk` (field.hpp: hops_of).
struct Hops {
  Scalar bulk[directions];
  Scalar edge_re[directions][2];  ///< real part of bulk * phase; [0] forward, [1] backward
  Scalar edge_im[directions][2];  ///< imaginary part for a forward hop; 0 for kernels with real coefficients
};

/// Most ranks of a host that store into each other's device memory.
inline constexpr int most_peers = 16;

/// Counters in device memory by which peers signal arrivals to each other; each in a sector of its own.
struct HaloSignals {
  static constexpr int stride = 32;
  unsigned arrived[2 * directions * stride];  ///< spinors in the ghost zone [2 mu + backward], of all exchanges so far
  unsigned expected[directions];              ///< spinors of all exchanges that are done
  unsigned exchange;                          ///< number of the present exchange, whose parity selects the buffer
  unsigned ticket;                            ///< blocks of threads that have read the above in the present exchange
};

/// The halo of the local lattice for one kind of spinors, into which hops that leave the local lattice lead. Zones hold
/// the projected colour vectors for the sites of a face (runtime/kernels/site.hpp: face_index).
struct Halo {
  Operand arriving[directions][2];  ///< halo zones for forward, backward hops; data null: not divided
  Operand leaving[directions][2];   ///< where this rank stores spinors for the same hops of its neighbours
  Operand links[directions];        ///< U_mu on the last slice of the rank behind; both parities
  Operand long_links[directions];   ///< long links on the last slices of the rank behind, the last one first
  int face[directions] = {};        ///< sites (CPU: blocks) of one parity on the slices that hops reach; 0: not divided
  const int* boundary[2] = {};      ///< numbers of the sites of a parity from which a hop leaves the local lattice
  int boundary_count[2] = {};
  int split = 0;  ///< bits of the directions that are divided among ranks
  // For ranks that store into each other's zones; there are two sets of zones, used in turn.
  HaloSignals* signals = nullptr;
  unsigned* raise[directions][2] = {};  ///< counters of neighbours: arrived[2 mu + backward]
  long long buffer = 0;                 ///< bytes from one set of zones to the next
};

/// The stages of a hopping term that a launch does, in blocks of threads (GPU).
struct HaloWork {
  bool pack = false, interior = false, exterior = false;
  bool whole = false;  ///< `exterior` means all sites
  bool peers = false;  ///< spinors are stored into zones of neighbours, where counters signal their arrival
};

/// The ranks of a global sum.
struct Team {
  int ranks = 1, rank = 0;
  /// Sums over the ranks in their order; for kernels on the host's processors.
  void (*sum)(void* context, double* values, int count) = nullptr;
  void* context = nullptr;
  /// For kernels on GPUs: memory of each rank, [exchange parity][right-hand side][from rank][most_team_sums] pairs of
  /// words (value, flag) of which two make a number, and counters of exchanges, one a right-hand side.
  unsigned long long* box[most_peers] = {};
  unsigned* exchanges = nullptr;
  static constexpr int most_sums = 32, most_rhs = 64;
};

/// Most slots of device scalars of a kernel, and the slots that every right-hand side has
/// (generator/operators/blas.py).
inline constexpr int most_slots = 24, active_slot = 0, status_slot = 1;
/// A slot of at least this value refers to number slot - shared_slot of the first right-hand side of the call, for all
/// of them.
inline constexpr int shared_slot = 128;
/// Values of slot `status_slot`: no problem, a quotient with denominator zero, a number that is not finite.
enum class Status { fine, breakdown, not_finite };

/// Most slices of a vector along a fifth dimension.
inline constexpr int most_slices = 64;

/// State of the counter-based random numbers: (seed, counter) selects the stream, the number of the global site the
/// position in it.
struct RandomState {
  unsigned long long seed = 0;
  unsigned long long counter = 0;
};

/// Stages of a kernel with sums and a scalar program: all, only the sums (into `sums`), or only the program, with the
/// sums found there.
enum class SumStage { all, sums, program };

/// Arguments that any kernel over sites may read.
struct FieldArguments {
  Geometry geometry{};
  int parity = 0;       ///< parity of the output sites
  int rhs = 1;          ///< right-hand sides of this call; a multiple of the kernel's tile
  int direction = 0;    ///< link direction that a gauge update changes
  long long count = 0;  ///< sites of an element-wise kernel (both parities counted when the fields hold both)
  Operand out, in, x, y, z, w;
  Operand more[4];  ///< of expressions with many fields
  Operand links;    ///< forward links of both parities
  Operand term;     ///< site terms of both parities (runtime/kernels/term.hpp)
  ComplexScalar a, b, c;
  ComplexScalar numbers[6];  ///< of expressions with many numbers
};

/// Sums over sites of what the epilogue of a hopping term out = a x + b D in has at hand, as far as it adds them up:
/// GPU, launches on all sites, in groups of site_block threads.
struct ProductArguments {
  double* rows = nullptr;  ///< [right-hand side][group][product_numbers(all)]; null: none
  Operand shadow;          ///< another field at the sites of out
  /// (out, x), |out|^2, |x|^2, (shadow, x), (shadow, out); or (shadow, out), |x|^2. Two numbers a product.
  bool all = false;
};
QUARKSMITH_ANYWHERE constexpr int product_numbers(bool all) { return all ? 8 : 3; }

/// Hopping terms.
struct HoppingArguments {
  Operand long_links;            ///< as links, for hops over three sites
  Operand twist;                 ///< second factor of the inverse of a twisted term (runtime/kernels/twist.hpp)
  const void* matrix = nullptr;  ///< elements of a constant site term (SpinMatrix there)
  Hops hops, long_hops;
  const int* list = nullptr;  ///< CPU: numbers of the blocks to work on, of which there are list_count; null: all
  int list_count = 0;
  int skip = 0;                ///< GPU: bits of directions; sites with a hop that leaves the part there are left out
  const Halo* halo = nullptr;  ///< boundaries of a part; null: hops that leave it come in again on the other side
  ProductArguments products;
};

/// Kernels along the fifth dimension: slice s of vector r is right-hand side r * slices + s of the operands.
struct SliceArguments {
  int slices = 1;
  const void* chain = nullptr;  ///< coefficients: runtime/kernels/slices.hpp
};

/// GPU: kernels that work on all sites, of which `geometry` may be those of a part and others round it.
struct PartArguments {
  Geometry part{};               ///< the sites that they work on; half_sites 0 in a call: all
  int part_begin[directions]{};  ///< coordinates of the first of them in `geometry`
};

/// Kernels with sums over sites.
struct SumArguments {
  double* sums = nullptr;      ///< results
  double* partial = nullptr;   ///< scratch: one row of sums per chunk
  unsigned* ticket = nullptr;  ///< scratch: chunks done so far (GPU); zero between calls
  /// GPU: sums of groups of sites that were made before, [right-hand side][count][sum], instead of those of the fields.
  const double* rows = nullptr;
};

/// Updates whose coefficients stay on the device.
struct UpdateArguments {
  /// Complex numbers: number s of right-hand side r is scalars[r * scalar_stride + 2 s] and the next. Slot n of a
  /// kernel is number slot[n].
  double* scalars = nullptr;
  int scalar_stride = 0;
  int columns = 0;  ///< right-hand sides of x that a block kernel combines (runtime/kernels/block.hpp)
  SumStage stage = SumStage::all;
  const Team* team = nullptr;  ///< ranks over which sums extend before the program on these scalars runs
  int mask = -1;               ///< kernels skip a right-hand side whose number `mask` is 0; -1: none
  unsigned char slot[most_slots] = {};
};

/// Everything one kernel call needs, by families of kernels. Which members a kernel reads is stated in its generated
/// header.
struct Arguments : FieldArguments, HoppingArguments, SliceArguments, PartArguments, SumArguments, UpdateArguments {
  RandomState random;  ///< of gauge updates
};

/// Launch numbers of one kernel; ignored by the CPU target.
struct Launch {
  int block = 128;         ///< threads of a block
  void* stream = nullptr;  ///< queue of a GPU
  /// Work of a hopping term at the boundaries of a part, arguments.halo, instead of the plain kernel; null: the latter.
  const HaloWork* halo = nullptr;
};

/// Address of a kernel: applies it to `arguments`.
using Apply = void (*)(const Arguments& arguments, const Launch& launch);

/// Bytes of the short vectors in which a group of components is stored: the largest of 16, 8, 4, 2 that divides it.
constexpr int vector_bytes(int group_bytes) {
  int bytes = 16;
  while (bytes > 1 && group_bytes % bytes != 0) bytes /= 2;
  return bytes;
}

/// The same as a constant that device code may use.
template <int GroupBytes>
inline constexpr int vector_bytes_of = vector_bytes(GroupBytes);

}  // namespace quarksmith
