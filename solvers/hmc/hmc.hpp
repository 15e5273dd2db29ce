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
  std::vector<double> kinetic;               ///< energy at the start and the end
  std::vector<std::vector<double>> actions;  ///< of each monomial at the start and the end
  std::vector<std::vector<double>> forces;   ///< for each monomial, -tr F^2 summed over the lattice, at each kick
  double dh = 0;
  bool accepted = true;
  double plaquette = 0;  ///< of the links that it leaves, normalised to 1
  std::vector<MonomialWork> work;
  double seconds = 0;
};

/// Forces whose norms are reported: all, or the first of each monomial in a trajectory. Other forces are added to the
/// momenta directly; monomials with the same smeared links then share the derivative of the smearing.
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
  /// \param anisotropy steps of time links and of their momenta are those of others divided by it.
  /// \param look called before every kick. If it throws, as with any exception in a trajectory, the links are restored.
  Hmc(const GaugeLinks& start, const DomainPointer& domain, std::vector<std::unique_ptr<Monomial>> monomials,
      std::vector<IntegratorLevel> levels, double length, ForceNorms norms = ForceNorms::all, double anisotropy = 1,
      std::function<void()> look = {});

  /// Draws momenta and pseudofermions; reports kinetic energy, actions and plaquette.
  TrajectoryReport begin(Noise& noise);
  /// A whole trajectory. \param number between 0 and 1: accepted if it is below exp(-dH); none: always accepted.
  TrajectoryReport trajectory(Noise& noise, std::optional<double> number);
  /// Integrates a trajectory forwards and back, and restores the links.
  Reversibility reversibility(Noise& noise);

  const std::vector<std::unique_ptr<Monomial>>& monomials() const { return monomials_; }
  HostGauge links() const { return download(links_.field()); }
  double plaquette() const;

 private:
  void kick(const std::vector<int>& monomials, double step, double displacement, int count) override;
  void drift(double step) override { move(momenta_, step); }
  /// Moves the links along momenta or a force p; steps of time links are divided by the anisotropy squared.
  void move(const LinkField& p, double step);
  /// p with the matrices of time links multiplied by a factor; p itself if that is 1.
  std::shared_ptr<const LinkField> stretched(const LinkField& p, double factor) const;
  bool reports_norm(int monomial) const;
  /// Whether the forces of two monomials are taken back to the thin links together.
  bool join(int a, int b) const;
  /// out += step times the forces of some monomials.
  void add_forces(const std::vector<int>& monomials, double step, LinkField& out);
  /// Runs `work`, whose time counts for the monomial.
  void timed(int monomial, const std::function<void(Monomial&)>& work);
  /// Seconds of each monomial since the last call.
  std::vector<double> seconds_of_monomials();
  /// Momenta += step force; reports the norm of the force `count` times. Norms are summed later, several at once.
  void kick_with_norm(int monomial, double step, int count);
  void add_up_norms();
  /// Runs `work`; if it throws, restores the links.
  void or_restore(const std::function<void()>& work);
  /// Appends the present kinetic energy and actions to those of the report.
  void measure(TrajectoryReport& report);
  static double difference(const TrajectoryReport& report);

  EvolvingLinks links_;
  LinkField momenta_;  ///< those of time links times the anisotropy, so that kicks have one step
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
    std::size_t first;  ///< index in the report of the first of `count` norms
    int count;
    SiteSums sums;
  };
  std::vector<Norm> norms_due_;
  TrajectoryReport* report_ = nullptr;  ///< of the trajectory that is integrated
};

}  // namespace quarksmith
