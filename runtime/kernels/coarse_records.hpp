/// \file
/// Records in device memory that kernels of coarse lattices (runtime/kernels/coarse.hpp) read besides their arguments;
/// the host fills them. A coarse site is a block of sites; its vector, 2 N numbers for N near-null
/// vectors, is stored as N / 6 slices of Dirac spinors in the basis where gamma_5 = diag(1, 1, -1, -1): near-null
/// vector j of a chirality is number j % 6 of that chirality's two spins in slice j / 6.
#pragma once

namespace quarksmith {

/// Dense matrices are stored by columns, each with the real parts of all rows, then the imaginary parts. The number of
/// rows is a multiple of panel_rows; panel_slack unused numbers, which kernels may read, follow the last column.
inline constexpr int panel_rows = 8, panel_slack = 16;
/// Complex numbers of a Dirac spinor, and of one chirality of it.
inline constexpr int spinor_numbers = 12, chiral_numbers = 6;
/// Right-hand sides for which matrices are loaded once.
inline constexpr int panel_columns = 4;
/// Work items of kernels that split blocks or sites: rows of a matrix for each item, items that share these rows, and
/// sites of a block for which an item computes one number.
inline constexpr int item_rows = 4, item_parts = 8, item_sites = 4;
/// Threads that multiply tiles of 16-bit matrices together, or invert a matrix; rows and columns of a tile.
inline constexpr int warp_size = 32, tile_size = 8;
/// Tiles of rows for each warp, warps that share the columns of a matrix, and right-hand sides of a pass.
inline constexpr int warp_tiles = 6, warp_parts = 4, warp_columns = 16;
/// Items that share the words of a site where unit vectors are prolonged.
inline constexpr int spread_items = 6;
/// Largest number of near-null vectors.
inline constexpr int most_vectors = 48;
/// Largest integer of matrices that are stored in 16 bits, as integers times a factor for each row.
inline constexpr int most_short = 32767;
/// Patterns over blocks, 16 of either kind: a bit for each direction in which signs alternate; or one_colour plus a bit
/// for each direction whose block coordinate is odd, for the blocks of one colour only.
inline constexpr int one_colour = 16, block_colours = 16;

/// Offsets of the words of a slice of a field, in words of the type in which kernels compute.
struct FieldPlaces {
  int word[2 * spinor_numbers];  ///< from the first word of a site's spinor to its word n
  int copies, apart;             ///< copies of a site in the lanes of a block, and words between them
  int slices;                    ///< one after the other in a right-hand side
};

/// The near-null vectors of all blocks, and fields in the order of these: [right-hand
/// side][slice][block][site][chirality] [chiral number][2].
struct BlockVectors {
  FieldPlaces coarse;
  int slices;             ///< of the finer level
  int block_sites, rows;  ///< sites of a block; N rounded up to panel_rows
  int lane_blocks;        ///< blocks of lanes of a slice of a field
  const int* place;  ///< number among those of all blocks of the site in a lane: [block of lanes][lane], even first
  const int* coarse_first;
  void* panel;            ///< [block][site][slice][chirality][chiral number][2][rows], in the type of the fields
  short* packed;          ///< the same in 16 bits; without lanes in tiles (coarse_transfer_tiles.hpp)
  float* scale;           ///< of a row of `packed`: [block][chirality][rows]
  const int* site;        ///< indices of the sites of a block to work on, or of steps of tiles; null: the first ones
  int sites;              ///< number of these
  const unsigned* faces;  ///< if not all sites of tiles count: those of which bit `face` is set do
  int face;
  const unsigned char* odd;  ///< bit mu: coordinate mu of a block is odd
  int* failed;               ///< set if near-null vectors of a block depend on each other
};

/// Sites of a coarse field to be packed contiguously: [right-hand side][site][slice][24].
struct CoarseSites {
  FieldPlaces places;
  int sites;
  const int* first;  ///< first word of a site
};

/// Matrices that couple the sites of one parity to others.
struct Stencil {
  FieldPlaces places;
  int points, rows;        ///< matrices of a site; 2 N rounded up to panel_rows
  const int* first;        ///< first word of a site in the field of its parity
  const int* other_first;  ///< [site * points + point]: first word of the site to which a matrix couples
  const int* other;        ///< [site * points + point]: index of that site among those of its parity
  void* panel;             ///< [site][point][column][2][rows], in the type of the fields
  short* packed;           ///< the same in 16 bits; without lanes in tiles (coarse_tiles.hpp)
  float* scale;            ///< of a row of `packed`: [site][rows]
  int* failed;             ///< set if a matrix is singular
};

}  // namespace quarksmith
