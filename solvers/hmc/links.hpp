/// \file
/// The links of a trajectory, and what operators make of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/actions/action.hpp"

namespace quarksmith {

/// Stout smearing of the links of an operator (C. Morningstar and M. Peardon, hep-lat/0311018).
struct StoutLinks {
  double rho = 0;
  int steps = 0;
  bool space = false;  ///< links in space alone, with staples in space

  friend auto operator<=>(const StoutLinks&, const StoutLinks&) = default;
};

/// Links in double with all reals, their smeared forms and other fields made of them, which are kept until they move.
class EvolvingLinks {
 public:
  /// \throws NotSU3 the links are not SU(3).
  EvolvingLinks(const HostGauge& start, const DomainPointer& domain);

  const LinkField& field() const { return *links_; }
  const DomainPointer& domain() const { return links_->domain_pointer(); }
  /// Another number whenever the links are others.
  unsigned long long version() const { return version_; }
  /// For operators on these links, or on smeared ones.
  const LinkStore& store(const StoutLinks& stout = {}) const;
  /// After each step of smearing, the thin ones first.
  const std::vector<std::shared_ptr<const LinkField>>& steps(const StoutLinks& stout) const;

  /// A field of matrices that are zero.
  LinkField cleared() const;
  /// One to work in, not initialised. Its memory stays for the next one when the last holder lets go.
  std::shared_ptr<LinkField> scratch(const DomainPointer& domain) const;

  /// U = exp(step P) U
  void move(const LinkField& p, double step);
  /// The nearest SU(3) matrices.
  void reunitarise();
  /// The present links, and back to them: they are not copied.
  std::shared_ptr<const LinkField> keep() const { return links_; }
  void restore(std::shared_ptr<const LinkField> links) { replace(std::move(links)); }

 private:
  void replace(std::shared_ptr<const LinkField> links);

  std::shared_ptr<const LinkField> links_;
  unsigned long long version_ = 0;
  using Idle = std::vector<std::unique_ptr<LinkField>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
  struct Smeared {
    std::vector<std::shared_ptr<const LinkField>> steps;
    LinkStore store;
  };
  const Smeared& smeared(const StoutLinks& stout) const;

  mutable std::map<StoutLinks, Smeared> smeared_;
};

}  // namespace quarksmith
