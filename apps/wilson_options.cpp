#include "apps/staggered_options.hpp"
#include "apps/stated_options.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith::apps {

Phases boundary_phases(const std::string& text) {
  if (text == "periodic") return {1, 1, 1, 1};
  if (text == "antiperiodic") return {1, 1, 1, -1};
  Phases phases;
  const std::array<double, 4> angles = four_numbers(text, "--boundary (periodic, antiperiodic or a,b,c,d)");
  for (int mu = 0; mu < directions; ++mu) phases[mu] = WilsonParameters::phase_of(angles[mu]);
  return phases;
}

Phases choose_boundary(const std::string& boundary, const HostGauge& gauge, const CommonOptions& common) {
  const bool in_file = gauge.phase != Phases{1, 1, 1, 1};
  if (!boundary.empty()) {
    if (in_file) common.info("--boundary replaces the boundary phase that was found in the links");
    return boundary_phases(boundary);
  }
  return in_file ? gauge.phase : boundary_phases("antiperiodic");
}

std::string text_of(const Phases& phases) {
  std::string text;
  for (const Complex64& z : phases) text += fmt::format("{:.17g}{:+.17g}i ", z.real(), z.imag());
  return text;
}

void ActionOptions::add_to(CLI::App& c) {
  c.add_option("--gauge", gauge,
               "FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED, hot:X,Y,Z,T:SEED or peer-random:X,Y,Z,T:SEED")
      ->required();
  c.add_option("--lattice", lattice, "extents X,Y,Z,T, for files that do not record them");
  add_allow_non_su3(c, allow_non_su3);
  c.add_option(
       "--action", action,
       "wilson, clover, twisted-mass, twisted-clover, domain-wall, moebius, staggered, asqtad, hisq" + more_actions())
      ->capture_default_str();
  const auto read_masses = [this](const std::string& text) {
    masses.clear();
    for (const std::string& one : split(text, ',')) masses.push_back(number(one, "--mass"));
    mass = masses[0];
  };
  c.add_option_function<std::string>("--mass", read_masses,
                                     "bare mass m; M = m + 1 + 3 nu/xi0 - D/2; of domain-wall quarks their mass; "
                                     "staggered: M = 2m + D, several masses M1,M2,...");
  c.add_option("--kappa", kappa, "instead of --mass: m = 1/(2 kappa) - 4");
  c.add_option("--csw", csw, "clover coefficient");
  c.add_option("--csw-r", csw_r, "clover coefficient of space planes, divided by xi0 there");
  c.add_option("--csw-t", csw_t, "clover coefficient of time planes");
  c.add_option("--mu", mu,
               "twisted mass: M + i mu gamma_5, also with --kappa in the normalisation of the mass (codes that write "
               "2 kappa mu beside 1 - kappa D mean this mu); gamma_5 = gamma_x gamma_y gamma_z gamma_t");
  c.add_option("--epsilon", epsilon, "two flavours, split: M + i mu gamma_5 tau_3 + epsilon tau_1");
  c.add_option("--flavours", flavours, "of the two, 0 or 1: SOURCE,SINK")->capture_default_str();
  c.add_option("--anisotropy", anisotropy, "xi0,nu")->capture_default_str();
  wall.add_to(c);
  c.add_option("--u0", u0, "tadpole factor of asqtad")->capture_default_str();
  c.add_option("--naik-epsilon", naik_epsilon, "epsilon of the long links of hisq")->capture_default_str();
  add_stated_options(c);
  c.add_option("--boundary", boundary, "periodic, antiperiodic (default) or phases a,b,c,d in units of pi");
}

void ActionOptions::check(const CLI::App& command) const {
  choose(command, boundary_phases(boundary.empty() ? "periodic" : boundary));
}

std::string ActionOptions::default_solver() const {
  return is_staggered(action) || DomainWallOptions::has(action) ? "cg" : "auto";
}

ActionChoice ActionOptions::choose(const CLI::App& command, const HostGauge& links, const CommonOptions& common) const {
  require_su3(links, gauge, allow_non_su3, common);
  return choose(command, choose_boundary(boundary, links, common));
}

ActionChoice ActionOptions::choose(const CLI::App& command, const Phases& phases) const {
  if (is_staggered(action)) return choose_staggered(phases);
  if (const ActionInfo* info = stated_action(action)) return choose_stated(*info, command, phases);
  if (DomainWallOptions::has(action)) {
    const auto p = wall.parameters(one_mass(command), phases);
    ActionChoice choice{std::make_shared<DomainWallAction>(p), p.boundary, {{"action", action}}, default_solver()};
    choice.provenance.merge(DomainWallOptions::provenance(p));
    choice.provenance.emplace("boundary", text_of(p.boundary));
    return choice;
  }
  const WilsonParameters p = parameters(command, phases);
  ActionChoice choice{std::make_shared<WilsonAction>(p), p.boundary, {{"action", action}}, default_solver()};
  for (const auto& [name, value] : {std::pair{"mass", p.mass},
                                    {"xi0", p.xi0},
                                    {"nu", p.nu},
                                    {"csw_r", p.csw_r},
                                    {"csw_t", p.csw_t},
                                    {"mu", p.twist.mu},
                                    {"epsilon", p.twist.epsilon}})
    choice.provenance.emplace(name, fmt::format("{:.17g}", value));
  choice.provenance.emplace("boundary", text_of(p.boundary));
  if (p.twist.flavours > 1) choice.provenance.emplace("flavours", flavours);
  return choice;
}

ActionChoice ActionOptions::choose_stated(const ActionInfo& info, const CLI::App& command, const Phases& phases) const {
  if (masses.size() > 1) one_mass(command);  // tells that there is one
  const ActionValues values = stated_values(info, command);
  ActionChoice choice{make_stated(values, phases), phases, {{"action", action}}, default_solver()};
  for (std::size_t n = 0; n < info.parameters.size(); ++n)
    choice.provenance.emplace(info.parameters[n].name, fmt::format("{:.17g}", values.all()[n]));
  choice.provenance.emplace("boundary", text_of(phases));
  return choice;
}

/// The mass of actions that take one.
double ActionOptions::one_mass(const CLI::App& command) const {
  if (masses.size() > 1)
    throw UsageError(fmt::format("--mass {}: several masses belong to staggered, asqtad and hisq; give one",
                                 command.get_option("--mass")->as<std::string>()));
  if (masses.empty()) throw UsageError(fmt::format("--action {} needs --mass M", action));
  return mass;
}

WilsonParameters ActionOptions::parameters(const CLI::App& command, const Phases& phases) const {
  if (action != "wilson" && action != "clover" && action != "twisted-mass" && action != "twisted-clover")
    throw UsageError(
        fmt::format("action '{}' is unknown; use wilson, clover, twisted-mass, twisted-clover, domain-wall, moebius, "
                    "staggered, asqtad, hisq{}",
                    action, more_actions()));
  if ((command.count("--mass") > 0) == (command.count("--kappa") > 0))
    throw UsageError(fmt::format("{} needs exactly one of --mass and --kappa", command.get_name()));
  WilsonParameters p;
  if (command.count("--kappa") > 0) {
    if (!(kappa > 0)) throw UsageError(fmt::format("--kappa {}: use a positive number", kappa));
    p.mass = WilsonParameters::mass_of_kappa(kappa);
  } else {
    p.mass = one_mass(command);
  }
  const auto ratios = split(anisotropy, ',');
  if (ratios.size() != 2) throw UsageError(fmt::format("--anisotropy '{}' is not xi0,nu", anisotropy));
  p.xi0 = number(ratios[0], "--anisotropy");
  p.nu = number(ratios[1], "--anisotropy");
  if (!(p.xi0 > 0) || !(p.nu > 0)) throw UsageError(fmt::format("--anisotropy {}: both must be positive", anisotropy));
  p.boundary = phases;
  set_clover(p, command);
  set_twist(p.twist, command);
  return p;
}

void ActionOptions::set_clover(WilsonParameters& p, const CLI::App& command) const {
  if (action != "clover" && action != "twisted-clover") return;
  const std::size_t isotropic = command.count("--csw"), space = command.count("--csw-r"),
                    time = command.count("--csw-t");
  if (isotropic + space == 0 || (isotropic > 0) == (time > 0) || space != time)
    throw UsageError(fmt::format("--action {} needs --csw C, or both --csw-r and --csw-t", action));
  p.csw_r = isotropic > 0 ? csw : csw_r;
  p.csw_t = isotropic > 0 ? csw : csw_t;
}

void ActionOptions::set_twist(Twist& twist, const CLI::App& command) const {
  const bool doublet = command.count("--epsilon") > 0;
  if (action.starts_with("twisted") && command.count("--mu") == 0)
    throw UsageError(fmt::format("--action {} needs --mu MU", action));
  if (!doublet && command.count("--flavours") > 0)
    throw UsageError("--flavours belongs to two flavours, which --epsilon makes");
  twist.mu = mu;
  twist.epsilon = epsilon;
  twist.flavours = doublet ? 2 : 1;
  const auto chosen = split(flavours, ',');
  for (const std::string& f : chosen)
    if (chosen.size() != 2 || (f != "0" && f != "1"))
      throw UsageError(fmt::format("--flavours '{}' is not SOURCE,SINK, each 0 or 1", flavours));
  twist.source = chosen[0] == "1";
  twist.sink = chosen[1] == "1";
}

void SolverChoices::add_to(CLI::App& c) {
  c.add_option("--even-odd", even_odd, "symmetric, asymmetric or none")->capture_default_str();
  c.add_option(
       "--updates", updates,
       "of mixed precision: reliable, replacement (both replace the residual by the true one), defect (correction)")
      ->capture_default_str();
  c.add_option("--delta", delta,
               "fall of the residual between updates, or accuracy of a correction (default: by the precision)");
  c.add_option("--reconstruct", reconstruct,
               "reals a link: 18, 12, 8, or in temporal gauge 18t, 12t (default: 12, 18 if not SU(3))");
  c.add_option("--basis", basis, "gamma basis of the kernels; results are in degrand_rossi")->capture_default_str();
  c.add_option("--tol", tolerance, "|b - M x| / |b|")->capture_default_str();
  c.add_option("--restart", parameters.restart, "directions that gcr keeps")->capture_default_str();
  c.add_option("--bicgstab-l", parameters.l, "l of bicgstab-l, 1 to 4")->capture_default_str();
  c.add_option("--omega", parameters.omega, "over-relaxation of mr")->capture_default_str();
  c.add_option("--preconditioner", preconditioner,
               "of gcr: none, METHOD:STEPS, for example mr:4, or schwarz-METHOD:STEPS, each rank by itself; "
               "--precision double-single-half runs it in the third")
      ->capture_default_str();
  c.add_option("--max-iterations", max_iterations, "a column")->capture_default_str();
}

void SolverChoices::check() const {
  reduction_of(even_odd);
  updates_of(updates);
  find_basis(basis);
  find_storage("r" + reconstruct);
  if (!(tolerance > 0 && tolerance < 1))
    throw UsageError(fmt::format("--tol: tolerance {}; use a positive number below 1", tolerance));
  if (max_iterations < 1) throw UsageError(fmt::format("{} iterations at most; use at least 1", max_iterations));
  if (!(delta >= 0 && delta < 1)) throw UsageError(fmt::format("--delta {}; use a number between 0 and 1", delta));
  quarksmith::check(preconditioner_of(preconditioner) ? Method::gcr : Method::cg, parameters);
}

void tell(const LinkDeviation& deviation, const SolveSettings& settings, const CommonOptions& common) {
  if (const std::string text = text_of(deviation, settings.links); !text.empty()) common.info(text);
}

SolveSettings SolverChoices::settings(const CLI::App& command, const HostGauge& gauge, const Action& action,
                                      const CommonOptions& common) const {
  SolveSettings s;
  s.reduction = reduction_of(even_odd);
  if (!action.has_even_odd()) {
    if (command.count("--even-odd") > 0 && s.reduction != Reduction::none)
      throw UsageError(
          fmt::format("--even-odd {}: action {} has no even-odd form; leave it out", even_odd, action.name()));
    s.reduction = Reduction::none;
  }
  s.links = "r" + reconstruct;
  s.basis = basis;
  s.options.tolerance = tolerance;
  s.options.max_iterations = max_iterations;
  s.options.updates = updates_of(updates);
  s.options.delta = delta;
  s.parameters = parameters;
  s.parameters.preconditioner = preconditioner_of(preconditioner);
  if (command.count("--reconstruct") == 0) {
    s.links = default_links(gauge, common.ranks());
    if (s.links == "r18") common.info("the links are not SU(3): stored with 18 reals");
  }
  return s;
}

}  // namespace quarksmith::apps
