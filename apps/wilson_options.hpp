/// \file
/// Options of the commands that solve with Wilson operators: the action and the solver.
#pragma once

#include <map>

#include "apps/domain_wall_options.hpp"
#include "apps/options.hpp"
#include "solvers/krylov/solve.hpp"

namespace quarksmith::apps {

/// Boundary phases.
using Phases = std::array<Complex64, directions>;

/// An action by the options of a command.
struct ActionChoice {
  std::shared_ptr<const Action> action;
  Phases boundary;
  std::map<std::string, std::string> provenance;  ///< names and values of its parameters
  std::string solver = "auto";                    ///< that serves it best
};

/// Which operator on which links.
struct ActionOptions {
  std::string gauge, lattice, action = "wilson", boundary, anisotropy = "1,1", flavours = "0,0";
  double mass = 0, kappa = 0, csw = 0, csw_r = 0, csw_t = 0, mu = 0, epsilon = 0, u0 = 1, naik_epsilon = 0;
  std::vector<double> masses;  ///< of staggered actions, `mass` the first
  DomainWallOptions wall;
  bool allow_non_su3 = false;

  void add_to(CLI::App& command);
  /// \throws UsageError options that contradict each other.
  void check(const CLI::App& command) const;
  /// \throws UsageError likewise.
  ActionChoice choose(const CLI::App& command, const HostGauge& gauge, const CommonOptions& common) const;
  ActionChoice choose(const CLI::App& command, const Phases& boundary) const;
  /// The parameters of actions of the Wilson type.
  WilsonParameters parameters(const CLI::App& command, const Phases& boundary) const;
  /// The method that is used unless another is named.
  std::string default_solver() const;

 private:
  ActionChoice choose_staggered(const Phases& boundary) const;
  ActionChoice choose_stated(const ActionInfo& info, const CLI::App& command, const Phases& boundary) const;
  double one_mass(const CLI::App& command) const;
  void set_clover(WilsonParameters& p, const CLI::App& command) const;
  void set_twist(Twist& twist, const CLI::App& command) const;
};

/// periodic, antiperiodic (in time) or four phases in units of pi.
Phases boundary_phases(const std::string& text);
/// The boundary condition asked for; without one, the phase found in the links, else antiperiodic in time.
Phases choose_boundary(const std::string& boundary, const HostGauge& gauge, const CommonOptions& common);
/// Phases for provenance.
std::string text_of(const Phases& phases);

/// The choices of a solve by the names of their options.
inline const ChoiceNames option_names = {"a larger --max-iterations", "--solver cg", "--precision double",
                                         "a larger --tol"};

/// One line if the stored links miss those of the configuration.
void tell(const LinkDeviation& deviation, const SolveSettings& settings, const CommonOptions& common);

/// How a solve is made, but for method and precision.
struct SolverChoices {
  std::string even_odd = "symmetric", reconstruct = "12", basis = "non_relativistic", updates = "reliable",
              preconditioner = "none";
  double tolerance = 1e-10, delta = 0;
  int max_iterations = 10000;
  MethodParameters parameters;

  void add_to(CLI::App& command);
  /// \throws UsageError a name that does not exist, or a number out of its range.
  void check() const;
  /// Links that are not SU(3) are stored with 18 reals, unless the command line says otherwise.
  /// \throws UsageError an even-odd form is asked for that the action does not have.
  SolveSettings settings(const CLI::App& command, const HostGauge& gauge, const Action& action,
                         const CommonOptions& common) const;
};

}  // namespace quarksmith::apps
