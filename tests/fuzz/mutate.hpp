/// \file
/// Damage to files: what disks, networks, other programs and malice do to them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/corpus.hpp"

namespace quarksmith::fuzz {

/// Random numbers that are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}
  /// 0 ... n - 1, n > 0.
  std::uint64_t below(std::uint64_t n) { return generator_() % n; }
  bool chance(int one_in) { return below(one_in) == 0; }

 private:
  std::mt19937_64 generator_;
};

/// A changed file, and in words what was done to it.
struct Mutant {
  std::string bytes, history;
};

/// One to four changes.
Mutant mutate(const Original& original, const std::vector<Original>& others, Dice& dice);

}  // namespace quarksmith::fuzz
