/// \file
/// Sums over the time slices of a lattice with phases of momenta.
#pragma once

#include <array>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/fields/site_sums.hpp"

namespace quarksmith {

/// Integers n of p_i = 2 pi n_i / L_i.
using Momentum = std::array<int, 3>;

/// All momenta with |n|^2 up to a number, by |n|^2, then by the integers.
std::vector<Momentum> momenta_up_to(int largest_square);

/// The symmetry of the directions of space: which are equivalent, and which may be reflected, from numbers that belong
/// to each.
struct SpaceSymmetry {
  std::array<std::vector<double>, 3> numbers;  ///< equal for equivalent directions
  std::array<bool, 3> mirrored = {true, true, true};

  void add(int mu, double x) { numbers[mu].push_back(x); }
  /// Adds a component of a vector; unless it is 0, the direction may not be reflected.
  void add_component(int mu, double x) {
    add(mu, x);
    if (x != 0) mirrored[mu] = false;
  }
  /// Whether all directions are equivalent and may be reflected.
  bool is_whole() const;
};
/// All allowed permutations and signs of a momentum, itself included, in ascending order.
std::vector<Momentum> equivalents_of(const Momentum& p, const SpaceSymmetry& symmetry);

/// exp(i p.(x - x0)). \param x local coordinates. \param origin global coordinates.
Complex64 phase_at(const Lattice& lattice, const Coordinates& x, const Momentum& p, const Coordinates& origin);

/// Momenta, and the site from which their phases exp(i p.(x - x0)) count.
struct MomentumPhases {
  std::vector<Momentum> momenta;
  Coordinates origin{};
};

/// Sums over space of pairs of real site sums (runtime/fields/expression.hpp: site_sums) as complex numbers: sums[(t
/// momenta + p) count + k] = sum over space of exp(i p.(x - x0)) times number k, t of the whole lattice, from its first
/// slice on; one right-hand side after the other. The same bits for any number of threads and ranks. Collective; all
/// ranks get the same.
std::vector<Complex64> momentum_sums(const SiteSums& numbers, const MomentumPhases& phases);

/// exp(i p.(x - x0)) at one time of the whole lattice, 0 elsewhere, as a field of numbers.
LinkField phases_at(const DomainPointer& domain, int time, const Momentum& p, const Coordinates& origin);

}  // namespace quarksmith
