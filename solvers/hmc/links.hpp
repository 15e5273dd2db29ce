/// \file
/// The links of a trajectory, and smeared links for operators.
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

/// The links of an operator: smeared several times by a statement (generator/actions/stout.py), then converted to a
/// representation.
struct StatedSmearing {
  std::string name;  ///< empty: none
  std::map<std::string, double> parameters;
  int steps = 0;
  Representation representation = Representation::fundamental;

  bool none() const { return name.empty() || steps == 0; }
  friend auto operator<=>(const StatedSmearing&, const StatedSmearing&) = default;
};

/// Links in double with all reals, with their smeared forms and other fields made from them, which are kept until the
/// links change.
class EvolvingLinks {
 public:
  /// \throws NotSU3 the links are not SU(N).
  EvolvingLinks(const GaugeLinks& start, const DomainPointer& domain);
  /// Replaces the links. Links that are in SU(N) only to single precision are projected to SU(N), as forces and
  /// operators read fewer than all reals.
  /// \throws NotSU3 they are not SU(N).
  void set(const GaugeLinks& links);

  const LinkField& field() const { return *links_; }
  const DomainPointer& domain() const { return domain_; }
  /// Changes whenever the links do.
  unsigned long long version() const { return version_; }
  /// The links, or smeared ones, for operators.
  const LinkStore& store(const StatedSmearing& smearing = {}) const;
  /// Fields of the smearing's statement after each step.
  const std::vector<StatementFields>& steps(const StatedSmearing& smearing) const;

  /// A field of zero momenta.
  LinkField cleared() const;
  /// Work space.
  const ScratchFields& scratch() const { return scratch_; }

  /// U = exp(step P) U
  void move(const LinkField& p, double step);
  /// Replaces the links by the nearest SU(3) matrices.
  void reunitarise();
  /// The present links, without a copy; restore() goes back to them.
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

/// A field of zero momenta or forces in double.
LinkField zero_momenta(const DomainPointer& domain, int colours);

}  // namespace quarksmith
