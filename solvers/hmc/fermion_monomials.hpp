/// \file
/// Terms of the action made of Dirac operators: pseudofermions and determinants of site terms.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "solvers/hmc/chronological.hpp"
#include "solvers/hmc/fermion_operator.hpp"
#include "solvers/hmc/monomial.hpp"
#include "solvers/hmc/rational.hpp"

namespace quarksmith {

class FermionForce;

/// Parameters that all pseudofermion monomials share.
struct FermionTerm {
  FermionParameters fermion;
  /// Whether the action includes the exact log det of the site terms that the even-odd form eliminates.
  bool log_det = true;
  double tol_force = 1e-10, tol_action = 1e-12;
  FermionSolver solver = {};
  /// Number of earlier solutions of a system from which solves for forces make their first guess; dropped at each heat
  /// bath.
  int chronological = 0;
};

/// Base class of pseudofermion monomials: fields, solves and their records.
class FermionMonomial : public Monomial {
 public:
  /// \param shifted whether its systems have shifts.
  FermionMonomial(std::string name, const FermionTerm& term, bool shifted = false)
      : Monomial(std::move(name)),
        term_(term),
        operator_(term.fermion, term.solver, shifted),
        earlier_(term.chronological) {}
  FermionMonomial* of_quarks() final { return this; }
  void refresh(Noise& noise, int number, const EvolvingLinks& links) final;
  double action(const EvolvingLinks& links) final;
  void force(const EvolvingLinks& links, double step, LinkField& out) final;

  /// Whether its force and that of another one can be added up before they are taken back to the thin links.
  bool joins(const FermionMonomial& other) const;
  /// Adds its force to the sum for monomials that it joins; the first monomial creates the sum.
  void join(const EvolvingLinks& links, std::unique_ptr<FermionForce>& sum);
  /// out += step times such a sum, taken back to the thin links.
  void take_back(FermionForce& sum, double step, LinkField& out);

 protected:
  /// Draws the pseudofermions for these links from noise eta. \return |eta|^2, their action.
  virtual double draw(Noise& noise, int number, const EvolvingLinks& links) = 0;
  /// The action of pseudofermions, and that of exact determinants.
  virtual double norm2(const EvolvingLinks& links) = 0;
  virtual double determinants(const EvolvingLinks& links) = 0;
  /// Bound of the relative deviation of norm2 of the drawn field from |eta|^2.
  virtual double miss() const { return term_.tol_action; }
  /// |eta|^2 of pseudofermions that were drawn on these links.
  std::optional<double> noise_on(const EvolvingLinks& links) const {
    return drawn_ && drawn_->first == links.version() ? std::optional(drawn_->second) : std::nullopt;
  }
  /// Adds its force; the sum has been switched to its operator.
  virtual void add_force(const EvolvingLinks& links, FermionForce& sum) = 0;
  /// x = (M^+ M)^-1 b for a force on these links. \return M x, valid until the next call.
  const SpinorField& solve_for_force(SpinorField& x, const SpinorField& b, const EvolvingLinks& links);
  /// |(M^+)^-1 b|^2 for the action; reuses the solution of the last force, if that was on the same links.
  double solve_for_action(const SpinorField& b, const EvolvingLinks& links);

  FermionTerm term_;
  FermionOperator operator_;
  SolveWork solves_;

 private:
  template <class Work>
  void recorded(const Work& work);
  ChronologicalGuess earlier_;
  /// (M^+)^-1 b of the last force, and the version of its links.
  std::optional<SpinorField> image_;
  std::optional<unsigned long long> image_version_;
  /// The version of the links at the last heat bath, and |eta|^2.
  std::optional<std::pair<unsigned long long, double>> drawn_;
};

/// Two flavours: S = |(M^+)^-1 phi|^2, for det(M^+ M); phi = M^+ eta.
class TwoFlavourMonomial final : public FermionMonomial {
 public:
  using FermionMonomial::FermionMonomial;

 private:
  double draw(Noise& noise, int number, const EvolvingLinks& links) override;
  double norm2(const EvolvingLinks& links) override;
  double determinants(const EvolvingLinks& links) override;
  void add_force(const EvolvingLinks& links, FermionForce& sum) override;
  std::optional<SpinorField> phi_;
};

/// A ratio of determinants: S = |(M^+)^-1 M_d^+ phi|^2, for det(M^+ M) / det(M_d^+ M_d); M_d^+ phi = M^+ eta (M.
/// Hasenbusch, hep-lat/0107019).
class RatioMonomial final : public FermionMonomial {
 public:
  /// Solves with the denominator, one for each heat bath, are those of heavier quarks.
  RatioMonomial(std::string name, const FermionTerm& term, const FermionParameters& denominator)
      : FermionMonomial(std::move(name), term), denominator_(denominator, of_heavy(term.solver)) {}

 private:
  static FermionSolver of_heavy(FermionSolver solver) {
    if (solver.method->cycle_fields > 0) solver.method = Method::automatic;
    return solver;
  }
  double draw(Noise& noise, int number, const EvolvingLinks& links) override;
  double norm2(const EvolvingLinks& links) override;
  double determinants(const EvolvingLinks& links) override;
  void add_force(const EvolvingLinks& links, FermionForce& sum) override;
  FermionOperator denominator_;
  std::optional<SpinorField> phi_;
};

/// Rational functions of a monomial: phi = heatbath(A) eta, S = |action(A) phi|^2, A = M^+ M; the force is that of
/// phi^+ force(A) phi (M. A. Clark and A. D. Kennedy, hep-lat/0608015).
struct RationalFunctions {
  RationalFunction heatbath, action, force;
  /// Range of eigenvalues of A for which the functions hold; empty if they were given without one.
  std::optional<Interval> range = std::nullopt;
  double error = 0;       ///< relative error in this range of the action of pseudofermions from the heat bath
  bool is_whole = false;  ///< whether S = phi^+ action(A) phi instead, where action(A) decreases with A; needs a range
};

class RationalMonomial final : public FermionMonomial {
 public:
  /// \param fields pseudofermions. \param flavours of the exact log det.
  RationalMonomial(std::string name, const FermionTerm& term, RationalFunctions functions, int fields, double flavours)
      : FermionMonomial(std::move(name), term, true),
        functions_(std::move(functions)),
        fields_(fields),
        flavours_(flavours) {}

 private:
  double draw(Noise& noise, int number, const EvolvingLinks& links) override;
  double norm2(const EvolvingLinks& links) override;
  double determinants(const EvolvingLinks& links) override;
  void add_force(const EvolvingLinks& links, FermionForce& sum) override;
  double miss() const override;
  /// Checks the range against the Ritz values of the last solve. \throws Error the spectrum reaches beyond it.
  void require_covered() const;
  /// Tolerances of residuals in the solves for the poles of a function: pole_tolerances, if the range is known.
  std::vector<double> tolerances(const RationalFunction& r, double tolerance, int order) const;
  /// out = r(A) in
  void apply(const RationalFunction& r, SpinorField& out, const SpinorField& in, double tolerance);
  /// phi^+ action(A) phi
  double whole_action(const SpinorField& phi);

  RationalFunctions functions_;
  int fields_;
  double flavours_;
  std::optional<SpinorField> phi_;  // a right-hand side each
  double noise_ = 0;                // |eta|^2 of all
};

/// The determinant of the site term: S = -flavours log |det T| on some sites.
class LogDetMonomial final : public FermionMonomial {
 public:
  LogDetMonomial(std::string name, const FermionTerm& term, double flavours, Subset sites)
      : FermionMonomial(std::move(name), term), flavours_(flavours), sites_(sites) {}

 private:
  double draw(Noise&, int, const EvolvingLinks&) override { return 0; }
  double norm2(const EvolvingLinks&) override { return 0; }
  double determinants(const EvolvingLinks& links) override;
  void add_force(const EvolvingLinks& links, FermionForce& sum) override;
  double flavours_;
  Subset sites_;
};

}  // namespace quarksmith
