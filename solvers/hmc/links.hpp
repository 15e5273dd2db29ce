/// \file
/// The links of a trajectory, and what operators make of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/actions/link_store.hpp"
#include "solvers/links/link_program.hpp"
#include "solvers/links/representation.hpp"

namespace quarksmith {

/// The links of an operator: smeared by a statement of the table (generator/actions/stout.py) a number of times, then
/// in its representation.
struct StatedSmearing {
  std::string name;  ///< empty: none
  std::map<std::string, double> parameters;
  int steps = 0;
  Representation representation = Representation::fundamental;

  bool none() const { return name.empty() || steps == 0; }
  friend auto operator<=>(const StatedSmearing&, const StatedSmearing&) = default;
};

/// Links in double with all reals, their smeared forms and other fields made of them, which are kept until they move.
class EvolvingLinks {
 public:
  /// \throws NotSU3 the links are not SU(N).
  EvolvingLinks(const HostGauge& start, const DomainPointer& domain);
  /// Replaces the links. Links in SU(N) to single precision only become the nearest that are to rounding: forces and
  /// operators read fewer than all reals.
  /// \throws NotSU3 they are not SU(N).
  void set(const HostGauge& links);

  const LinkField& field() const { return *links_; }
  const DomainPointer& domain() const { return domain_; }
  /// Changes whenever the links do.
  unsigned long long version() const { return version_; }
  /// The links, or smeared ones, for operators.
  const LinkStore& store(const StatedSmearing& smearing = {}) const;
  /// Fields of the smearing's statement after each step.
  const std::vector<StatementFields>& steps(const StatedSmearing& smearing) const;

  /// Momenta that are zero.
  LinkField cleared() const;
  /// Work space.
  const ScratchFields& scratch() const { return scratch_; }

  /// U = exp(step P) U
  void move(const LinkField& p, double step);
  /// The nearest SU(3) matrices.
  void reunitarise();
  /// The present links, and back to them: they are not copied.
  std::shared_ptr<const LinkField> keep() const { return links_; }
  void restore(std::shared_ptr<const LinkField> links) { replace(std::move(links)); }

 private:
  void replace(std::shared_ptr<const LinkField> links);

  DomainPointer domain_;
  std::shared_ptr<const LinkField> links_;
  unsigned long long version_ = 0;
  ScratchFields scratch_;
  struct Smeared {
    std::vector<StatementFields> steps;
    LinkStore store;
  };
  const Smeared& smeared(const StatedSmearing& smearing) const;

  mutable std::map<StatedSmearing, Smeared> smeared_;
};

/// The program of one step of a smearing, and the number of the field that it makes.
LinkProgram program_of(const StatedSmearing& smearing);
int smeared_field(const ActionInfo& smearing);

/// Momenta in double, or a force, that are zero.
LinkField zero_momenta(const DomainPointer& domain, int colours);

}  // namespace quarksmith
