// quarksmith eigen: eigenvalues and eigenvectors of the operators of an action.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/deflation.hpp"
#include "runs/eigen.hpp"
#include "runs/stops.hpp"
#include "runtime/error.hpp"
#include "solvers/eigen/eigen_file.hpp"

namespace quarksmith::runs {
namespace {

/// What --compress says: extents of blocks, and vectors of the basis.
std::pair<Coordinates, int> compression_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != directions + 1)
    throw UsageError(
        fmt::format("--compress {}: use the extents of blocks and how many vectors span them, as 4,4,4,4,24", text));
  Coordinates block;
  for (int mu = 0; mu < directions; ++mu) block[mu] = static_cast<int>(integer(parts[std::size_t(mu)], "--compress"));
  return {block, static_cast<int>(integer(parts[directions], "--compress"))};
}

/// Blocks of the lattice and their basis, before anything is computed.
std::unique_ptr<LocalCoherence> make_coherence(const EigenDescription& o, const Solver& solver, bool even) {
  if (o.compress.empty()) return nullptr;
  const auto [block, vectors] = compression_of(o.compress);
  const LinearOperator& full = solver.dirac().matrix();
  try {
    const int most =
        (even ? chiral_numbers / 2 : chiral_numbers) * full.slices() * block[0] * block[1] * block[2] * block[3];
    if (vectors > most)
      throw UsageError(
          fmt::format("blocks have no more than {} vectors of each chirality; use fewer, or larger blocks", most));
    return std::make_unique<LocalCoherence>(full, solver.basis(), block, vectors);
  } catch (const UsageError& e) {
    const std::string what = e.what(), begin = "multigrid: ";
    throw UsageError(
        fmt::format("--compress {}: {}", o.compress, what.starts_with(begin) ? what.substr(begin.size()) : what));
  }
}

Json eigen_json(const EigenDescription& o, const EigenResult& r) {
  Json j = {{"operator", o.kind},       {"action", runs::texts_of(r.provenance)},
            {"even_odd", r.even_odd},   {"eigenvalues", r.values},
            {"residuals", r.residuals}, {"applications", r.applications},
            {"seconds", r.seconds},     {"tolerance", o.options.tolerance},
            {"converged", r.converged}};
  if (const auto& c = r.compressed)
    j["compressed"] = {{"block", c->block},
                       {"vectors", c->vectors},
                       {"factor", c->factor},
                       {"eigenvalues", c->values},
                       {"residuals", c->residuals}};
  return j;
}

/// Compresses pairs on blocks, which become those that can be made of that again. \return null: a search that has ended
/// early has found too few.
std::unique_ptr<LocalCoherence> compress(std::unique_ptr<LocalCoherence> coherence, Eigenpairs& pairs,
                                         const EigenOperator& a, EigenResult& r) {
  const int count = static_cast<int>(pairs.values.size());
  if (!coherence || count < coherence->vectors()) return nullptr;
  pairs.values = coherence->compress(pairs.vectors, count, a.positive());
  pairs.vectors = coherence->expand(pairs.vectors);
  pairs.residuals = a.residuals(pairs.vectors, pairs.values);
  r.compressed = {coherence->block(), coherence->vectors(),
                  double(count) / (coherence->vectors() + coherence->columns_of(count)), pairs.values, pairs.residuals};
  return coherence;
}

void write_found(const EigenDescription& o, const ActionChoice& choice, const NamedGauge& named,
                 const Eigenpairs& pairs, const LocalCoherence* coherence, const std::string& even_odd,
                 const BasisInfo& basis, Session& session) {
  PropagatorHeader header(eigen_provenance(choice, named.gauge, o.kind, even_odd, session));
  header.remarks = {{"gauge", named.origin},
                    {"program_version", QUARKSMITH_VERSION},
                    {"tolerance", o.options.tolerance},
                    {"basis", "degrand_rossi"}};
  write_eigenpairs(o.out, pairs, basis, header, session.overwrite, session.ranks(), coherence);
  session.info(fmt::format("wrote {}", o.out.string()));
}

void print_found(const EigenResult& r, const Device& device, Session& session) {
  for (std::size_t n = 0; n < r.values.size(); ++n)
    print(session, "{:>5} {:>22.15g} {:>9.1e}\n", n, r.values[n], r.residuals[n]);
  print(session, "{} eigenvalues, {} applications, {:.2f} s on {}\n", r.values.size(), r.applications, r.seconds,
        device.name());
  if (const auto& c = r.compressed)
    print(session, "compressed {:.1f} times: {} vectors on blocks of {}; residuals are up to {:.1e} then\n", c->factor,
          c->vectors, fmt::join(c->block, "x"), *std::max_element(c->residuals.begin(), c->residuals.end()));
}

/// What there is where not all that was asked for was found. \throws Error, Interrupted
[[noreturn]] void fall_short(const EigenDescription& o, const EigenResult& r, bool ended, const Stops& stops,
                             Session& session) {
  const std::vector<double>& residuals = r.residuals;
  const auto good =
      std::count_if(residuals.begin(), residuals.end(), [&](double x) { return x <= o.options.tolerance; });
  std::string kept = "there are no vectors yet";
  if (!r.values.empty())
    kept = o.out.empty() ? "vectors are not kept: that takes --out FILE.h5"
                         : fmt::format("the {} best vectors are in {}", r.values.size(), o.out.string());
  const std::string found = fmt::format(
      "{} of {} eigenvalues of {} to {:.1e}, residual {:.2e} at most; {}", good, o.options.count, o.kind,
      o.options.tolerance, residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end()), kept);
  session.set_closing_line(found);
  stops.end();
  if (!ended) throw Error(fmt::format("{}; use a larger --tol", found));
  if (!o.time_limit.empty() && r.applications != o.options.most_applications)
    throw Error(fmt::format("--time-limit {}: {}; give more time", o.time_limit, found));
  throw Error(fmt::format("--max-applications {}: {}; give more", o.options.most_applications, found));
}

/// Leaves the vectors for the caller: on all sites, zero where they are not. Those on slices are none of its fields.
void leave_vectors(const Eigenpairs& pairs, const LinearOperator& full, const BasisInfo& basis, EigenResult& left) {
  if (pairs.values.empty() || full.slices() > 1) return;
  const int count = static_cast<int>(pairs.values.size());
  const SpinorField found = pairs.vectors.columns(0, count);
  SpinorField vectors = full.field(count);
  vectors.fill(0);
  if (found.subset() == Subset::full)
    vectors.copy_from(found);
  else
    vectors.copy_half(found.subset() == Subset::odd ? Parity::odd : Parity::even, found);
  left.vectors = std::move(vectors);
  left.basis = &basis;
}

EigenResult find(EigenDescription& o, Session& session, Stops& stops) {
  const NamedGauge named = open_gauge(o.action.gauge, o.action.lattice, session);
  const ActionChoice choice = o.action.choose(named.gauge, session);
  const Action& action = choice.action;
  const DomainPointer domain = session.open_domain(named.gauge.lattice(), action.reach());
  const Spectrum kind = spectrum_of(o.kind);
  SolveSettings settings;
  settings.method = Method::cg;
  settings.links =
      o.given("reconstruct") ? "r" + o.reconstruct : action.default_links(default_links(named.gauge, session.ranks()));
  settings.even_odd_form = kind == Spectrum::normal ? even_odd_form_of(o.even_odd) : EvenOddForm::none;
  settings.on_all_sites = o.called("even_odd", "none");
  if (!action.has_even_odd()) {
    if (o.given("even_odd") && settings.even_odd_form != EvenOddForm::none)
      throw UsageError(fmt::format("--even-odd {}: action {} has no even-odd form with these parameters; leave it out",
                                   o.even_odd, action.name()));
    settings.even_odd_form = EvenOddForm::none;
  }
  EigenResult r{.even_odd = settings.even_odd_form == EvenOddForm::none ? "none" : o.even_odd,
                .provenance = choice.provenance};
  const Solver solver(action, named.gauge, domain, settings);
  Progress progress("eigen", o.options.count, session);
  o.options.observer = [&](int found, double residual) {
    progress.show(found, fmt::format("{} found, residual {:.1e}", found, residual));
  };
  o.options.look = [&] {
    if (stops.ended()) throw EndSearch{};
  };
  const bool even = kind == Spectrum::staggered || settings.even_odd_form != EvenOddForm::none;
  std::unique_ptr<LocalCoherence> coherence = make_coherence(o, solver, even);
  const EigenOperator a(kind, action, solver.dirac(), solver.basis(), settings.even_odd_form, o.options.block);
  const double start = now();
  Eigenpairs pairs = a.find(o.options);
  r.seconds = now() - start;
  r.values = pairs.values;
  r.residuals = pairs.residuals;
  r.applications = pairs.applications;
  r.converged = pairs.converged;
  coherence = compress(std::move(coherence), pairs, a, r);
  report(session, eigen_json(o, r));
  if (session.in_memory) leave_vectors(pairs, solver.dirac().matrix(), solver.basis(), r);
  if (!o.out.empty() && !pairs.values.empty())
    write_found(o, choice, named, pairs, coherence.get(), r.even_odd, solver.basis(), session);
  if (domain->communicator().rank() == 0) print_found(r, domain->device(), session);
  if (!r.converged) fall_short(o, r, pairs.ended, stops, session);
  return r;
}

}  // namespace

void EigenDescription::list(Members& members) {
  action.list(members);
  auto add = members.of(*this);
  add("operator", kind,
      "normal: M^+ M, even-odd or not; hermitian: gamma_5 M; staggered: -D^2 on even sites, M = m + D")
      .parsed(spectrum_of);
  add("even_odd", even_odd, "of --operator normal: symmetric, asymmetric or none").parsed(even_odd_form_of);
  add("count", options.count, "how many pairs").range(1, 100000);
  add("largest", options.largest, "those of largest modulus, not of smallest");
  add("tol", options.tolerance, "|A v - lambda v| at most, |v| = 1");
  add("block", options.block, "vectors to which the operator is applied together; 1: one at a time").range(1, 16);
  add("seed", options.seed, "of the first vectors");
  add("max_applications", options.most_applications,
      "of the positive operator to one vector; then the best pairs are kept, with an error (default: any)")
      .range(1, 1e12)
      .open();
  add("time_limit", time_limit, "the same when this time is over: SECONDS, MM:SS or HH:MM:SS");
  add("out", out, "eigenvectors (HDF5)");
  add("compress", compress,
      "write them by local coherence, as combinations of the first N on blocks: X,Y,Z,T,N, for example "
      "4,4,4,4,24");
  add("reconstruct", reconstruct, "reals a link: 18, 12 or 8 (default: 12, 18 if not SU(3))").open();
}

void EigenDescription::check() {
  if (kind != "normal") refuse_given({"even_odd"}, "belongs to " + called("operator", "normal") + "; leave it out");
  if (find_storage("r" + reconstruct).temporal)
    throw UsageError(
        fmt::format("--reconstruct {}: eigenvectors are not turned to temporal gauge; use 18, 12 or 8", reconstruct));
  if (kind != "normal") refuse_given({"compress"}, "belongs to " + called("operator", "normal") + "; leave it out");
  if (!compress.empty()) {
    if (action.info().spins != 4)
      throw UsageError(fmt::format("--compress {}: is for Dirac spinors; leave it out", compress));
    if (out.empty()) throw UsageError("--compress acts on --out FILE.h5, which is not asked for; add it");
    const int vectors = compression_of(compress).second;
    if (vectors < 1 || vectors > options.count)
      throw UsageError(fmt::format("--compress {}: {} vectors for a basis of {}; use a larger --count", compress,
                                   options.count, vectors));
  }
  if (!(options.tolerance > 0 && options.tolerance < 1))
    throw UsageError(fmt::format("--tol: tolerance {}; use a positive number below 1", options.tolerance));
}

namespace commands {
extern constinit const Command eigen = {.name = "eigen",
                                        .help = "Eigenvalues and eigenvectors of an action's operators",
                                        .place = 130,
                                        .uses = Session::reads | Session::computes | Session::shares |
                                                Session::crosses | Session::reports | Session::replaces,
                                        .make = task<EigenDescription>,
                                        .leaves = "eigenvectors"};
}

EigenResult run(EigenDescription& o, Session& session) {
  enter(o, session, commands::eigen);
  if (o.out.empty() && !session.reports_wanted()) throw UsageError("eigen needs --out FILE.h5, --json FILE, or both");
  session.claim({{"out", o.out, true}}, {{"gauge", o.action.gauge}});
  const std::filesystem::path part = o.out.string() + ".part";
  if (!o.out.empty() && !session.overwrite && std::filesystem::exists(part))
    throw UsageError(fmt::format("{}: left by a run that ended early; delete it, or use --overwrite", part.string()));
  Stops stops(o.time_limit, solve_patience, session);
  return find(o, session, stops);
}

}  // namespace quarksmith::runs
