/// \file
/// What kernels of coarse lattices (runtime/kernels/coarse.hpp) read besides their arguments: records in the memory of
/// the device, shared with the host. A coarse site is a block of sites; its vector, 2 N numbers for N near-null
/// vectors, is stored as N / 6 slices of Dirac spinors in the basis where gamma_5 = diag(1, 1, -1, -1): near-null
/// vector j of a chirality is number j % 6 of that chirality's two spins in slice j / 6.
#pragma once

namespace quarksmith {

/// Rows of a dense matrix stand side by side in memory, for every column: real parts, then imaginary parts. Their
/// number is rounded up to a multiple of this, and so many numbers follow the last column, which kernels may read.
inline constexpr int panel_rows = 8, panel_slack = 16;
/// Complex numbers of a Dirac spinor, and of one chirality of it.
inline constexpr int spinor_numbers = 12, chiral_numbers = 6;
/// Right-hand sides that a pass over matrices serves.
inline constexpr int panel_columns = 4;
/// Where items are not whole blocks or sites: rows of a matrix that an item takes, and items that share the work on
/// those rows; sites of a block of which an item makes one number.
inline constexpr int item_rows = 4, item_parts = 8, item_sites = 4;
/// Threads that multiply tiles of matrices of 16 bits together, or invert a matrix; rows and columns of a tile.
inline constexpr int warp_size = 32, tile_size = 8;
/// Tiles of rows that they take, such groups that share the columns, and right-hand sides of a pass.
inline constexpr int warp_tiles = 6, warp_parts = 4, warp_columns = 16;
/// Items that share the words of a site where unit vectors are prolonged.
inline constexpr int spread_items = 6;
/// Near-null vectors at most.
inline constexpr int most_vectors = 48;
/// Matrices that are stored in 16 bits are integers up to this, times a factor for each row.
inline constexpr int most_short = 32767;
/// Patterns of blocks: bits of the directions in which signs alternate, or this and the directions in which the
/// coordinates of the only blocks that count are odd. There are so many of either.
inline constexpr int one_colour = 16, block_colours = 16;

/// Where the words of a slice of a field lie, of the type in which kernels compute.
struct FieldPlaces {
  int word[2 * spinor_numbers];  ///< from the first word of a site's spinor to its word n
  int copies, apart;             ///< of a site in the lanes of a block, and words from one to the next
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
  const int* site;        ///< numbers of the sites of a block that count, or of steps of tiles; null: the first ones
  int sites;              ///< how many
  const unsigned* faces;  ///< where not all sites of tiles count: of those of a block, bit `face` is set
  int face;
  const unsigned char* odd;  ///< bit mu: coordinate mu of a block is odd
  int* failed;               ///< set where near-null vectors depend on each other
};

/// Sites of a coarse field whose numbers are to follow each other: [right-hand side][site][slice][24].
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
  const int* other_first;  ///< [site * points + point]: of the site to which a matrix couples
  const int* other;        ///< the same: its number among the sites of its parity
  void* panel;             ///< [site][point][column][2][rows], in the type of the fields
  short* packed;           ///< the same in 16 bits; without lanes in tiles (coarse_tiles.hpp)
  float* scale;            ///< of a row of `packed`: [site][rows]
  int* failed;             ///< set where a matrix is singular
};

}  // namespace quarksmith
