/// \file
/// What kernels of coarse lattices (runtime/kernels/coarse.hpp) read besides their arguments: records in the memory of
/// the device, shared with the host. A coarse site is a block of sites; its vector, 2 N numbers for N near-null
/// vectors, is stored as N / 6 slices of Dirac spinors in the basis where gamma_5 = diag(1, 1, -1, -1): near-null
/// vector j of a chirality is number j % 6 of that chirality's two spins in slice j / 6.
#pragma once

namespace quarksmith {

/// Rows of a dense matrix that stand side by side in memory, for every column: real parts, then imaginary parts.
inline constexpr int panel_rows = 8;
/// Complex numbers of a Dirac spinor, and of one chirality of it.
inline constexpr int spinor_numbers = 12, chiral_numbers = 6;
/// Right-hand sides that a pass over matrices serves.
inline constexpr int panel_columns = 4;
/// Near-null vectors at most.
inline constexpr int most_vectors = 48;

/// Where the words of a slice of a field lie, of the type in which kernels compute.
struct FieldPlaces {
  int word[2 * spinor_numbers];  ///< from the first word of a site's spinor to its word n
  int copies, apart;             ///< of a site in the lanes of a block, and words from one to the next
  int slices;                    ///< one after the other in a right-hand side
};

/// The near-null vectors of all blocks.
struct BlockVectors {
  FieldPlaces fine, coarse;
  int block_sites, tiles;  ///< sites of a block; panels that N rows fill
  const int* fine_first;   ///< first word of site s of block b: [b * block_sites + s]
  const int* coarse_first;
  void* panel;  ///< [block][site][slice][chirality][tile][chiral number][2][panel_rows]
};

/// Matrices that couple the sites of one parity to others.
struct Stencil {
  FieldPlaces places;
  int points, tiles;       ///< matrices of a site; panels that their rows fill
  const int* first;        ///< first word of a site in the field of its parity
  const int* other_first;  ///< [site * points + point]: of the site to which a matrix couples
  const void* panel;       ///< [site][point][slice][tile][number of the slice][2][panel_rows]
};

}  // namespace quarksmith
