/// \file
/// Terms of the action of molecular dynamics.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/hmc/links.hpp"
#include "solvers/hmc/noise.hpp"

namespace quarksmith {

/// What a monomial did since it was last asked.
struct MonomialWork {
  long long iterations = 0;  ///< of its solves
  double seconds = 0;        ///< of forces, actions and heat baths; Hmc measures them
  double solve_seconds = 0;  ///< of that its solves
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
  /// Itself if it is of quarks with pseudofermions; null for others.
  virtual FermionMonomial* of_quarks() { return nullptr; }

  /// Draws its pseudofermions, if it has any. The number is that of the monomial among all.
  virtual void refresh(Noise&, int /*number*/, const EvolvingLinks&) {}
  virtual double action(const EvolvingLinks& links) = 0;
  /// out += step dP/dtau of this term: 1/2 [U G]_TA with dS = sum Re tr(dU G), [A]_TA = (A - A^+)/2 minus its trace.
  /// \throws MissingKernel the build has no force of it.
  virtual void force(const EvolvingLinks& links, double step, LinkField& out) = 0;

  /// What it did so far; then begins anew.
  MonomialWork work() { return std::exchange(work_, {}); }

 protected:
  MonomialWork work_;

 private:
  std::string name_;
};

/// Loops of a gauge action, S = -1/3 sum of c Re tr, or 1/3 sum of c (3 - Re tr), and their coefficients c; then what
/// is not linear in them.
struct GaugeLoops {
  std::array<double, 6> planes{};  ///< of plaquettes: xy, xz, yz, xt, yt, zt
  /// Of 2x1 loops in these planes: those long in the first direction of the plane, and in the second.
  std::array<std::array<double, 2>, 6> rectangles{};
  double chair = 0;
  /// Of plaquettes in the planes xy, xz, yz and those ahead of them in t: -c/18 Re tr U_p(x) Re tr U_p(x + t).
  std::array<double, 3> two_plaquettes{};
  /// Of all plaquettes: -1/9 (c_0 |tr U_p|^2 + c_1 Re (tr U_p)^2).
  std::array<double, 2> squares{};
  bool constant = false;  ///< with the constant that makes S of unit links 0

  void all_rectangles(double c) { rectangles.fill({c, c}); }
  bool has_rectangles() const { return rectangles != decltype(rectangles){}; }
  bool has_squares() const { return squares != decltype(squares){}; }
};

/// out += step dP/dtau of these loops, as Monomial::force. \param scratch for what a plane needs.
void add_gauge_force(const GaugeLoops& loops, const LinkField& links, const ScratchFields& scratch, double step,
                     LinkField& out);

class GaugeMonomial final : public Monomial {
 public:
  GaugeMonomial(std::string name, const GaugeLoops& loops) : Monomial(std::move(name)), loops_(loops) {}
  double action(const EvolvingLinks& links) override;
  void force(const EvolvingLinks& links, double step, LinkField& out) override;

 private:
  GaugeLoops loops_;
};

}  // namespace quarksmith
