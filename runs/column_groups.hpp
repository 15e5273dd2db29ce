/// \file
/// Groups of ranks that solve for different columns at a time.
#pragma once

#include "runs/stops.hpp"
#include "runtime/ranks/rank_groups.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

/// Adds the member `split`. \param otherwise what happens without it.
void list_split(Members::Adder add, std::string& split, const std::string& otherwise);

/// The groups with which columns are expected to be solved for soonest; 1, 1, 1, 1: all ranks together. A column takes
/// a time as the sites of a group's local lattice, those at its boundaries to other ranks counted twice. Groups take
/// local lattices of at most most_group_sites, since each rank then holds that much of the lattice, and have to save a
/// tenth.
Coordinates soonest_groups(const Lattice& lattice, int columns);
constexpr double most_group_sites = 65536;

/// Whether columns have the same bits whichever ranks solve for them: on processors, in double and single, by methods
/// that take each column by itself.
bool are_independent(const SolveSettings& settings, const Device& device);

/// Groups of ranks, the links of each, and its session.
class ColumnGroups {
 public:
  /// Collective. \param counts of groups along each direction. \param all domain of the columns.
  /// \throws UsageError `counts` do not divide the grid.
  ColumnGroups(const Coordinates& counts, const NamedGauge& of_all, DomainPointer all, Session& session);
  /// The groups that `split` names; without it soonest_groups, if `free`. Null: all ranks solve together.
  static std::unique_ptr<ColumnGroups> chosen(const std::string& split, const std::string& member, bool free,
                                              int columns, const NamedGauge& of_all, const DomainPointer& all,
                                              Session& session);

  int count() const { return groups_.count(); }
  const DomainPointer& all() const { return all_; }
  /// Of the group of this rank.
  const NamedGauge& named() const { return named_; }
  const DomainPointer& domain() const { return own_; }
  Session& session() { return session_; }

  /// Does the work of all groups. \throws what one of them has thrown, on all ranks. \param stops ends it together.
  void together(const std::function<void()>& work, Stops* stops = nullptr) const;
  /// Solves for columns b: number n is of group n modulo their number. Fields in double of all sites come and go column
  /// by column. \param x solutions, and other fields with a column for each. \param begins the first of them is a
  /// guess. \param solve for the columns of this group.
  using Solve = std::function<std::vector<SolveReport>(const SpinorField& b, std::vector<SpinorField>& x)>;
  std::vector<SolveReport> solve(const SpinorField& b, const std::vector<SpinorField*>& x, bool begins,
                                 const Solve& solve, Stops* stops = nullptr) const;

 private:
  template <class Visit>
  void in_turn(int columns, const Lattice& lattice, int colours, const Visit& visit) const;
  void hand_out(const SpinorField& from, SpinorField* to) const;
  void bring_back(const SpinorField* from, SpinorField& to) const;

  RankGroups groups_;
  NamedGauge named_;
  DomainPointer all_, own_;
  Session session_;
};

}  // namespace quarksmith::runs
