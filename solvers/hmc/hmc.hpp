/// \file
/// Hybrid Monte Carlo (S. Duane, A. D. Kennedy, B. J. Pendleton and D. Roweth, Phys. Lett. B 195 (1987) 216).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/fields/site_sums.hpp"
#include "solvers/hmc/integrator.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {

/// Report of a trajectory.
struct TrajectoryReport {
  std::vector<double> kinetic;               ///< at the start and the end
  std::vector<std::vector<double>> actions;  ///< of each monomial likewise
  std::vector<std::vector<double>> forces;   ///< of each monomial -tr F^2 of the lattice at each kick of the scheme
  double dh = 0;
  bool accepted = true;
  double plaquette = 0;  ///< of the links that it leaves, normalised to 1
  std::vector<MonomialWork> work;
  double seconds = 0;
};

/// Forces whose norms are reported: each, or the first of each monomial in a trajectory. The others go to the momenta
/// at once, those of monomials that join taken back to the thin links together.
enum class ForceNorms { all, first };

/// How far the links and H are from where they were after a trajectory there and back.
struct Reversibility {
  double links = 0;  ///< largest |difference| of an element
  double dh = 0;
};

/// The links of a run and its trajectories.
class Hmc final : private Dynamics {
 public:
  /// \throws UsageError more monomials than GaussianNoise has streams.
  /// \param norms of forces that trajectories report.
  /// \param anisotropy steps of links in time and of their momenta are those of others divided by it.
  /// \param look called before every kick: what it throws, as whatever ends a trajectory, leaves the links as they
  /// were.
  Hmc(const HostGauge& start, const DomainPointer& domain, std::vector<std::unique_ptr<Monomial>> monomials,
      std::vector<IntegratorLevel> levels, double length, ForceNorms norms = ForceNorms::all, double anisotropy = 1,
      std::function<void()> look = {});

  /// Momenta and pseudofermions anew; kinetic energy and actions.
  TrajectoryReport begin(Noise& noise);
  /// A whole trajectory. It is accepted if the number, between 0 and 1, is below exp(-dH); without one always.
  TrajectoryReport trajectory(Noise& noise, std::optional<double> number);
  /// A trajectory there and back, which leaves the links as they were.
  Reversibility reversibility(Noise& noise);

  const std::vector<std::unique_ptr<Monomial>>& monomials() const { return monomials_; }
  HostGauge links() const { return download(links_.field()); }
  double plaquette() const;

 private:
  void kick(const std::vector<int>& monomials, double step, double displacement, int count) override;
  void drift(double step) override { move(momenta_, step); }
  /// The links along P, or along a force: steps in time are smaller.
  void move(const LinkField& p, double step);
  /// P with its matrices in time times a factor; P itself for 1.
  std::shared_ptr<const LinkField> stretched(const LinkField& p, double factor) const;
  bool reports_norm(int monomial) const;
  /// Whether the forces of two monomials are taken back to the thin links together.
  bool join(int a, int b) const;
  /// out += step times the forces of some monomials.
  void add_forces(const std::vector<int>& monomials, double step, LinkField& out);
  /// Runs `work`, whose time counts for the monomial.
  void timed(int monomial, const std::function<void(Monomial&)>& work);
  /// Since the trajectory began.
  std::vector<double> seconds_of_monomials();
  /// Momenta += step force; reports the norm of that, so many times: it is added up later, some together.
  void kick_with_norm(int monomial, double step, int count);
  void add_up_norms();
  /// Runs `work`; if it throws, the links are again what they were.
  void or_restore(const std::function<void()>& work);
  /// The energies at the end of the vectors of the report; returns their sum.
  void measure(TrajectoryReport& report);
  static double difference(const TrajectoryReport& report);

  EvolvingLinks links_;
  LinkField momenta_;  ///< in time times the anisotropy, so that kicks have one step
  LinkField force_;
  std::vector<std::unique_ptr<Monomial>> monomials_;
  std::vector<IntegratorLevel> levels_;
  double length_;
  ForceNorms norms_;
  double anisotropy_;
  std::function<void()> look_;
  struct Time {
    int monomial;
    std::unique_ptr<TimeMark> begin, end;
  };
  std::vector<Time> times_;
  struct Norm {
    int monomial;
    std::size_t first;  ///< of its places in the report
    int count;
    SiteSums sums;
  };
  std::vector<Norm> norms_due_;
  TrajectoryReport* report_ = nullptr;  ///< of the trajectory that is integrated
};

}  // namespace quarksmith
