/// \file
/// The memory layout of a field's sites, for copies by devices, whatever the content.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// Layout of the sites of a field: the words of a site are in pieces (a word of a CPU's lane, a short vector of a GPU),
/// and pieces of the sites of a block are contiguous, a row. Slots number the sites in this order, including padding of
/// blocks.
struct StoredSites {
  char* data = nullptr;
  float* norm = nullptr;  ///< one scale a slot for formats that need it
  int pieces = 0;         ///< of a site
  int piece_bytes = 0;
  int row = 1;  ///< lanes of a block, or sites of a GPU's block
  int rhs = 1;
  long long rhs_bytes = 0;        ///< between right-hand sides
  long long norm_rhs_stride = 0;  ///< norms between right-hand sides
  int half = 0;                   ///< first slot of the second parity,
  long long gap = 0;              ///< whose sites are offset by this many pieces, as other data is between the parities

  long long site_bytes() const { return static_cast<long long>(pieces) * piece_bytes; }
  /// Offset of the first piece of a slot, in pieces; its next ones follow at distances of a row.
  QUARKSMITH_ANYWHERE long long first_piece(int slot) const {
    return static_cast<long long>(slot / row) * pieces * row + slot % row + (slot < half ? 0 : gap);
  }
};

/// One of the numbers that each site has: doubles, or floats.
struct SiteNumbers {
  const double* data = nullptr;
  long long rows = 0;             ///< rows of sites, including padding of blocks
  int row = 1;                    ///< sites of a row that count: other lanes hold copies
  int apart = 1;                  ///< doubles from one such site to the next
  long long stride = 0;           ///< doubles from row to row
  const float* single = nullptr;  ///< in place of `data`

  QUARKSMITH_ANYWHERE double at(long long site) const {
    const long long n = site / row * stride + site % row * apart;
    return single != nullptr ? single[n] : data[n];
  }
  long long count() const { return rows * row; }
};

/// Complex numbers that each site has, by time slices.
struct SliceNumbers {
  const double* data = nullptr;
  const long long* first = nullptr;  ///< where the first number of each site lies, slice by slice; memory of the device
  int slices = 0, sites = 0;         ///< of a slice
  int count = 0;                     ///< numbers of a site
  long long stride = 0;              ///< doubles from one of them to the next
  int imaginary = 1;                 ///< from the real to the imaginary part

  QUARKSMITH_ANYWHERE long long results() const { return static_cast<long long>(slices) * count; }
};

/// Units that make sums of doubles exact in any order: a number x is split into a multiple of one unit, (x + first) -
/// first, and one of a smaller unit, likewise with `second`; the rest is dropped (J. Demmel and H. D. Nguyen, ARITH 21
/// (2013) 163).
struct SumUnits {
  double first = 0, second = 0;
};

/// A site of one field that is copied to one of another.
struct SitePair {
  int to, from;  ///< slots
};

/// Copies of sites between fields of one kind; `pairs` is memory of the device.
struct SiteMove {
  StoredSites to, from;
  const SitePair* pairs = nullptr;
  int count = 0;
};

}  // namespace quarksmith
