#include "solvers/multigrid/block_sites.hpp"

#include <algorithm>

namespace quarksmith {

BlockSites::BlockSites(const Coordinates& block)
    : block_(block),
      count_(block[0] * block[1] * block[2] * block[3]),
      even_first_(std::ranges::all_of(block, [](int length) { return length % 2 == 0; })) {}

int BlockSites::number(const Coordinates& inside) const {
  int number = 0, sum = 0;
  for (int mu = directions - 1; mu >= 0; --mu) {
    number = number * block_[mu] + inside[mu];
    sum += inside[mu];
  }
  return even_first_ ? sum % 2 * (count_ / 2) + number / 2 : number;
}

std::vector<int> BlockSites::coordinates(int mu) const {
  std::vector<int> all(static_cast<std::size_t>(count_));
  Coordinates x;
  for (x[3] = 0; x[3] < block_[3]; ++x[3])
    for (x[2] = 0; x[2] < block_[2]; ++x[2])
      for (x[1] = 0; x[1] < block_[1]; ++x[1])
        for (x[0] = 0; x[0] < block_[0]; ++x[0]) all[static_cast<std::size_t>(number(x))] = x[mu];
  return all;
}

std::vector<int> BlockSites::at(int face) const {
  std::vector<char> seen(static_cast<std::size_t>(count_), 1);
  for (int mu = 0; mu < directions; ++mu) {
    const int corner = face - 2 * whole_faces, length = block_[mu], first = face % whole_faces;
    if (corner < 0 && first / 2 != mu) continue;
    const std::vector<int> x = coordinates(mu);
    for (int s = 0; s < count_; ++s) {
      const bool above = 2 * x[s] >= length || length == 1, below = 2 * x[s] + 1 < length;
      const bool inner = face >= whole_faces && x[s] > 0 && x[s] + 1 < length;
      if (corner < 0 ? inner || !(first % 2 == 0 ? above : below) : (corner >> mu & 1) == int(below)) seen[s] = 0;
    }
  }
  std::vector<int> sites;
  for (int s = 0; s < count_; ++s)
    if (seen[s] != 0) sites.push_back(s);
  return sites;
}

std::vector<unsigned> BlockSites::faces() const {
  std::vector<unsigned> bits(static_cast<std::size_t>(count_));
  for (int face = 0; face < 2 * whole_faces + corners; ++face)
    for (const int s : at(face)) bits[s] |= 1u << face;
  return bits;
}

}  // namespace quarksmith
