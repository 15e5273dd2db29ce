/// \file
/// Groups of ranks that each hold the whole lattice, for work on different right-hand sides at a time.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// Neighbouring ranks of a grid as groups, which divide the lattice anew.
class RankGroups {
 public:
  /// Collective. \param all local lattice of this rank in the grid of all ranks. \param groups along each direction.
  /// \throws UsageError these numbers do not divide the grid.
  RankGroups(const Lattice& all, std::shared_ptr<Communicator> ranks, const Coordinates& groups);

  int count() const { return count_; }
  /// Number of the group of this rank.
  int own() const { return own_; }
  /// A rank of a group among all.
  int first_of(int group) const { return member(group, {}); }
  const std::shared_ptr<Communicator>& ranks() const { return group_; }
  const std::shared_ptr<Communicator>& all_ranks() const { return ranks_; }
  /// Local lattice of this rank among all ranks, and in its group.
  const Lattice& of_all() const { return all_; }
  const Lattice& lattice() const { return lattice_; }

  /// Gives fields of all ranks to groups. Collective, as the next. \param each complex numbers a site; sites are
  /// lexicographic. \param to_groups the local lattice of all ranks of the field for each group; null on all ranks:
  /// none. \param whole of the local lattice in the group.
  void hand_out(std::size_t each, const std::vector<const std::complex<double>*>& to_groups,
                std::complex<double>* whole) const;
  /// The inverse.
  void bring_back(std::size_t each, const std::complex<double>* whole,
                  const std::vector<std::complex<double>*>& of_groups) const;

 private:
  int member(int group, const Coordinates& place) const;
  /// Calls visit(number, rank among all that has it, place of its first site) for the parts of this rank's lattice.
  template <class Visit>
  void for_each_part(const Visit& visit) const;
  /// The rank of a group that holds this rank's part.
  int holder(int group) const;

  Lattice all_, lattice_;
  std::shared_ptr<Communicator> ranks_, group_;
  Coordinates groups_, place_, in_group_{};  // place_ in the grid of all ranks, in_group_ in that of the group
  int count_ = 1, own_ = 0;
};

}  // namespace quarksmith
