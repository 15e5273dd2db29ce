/// \file
/// Monomials: the terms of the action of molecular dynamics.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/gauge/gauge_action.hpp"
#include "solvers/hmc/links.hpp"
#include "solvers/hmc/noise.hpp"

namespace quarksmith {

/// Work of a monomial since the last query.
struct MonomialWork {
  long long iterations = 0;  ///< of its solves
  double seconds = 0;        ///< of forces, actions and heat baths; Hmc measures them
  double solve_seconds = 0;  ///< part of `seconds` in its solves
  int fallbacks = 0;         ///< solves that another method or precision ended (solvers/hmc/fermion_solvers.hpp)
  int refreshes = 0;         ///< times that near-null vectors of multigrid were made, or adapted to the links
  long long damped = 0;      ///< links whose projection on U(3) was damped in its forces
};

class FermionMonomial;

/// One term of the action: its heat bath, its value and its force.
class Monomial {
 public:
  explicit Monomial(std::string name) : name_(std::move(name)) {}
  virtual ~Monomial() = default;
  const std::string& name() const { return name_; }
  /// This monomial if it has pseudofermions, else null.
  virtual FermionMonomial* of_quarks() { return nullptr; }

  /// Draws the pseudofermions of the monomial, if it has any. The number is its index among all monomials.
  virtual void refresh(Noise&, int /*number*/, const EvolvingLinks&) {}
  virtual double action(const EvolvingLinks& links) = 0;
  /// out += step dP/dtau of this term: 1/2 [U G]_TA with dS = sum Re tr(dU G), [A]_TA = (A - A^+)/2 minus its trace.
  /// \throws MissingKernel the build lacks a kernel of the force.
  virtual void force(const EvolvingLinks& links, double step, LinkField& out) = 0;

  /// Returns the work so far and starts counting anew.
  MonomialWork work() { return std::exchange(work_, {}); }

 protected:
  MonomialWork work_;

 private:
  std::string name_;
};

/// The gauge action.
class GaugeMonomial final : public Monomial {
 public:
  GaugeMonomial(std::string name, const GaugeLoops& loops) : Monomial(std::move(name)), loops_(loops) {}
  double action(const EvolvingLinks& links) override { return gauge_action(loops_, links.field()); }
  void force(const EvolvingLinks& links, double step, LinkField& out) override {
    add_gauge_force(loops_, links.field(), links.scratch(), step, out);
  }

 private:
  GaugeLoops loops_;
};

}  // namespace quarksmith
