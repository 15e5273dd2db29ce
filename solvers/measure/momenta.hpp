/// \file
/// Sums over the time slices of a lattice with phases of momenta.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Integers n of p_i = 2 pi n_i / L_i.
using Momentum = std::array<int, 3>;

/// All with |n|^2 up to a number, by |n|^2, then by the integers.
std::vector<Momentum> momenta_up_to(int largest_square);
/// What permutations and signs make of one, itself among them.
std::vector<Momentum> equivalents_of(const Momentum& p);

/// exp(i p.(x - x0)). \param x within this part; the origin is of the whole lattice.
Complex64 phase_at(const Lattice& lattice, const Coordinates& x, const Momentum& p, const Coordinates& origin);

/// Sites of a row along x that contractions work on together, a number of each.
inline constexpr int row_sites = 8;
/// A number at each of these sites.
struct RowNumber {
  double re[row_sites] = {}, im[row_sites] = {};
};

/// Momenta, and the site from which their phases exp(i p.(x - x0)) count.
struct MomentumPhases {
  std::vector<Momentum> momenta;
  Coordinates origin{};
};

/// Sets `count` numbers for each of `sites` sites of a row, the first of which has a lexicographic number; others are
/// 0.
using RowValues = std::function<void(long long first, int sites, RowNumber* values)>;

/// sums[(t momenta + p) count + k] = sum over space of exp(i p.(x - x0)) times value k, t of the whole lattice, from
/// its first slice on. The same bits for any number of threads. Collective; all ranks get the same numbers.
std::vector<Complex64> momentum_sums(const Lattice& lattice, const MomentumPhases& phases, int count,
                                     const RowValues& values, Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
