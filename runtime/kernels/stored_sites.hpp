/// \file
/// The sites of a field as devices copy them, whatever they hold.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// Where the sites of a field lie: all words of a site in pieces (a word of a CPU's lane, a short vector of a GPU), a
/// row of as many sites as a block has side by side. Slots number the sites in this order, with what fills blocks.
struct StoredSites {
  char* data = nullptr;
  float* norm = nullptr;  ///< one scale a slot for formats that need it
  int pieces = 0;         ///< of a site
  int piece_bytes = 0;
  int row = 1;  ///< lanes of a block, or sites of a GPU's block
  int rhs = 1;
  long long rhs_bytes = 0;        ///< between right-hand sides
  long long norm_rhs_stride = 0;  ///< norms between right-hand sides
  int half = 0;                   ///< from this slot on, of the second parity,
  long long gap = 0;              ///< sites lie so many pieces further on: others are between the parities

  long long site_bytes() const { return static_cast<long long>(pieces) * piece_bytes; }
  /// Pieces before the first one of a slot; the next ones of it lie a row apart.
  QUARKSMITH_ANYWHERE long long first_piece(int slot) const {
    return static_cast<long long>(slot / row) * pieces * row + slot % row + (slot < half ? 0 : gap);
  }
};

/// One of the numbers that each site has: doubles, or floats.
struct SiteNumbers {
  const double* data = nullptr;
  long long rows = 0;             ///< of sites, with what fills blocks
  int row = 1;                    ///< sites side by side that count: other lanes hold copies
  int apart = 1;                  ///< doubles from one of them to the next
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

/// What makes sums of doubles exact, whatever their order: a number x of at most `limit` is cut into a multiple of a
/// unit, (x + first) - first, one of a smaller unit, likewise with `second`, and what both leave is dropped (J. Demmel
/// and H. D. Nguyen, ARITH 21 (2013) 163).
struct SumUnits {
  double first = 0, second = 0;
};

/// A site of one field that becomes one of another.
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
