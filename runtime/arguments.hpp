/// \file
/// What a kernel receives: plain records shared by host code and every target. No host library is used here.
#pragma once

namespace quarksmith {

/// Number of space-time directions; the order is x, y, z, t.
inline constexpr int directions = 4;
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
  int half_sites;                 ///< sites (CUDA) or blocks of lanes (CPU) of one parity
  int lanes;                      ///< lanes to a block; 1 on CUDA
  int split[directions];          ///< lanes along each direction; extent * split = extent of the lattice
  int lane_bits;                  ///< log2(lanes)
  int lane_direction[4];          ///< direction halved by each lane bit, in the order of the bits
  const LaneTables* lane_tables;  ///< null when lanes == 1
};

/// One field as a kernel sees it: component n of site i lies as runtime/view.hpp says.
struct Operand {
  void* data = nullptr;
  float* norm = nullptr;          ///< one scale a site and right-hand side for formats that need it
  long long rhs_stride = 0;       ///< words between right-hand sides
  long long norm_rhs_stride = 0;  ///< norms between right-hand sides
  long long parity_stride = 0;    ///< words from the even to the odd half (link fields)
  int lanes = 1;                  ///< lanes of the blocks in which this field is stored
};

/// A real number in both arithmetic precisions, so that no kernel converts.
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

/// Coefficient c_mu(x) of a forward hop: `bulk`, times the boundary phase on the last slice; backward conj(c_mu(x-mu)).
struct Hops {
  Scalar bulk[directions];
  Scalar edge_re[directions];  ///< real part of bulk * phase
  Scalar edge_im[directions];  ///< imaginary part; must vanish for kernels with real coefficients
};

/// Slots of device scalars that one kernel names at most, and those that every right-hand side has (generator's
/// blas.py).
inline constexpr int most_slots = 20, active_slot = 0, status_slot = 1;
/// A slot that is this or more stands for number slot - shared_slot of the first right-hand side of the call, for all.
inline constexpr int shared_slot = 128;
/// What slot `status_slot` holds: nothing happened, a quotient had denominator zero, a number was not finite.
enum class Status { fine, breakdown, not_finite };

/// State of the counter-based random numbers: the stream is (seed, counter), the place in it the global site.
struct RandomState {
  unsigned long long seed = 0;
  unsigned long long counter = 0;
};

/// Everything one kernel call needs. Which members a kernel reads is stated in its generated header.
struct Arguments {
  Geometry geometry{};
  int parity = 0;       ///< parity of the output sites
  int rhs = 1;          ///< right-hand sides of this call; a multiple of the kernel's tile
  int direction = 0;    ///< link direction that a gauge update changes
  long long count = 0;  ///< sites of an element-wise kernel (both parities counted when the fields hold both)
  Operand out, in, x, y, z, w;
  Operand links;  ///< forward links of both parities
  Operand term;   ///< site terms of both parities (runtime/term.hpp)
  ComplexScalar a, b, c;
  Hops hops;
  RandomState random;
  double* sums = nullptr;      ///< results of a reducing kernel
  double* partial = nullptr;   ///< scratch: one row of sums per chunk
  unsigned* ticket = nullptr;  ///< scratch: chunks done so far (CUDA); zero between calls
  /// Scalars in device memory, complex numbers: number s of right-hand side r is scalars[r * scalar_stride + 2 s] and
  /// the next. Slot n of a kernel is number slot[n].
  double* scalars = nullptr;
  int scalar_stride = 0;
  int columns = 0;  ///< right-hand sides of x that a block kernel combines (runtime/block.hpp)
  int mask = -1;    ///< kernels skip a right-hand side whose number `mask` is 0; -1: none
  unsigned char slot[most_slots] = {};
};

/// Launch numbers of one kernel; ignored by the CPU target.
struct Launch {
  int block = 128;         ///< threads of a block
  void* stream = nullptr;  ///< cudaStream_t
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
