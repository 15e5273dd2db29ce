// quarksmith propagator: sources -> solve -> propagator and correlators.
#include <fmt/format.h>

#include <cmath>

#include "apps/options.hpp"
#include "runtime/error.hpp"
#include "runtime/io_propagator.hpp"
#include "solvers/correlators.hpp"
#include "solvers/smearing.hpp"
#include "solvers/solve.hpp"
#include "solvers/source.hpp"

namespace quarksmith::apps {
namespace {

struct PropagatorOptions {
  CommonOptions common;
  std::string gauge, lattice, action = "wilson", boundary, source = "point:0,0,0,0", sink = "point";
  std::string anisotropy = "1,1", solver = "bicgstab", even_odd = "symmetric", precision = "double", reconstruct = "12";
  std::string basis = "non_relativistic";
  double mass = 0, kappa = 0, csw = 0, csw_r = 0, csw_t = 0, tolerance = 1e-10;
  int max_iterations = 10000;
  std::filesystem::path out, correlators;
  bool overwrite = false;
};

std::array<Complex64, directions> boundary_phases(const std::string& text) {
  if (text == "periodic") return {1, 1, 1, 1};
  if (text == "antiperiodic") return {1, 1, 1, -1};
  std::array<Complex64, directions> phases;
  const std::array<double, 4> angles = four_numbers(text, "--boundary (periodic, antiperiodic or a,b,c,d)");
  for (int mu = 0; mu < directions; ++mu) phases[mu] = WilsonParameters::phase_of(angles[mu]);
  return phases;
}

/// The boundary condition asked for; without one, the phase found in the links, else antiperiodic in time.
std::array<Complex64, directions> choose_boundary(const PropagatorOptions& o, const HostGauge& gauge) {
  const bool in_file = gauge.phase != std::array<Complex64, directions>{1, 1, 1, 1};
  if (!o.boundary.empty()) {
    if (in_file) o.common.info("--boundary replaces the boundary phase that was found in the links");
    return boundary_phases(o.boundary);
  }
  return in_file ? gauge.phase : boundary_phases("antiperiodic");
}

WilsonParameters parameters_of(const PropagatorOptions& o, const CLI::App& command, const HostGauge& gauge) {
  if (o.action != "wilson" && o.action != "clover")
    throw UsageError(fmt::format("action '{}' is unknown; use wilson or clover", o.action));
  if ((command.count("--mass") > 0) == (command.count("--kappa") > 0))
    throw UsageError("propagator needs exactly one of --mass and --kappa");
  WilsonParameters p;
  if (command.count("--kappa") > 0) {
    if (!(o.kappa > 0)) throw UsageError(fmt::format("--kappa {}: use a positive number", o.kappa));
    p.mass = WilsonParameters::mass_of_kappa(o.kappa);
  } else {
    p.mass = o.mass;
  }
  const auto anisotropy = split(o.anisotropy, ',');
  if (anisotropy.size() != 2) throw UsageError(fmt::format("--anisotropy '{}' is not xi0,nu", o.anisotropy));
  p.xi0 = number(anisotropy[0], "--anisotropy");
  p.nu = number(anisotropy[1], "--anisotropy");
  if (!(p.xi0 > 0) || !(p.nu > 0))
    throw UsageError(fmt::format("--anisotropy {}: both must be positive", o.anisotropy));
  p.boundary = choose_boundary(o, gauge);
  const bool isotropic = command.count("--csw") > 0,
             split_csw = command.count("--csw-r") + command.count("--csw-t") > 0;
  if (o.action == "wilson" && (isotropic || split_csw))
    throw UsageError("--csw, --csw-r and --csw-t belong to --action clover");
  if (o.action == "clover" && isotropic == split_csw)
    throw UsageError("--action clover needs --csw C, or --csw-r and --csw-t");
  p.csw_r = isotropic ? o.csw : o.csw_r;
  p.csw_t = isotropic ? o.csw : o.csw_t;
  return p;
}

SolveSettings settings_of(const PropagatorOptions& o, const CLI::App& command, const HostGauge& gauge) {
  SolveSettings s;
  s.method = method_of(o.solver);
  s.reduction = reduction_of(o.even_odd);
  s.precision = o.precision;
  s.links = "r" + o.reconstruct;
  s.basis = o.basis;
  s.options.tolerance = o.tolerance;
  s.options.max_iterations = o.max_iterations;
  if (command.count("--reconstruct") == 0) {
    s.links = default_links(gauge);
    if (s.links == "r18") o.common.info("the links are not SU(3): stored with 18 reals");
  }
  return s;
}

PropagatorFile::Provenance provenance_of(const PropagatorOptions& o, const std::string& origin,
                                         const WilsonParameters& p) {
  std::string boundary;
  for (const Complex64& z : p.boundary) boundary += fmt::format("{:.17g}{:+.17g}i ", z.real(), z.imag());
  return {{"format", "quarksmith propagator 1"},
          {"gauge", origin},
          {"action", o.action},
          {"mass", fmt::format("{:.17g}", p.mass)},
          {"xi0", fmt::format("{:.17g}", p.xi0)},
          {"nu", fmt::format("{:.17g}", p.nu)},
          {"csw_r", fmt::format("{:.17g}", p.csw_r)},
          {"csw_t", fmt::format("{:.17g}", p.csw_t)},
          {"boundary", boundary},
          {"source", o.source},
          {"sink", o.sink},
          {"basis", "degrand_rossi"},
          {"tolerance", fmt::format("{:.17g}", o.tolerance)}};
}

/// One run of the command.
class Run {
 public:
  Run(const PropagatorOptions& o, const CLI::App& command)
      : o_(o),
        named_(open_gauge(o.gauge, o.lattice, o.common)),
        parameters_(parameters_of(o, command, named_.gauge)),
        settings_(settings_of(o, command, named_.gauge)),
        source_(source_of(o.source, lattice())),
        sink_(sink_of(o.sink)),
        domain_(std::make_shared<Domain>(lattice(), o.common.open_device())),
        plaquette_(gauge_averages(named_.gauge, domain_).plaquette),
        propagator_(lattice()) {
    if (!o.out.empty())
      file_ =
          std::make_unique<PropagatorFile>(o.out, lattice(), provenance_of(o, named_.origin, parameters_), o.overwrite);
    if (source_.kind == SourceSettings::Kind::gaussian || sink_.smeared)
      smearing_links_ = std::make_shared<LinkField>(
          upload(named_.gauge, domain_, find_precision("double"), find_storage(settings_.links)));
  }

  int operator()() {
    Progress progress("propagator", 12, o_.common);
    for (int n = 0; n < 12; ++n) {
      column(n / 3, n % 3, progress);
      progress.show(n + 1);
    }
    if (file_) {
      file_->finish();
      o_.common.info(fmt::format("wrote {}", o_.out.string()));
    }
    const nlohmann::ordered_json result = contract();
    if (!o_.correlators.empty()) {
      write_text(o_.correlators, o_.correlators.extension() == ".csv" ? csv(result) : result.dump(1) + "\n");
      o_.common.info(fmt::format("wrote {}", o_.correlators.string()));
    }
    o_.common.write_json(result);
    return 0;
  }

 private:
  const Lattice& lattice() const { return named_.gauge.lattice; }

  /// Solves one column, or takes it from the partial file.
  void column(int spin, int colour, Progress& progress) {
    HostSpinor solution(lattice());
    ColumnReport report;
    if (file_ && file_->has(spin, colour)) {
      file_->read(spin, colour, solution);
      report = file_->report(spin, colour);
      o_.common.info(fmt::format("spin {} colour {}: taken from {}.part", spin, colour, o_.out.string()));
    } else {
      const SolveReport solved = solve(spin, colour, solution, progress);
      report = {double(solved.iterations), solved.residual, solved.seconds, solved.gflops};
      if (!solved.converged)
        throw Error(fmt::format(
            "spin {} colour {}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; "
            "{}columns solved so far are kept; use more --max-iterations, a larger --tol or --precision double",
            spin, colour, solved.residual, solved.iterations, o_.tolerance, file_ ? "" : "no "));
      if (file_) file_->write(spin, colour, solution, report);
    }
    if (sink_.smeared) {
      SpinorField field(domain_, find_precision("double"), Subset::full);
      const BasisInfo& basis = find_basis("degrand_rossi");
      upload(solution, field, basis);
      smear(field, sink_.width, sink_.steps);
      download(field, solution, basis);
    }
    propagator_.set_column(spin, colour, solution);
    solves_.push_back({{"spin", spin},
                       {"colour", colour},
                       {"iterations", report.iterations},
                       {"residual", report.residual},
                       {"seconds", report.seconds},
                       {"gflops", report.gflops}});
  }

  SolveReport solve(int spin, int colour, HostSpinor& solution, Progress& progress) {
    const int n = 3 * spin + colour;
    if (!solver_) {
      SolveSettings settings = settings_;
      settings.options.observer = [this, &progress](int iteration, double residual) {
        const double share = residual > 0 ? std::log(residual) / std::log(o_.tolerance) : 1;
        progress.show(current_ + 0.99 * std::clamp(share, 0.0, 1.0),
                      fmt::format("spin {} colour {} iteration {} residual {:.1e}", current_ / 3, current_ % 3,
                                  iteration, residual));
      };
      solver_ = std::make_unique<WilsonSolver>(named_.gauge, domain_, parameters_, settings);
    }
    current_ = n;
    SpinorField b(domain_, find_precision("double"), Subset::full), x = b.like();
    upload(make_source(source_, lattice(), spin, colour), b, solver_->basis());
    if (source_.kind == SourceSettings::Kind::gaussian) smear(b, source_.width, source_.steps);
    const SolveReport report = solver_->solve(x, b);
    download(x, solution, solver_->basis());
    return report;
  }

  void smear(SpinorField& field, double width, int steps) const {
    SpinorField work = field.like();
    GaussianSmearing(smearing_links_, width, steps).apply(field, work);
  }

  nlohmann::ordered_json contract() const {
    const std::vector<std::vector<double>> mesons = meson_correlators(propagator_, source_.time());
    const auto& names = meson_names();
    const auto meson = [&](const std::string& name) {
      return mesons[std::find(names.begin(), names.end(), name) - names.begin()];
    };
    nlohmann::ordered_json j;
    j["lattice"] = lattice().extent();
    j["plaquette"] = plaquette_;
    std::vector<double> rho = meson("gx");
    for (std::size_t t = 0; t < rho.size(); ++t) rho[t] = (rho[t] + meson("gy")[t] + meson("gz")[t]) / 3;
    j["correlators"]["pion"] = meson("g5");
    j["correlators"]["rho"] = rho;
    for (const Complex64& z : proton_correlator(propagator_, source_.time(), parameters_.boundary[3]))
      j["correlators"]["proton"].push_back({z.real(), z.imag()});
    for (std::size_t i = 0; i < names.size(); ++i) j["mesons"][names[i]] = mesons[i];
    j["solves"] = solves_;
    for (const auto& [key, value] : provenance_of(o_, named_.origin, parameters_)) j["provenance"][key] = value;
    return j;
  }

  /// One line a time slice: t, pion, rho, proton (re, im), the 16 mesons.
  static std::string csv(const nlohmann::ordered_json& j) {
    std::string text = "t,pion,rho,proton_re,proton_im";
    for (const auto& [name, values] : j["mesons"].items()) text += "," + name;
    text += "\n";
    const auto& c = j["correlators"];
    for (std::size_t t = 0; t < c["pion"].size(); ++t) {
      text += fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g}", t, c["pion"][t].get<double>(),
                          c["rho"][t].get<double>(), c["proton"][t][0].get<double>(), c["proton"][t][1].get<double>());
      for (const auto& [name, values] : j["mesons"].items()) text += fmt::format(",{:.17g}", values[t].get<double>());
      text += "\n";
    }
    return text;
  }

  const PropagatorOptions& o_;
  NamedGauge named_;
  WilsonParameters parameters_;
  SolveSettings settings_;
  SourceSettings source_;
  SinkSettings sink_;
  DomainPointer domain_;
  double plaquette_;
  Propagator propagator_;
  std::unique_ptr<PropagatorFile> file_;
  std::shared_ptr<const LinkField> smearing_links_;
  std::unique_ptr<WilsonSolver> solver_;
  nlohmann::ordered_json solves_;
  int current_ = 0;
};

}  // namespace

void add_propagator(CLI::App& app, int& status) {
  auto o = std::make_shared<PropagatorOptions>();
  CLI::App* c = app.add_subcommand("propagator", "Solve for a quark propagator; write it and its correlators");
  c->add_option("--gauge", o->gauge, "FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED or hot:X,Y,Z,T:SEED")->required();
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for files that do not record them");
  c->add_option("--action", o->action, "wilson or clover")->capture_default_str();
  c->add_option("--mass", o->mass, "bare mass m; M = m + 1 + 3 nu/xi0 - D/2");
  c->add_option("--kappa", o->kappa, "instead of --mass: m = 1/(2 kappa) - 4");
  c->add_option("--csw", o->csw, "clover coefficient");
  c->add_option("--csw-r", o->csw_r, "clover coefficient of space planes, divided by xi0 there");
  c->add_option("--csw-t", o->csw_t, "clover coefficient of time planes");
  c->add_option("--anisotropy", o->anisotropy, "xi0,nu")->capture_default_str();
  c->add_option("--boundary", o->boundary, "periodic, antiperiodic (default) or phases a,b,c,d in units of pi");
  c->add_option("--source", o->source, "point:x,y,z,t, gaussian:x,y,z,t:w,N, wall:t or noise:SEED[,z2|z4]")
      ->capture_default_str();
  c->add_option("--sink", o->sink, "point or gaussian:w,N (acts on correlators only)")->capture_default_str();
  c->add_option("--solver", o->solver, "cg or bicgstab")->capture_default_str();
  c->add_option("--even-odd", o->even_odd, "symmetric, asymmetric or none")->capture_default_str();
  c->add_option("--precision", o->precision, "double, single, or double-single, double-half: corrections in the second")
      ->capture_default_str();
  c->add_option("--reconstruct", o->reconstruct,
                "reals a link: 18, 12, 8, or in temporal gauge 18t, 12t (default: 12, 18 if not SU(3))");
  c->add_option("--basis", o->basis, "gamma basis of the kernels; results are in degrand_rossi")->capture_default_str();
  c->add_option("--tol", o->tolerance, "|b - M x| / |b|")->capture_default_str();
  c->add_option("--max-iterations", o->max_iterations, "a column")->capture_default_str();
  c->add_option("--out", o->out, "propagator (HDF5); an interrupted FILE.part is continued");
  c->add_option("--correlators", o->correlators, "correlators: JSON, or CSV if the name ends in .csv");
  c->add_flag("--overwrite", o->overwrite, "replace a finished file, discard a partial one");
  o->common.add_to(*c);
  c->callback([o, c, &status] {
    if (o->out.empty() && o->correlators.empty() && o->common.json.empty())
      throw UsageError("propagator needs --out FILE.h5, --correlators FILE.json, or both");
    status = Run(*o, *c)();
  });
}

}  // namespace quarksmith::apps
