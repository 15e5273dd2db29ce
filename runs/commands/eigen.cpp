// quarksmith eigen: eigenvalues and eigenvectors of the operators of an action.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/deflation.hpp"
#include "runs/stops.hpp"
#include "runtime/error.hpp"
#include "solvers/eigen/eigen_file.hpp"

namespace quarksmith::runs {
namespace {

struct EigenDescription : Description {
  ActionDescription action;
  std::string kind = "normal", even_odd = "symmetric";
  EigenOptions options;
  std::filesystem::path out;
  std::string compress, reconstruct = "12";
  std::string time_limit;

  void list(Members& members) override {
    action.list(members);
    auto add = members.of(*this);
    add("operator", kind,
        "normal: M^+ M, even-odd or not; hermitian: gamma_5 M; staggered: -D^2 on even sites, M = m + D");
    add("even_odd", even_odd, "of --operator normal: symmetric, asymmetric or none");
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
  void check() override;
};

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

/// What was found, and what a file is to hold of it.
struct Found {
  Eigenpairs pairs;
  std::unique_ptr<LocalCoherence> coherence;
  std::vector<double> values = {}, residuals = {};  ///< of pairs, before they were compressed

  /// Compresses the pairs, which become those that can be made of it again.
  void compress(const EigenOperator& a) {
    values = pairs.values;
    residuals = pairs.residuals;
    const int count = static_cast<int>(pairs.values.size());
    if (coherence && count < coherence->vectors()) coherence.reset();  // of a search that has ended early
    if (!coherence) return;
    pairs.values = coherence->compress(pairs.vectors, count, a.positive());
    pairs.vectors = coherence->expand(pairs.vectors);
    pairs.residuals = a.residuals(pairs.vectors, pairs.values);
  }
  /// Vectors of a file over columns that this one has.
  double factor() const {
    const int count = static_cast<int>(pairs.values.size());
    return double(count) / (coherence->vectors() + coherence->columns_of(count));
  }
};

Json eigen_report(const EigenDescription& o, const ActionChoice& choice, const Found& found,
                  const std::string& even_odd, double seconds) {
  const Eigenpairs& pairs = found.pairs;
  Json j = {{"operator", o.kind},           {"action", runs::texts_of(choice.provenance)},
            {"even_odd", even_odd},         {"eigenvalues", found.values},
            {"residuals", found.residuals}, {"applications", pairs.applications},
            {"seconds", seconds},           {"tolerance", o.options.tolerance},
            {"converged", pairs.converged}};
  if (found.coherence)
    j["compressed"] = {{"block", found.coherence->block()},
                       {"vectors", found.coherence->vectors()},
                       {"factor", found.factor()},
                       {"eigenvalues", pairs.values},
                       {"residuals", pairs.residuals}};
  return j;
}

void write_found(const EigenDescription& o, const ActionChoice& choice, const NamedGauge& named, const Found& found,
                 const std::string& even_odd, const BasisInfo& basis, Session& session) {
  PropagatorHeader header(eigen_provenance(choice, named.gauge, o.kind, even_odd, session));
  header.remarks = {{"gauge", named.origin},
                    {"program_version", QUARKSMITH_VERSION},
                    {"tolerance", o.options.tolerance},
                    {"basis", "degrand_rossi"}};
  write_eigenpairs(o.out, found.pairs, basis, header, session.overwrite, session.ranks(), found.coherence.get());
  session.info(fmt::format("wrote {}", o.out.string()));
}

void print_found(const Found& found, double seconds, const Device& device, Session& session) {
  const Eigenpairs& pairs = found.pairs;
  for (std::size_t n = 0; n < found.values.size(); ++n)
    print(session, "{:>5} {:>22.15g} {:>9.1e}\n", n, found.values[n], found.residuals[n]);
  print(session, "{} eigenvalues, {} applications, {:.2f} s on {}\n", found.values.size(), pairs.applications, seconds,
        device.name());
  if (!found.coherence) return;
  const Coordinates& block = found.coherence->block();
  print(session, "compressed {:.1f} times: {} vectors on blocks of {}x{}x{}x{}; residuals are up to {:.1e} then\n",
        found.factor(), found.coherence->vectors(), block[0], block[1], block[2], block[3], pairs.worst());
}

/// What there is where not all that was asked for was found. \throws Error, Interrupted
[[noreturn]] void fall_short(const EigenDescription& o, const Found& all, const Stops& stops, Session& session) {
  const Eigenpairs& pairs = all.pairs;
  const std::vector<double>& residuals = all.residuals;
  const auto good =
      std::count_if(residuals.begin(), residuals.end(), [&](double r) { return r <= o.options.tolerance; });
  std::string kept = "there are no vectors yet";
  if (!pairs.values.empty())
    kept = o.out.empty() ? "vectors are not kept: that takes --out FILE.h5"
                         : fmt::format("the {} best vectors are in {}", pairs.values.size(), o.out.string());
  const std::string found = fmt::format(
      "{} of {} eigenvalues of {} to {:.1e}, residual {:.2e} at most; {}", good, o.options.count, o.kind,
      o.options.tolerance, residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end()), kept);
  session.say_at_end(found);
  stops.end();
  if (!pairs.ended) throw Error(fmt::format("{}; use a larger --tol", found));
  if (!o.time_limit.empty() && pairs.applications != o.options.most_applications)
    throw Error(fmt::format("--time-limit {}: {}; give more time", o.time_limit, found));
  throw Error(fmt::format("--max-applications {}: {}; give more", o.options.most_applications, found));
}

/// Leaves the vectors for the caller: on all sites, zero where they are not. Those on slices are none of its fields.
void leave_vectors(const Eigenpairs& pairs, const LinearOperator& full, const BasisInfo& basis, Outcome& left) {
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
  left.vectors_basis = &basis;
}

Outcome find(EigenDescription& o, Session& session, Stops& stops) {
  const NamedGauge named = open_gauge(o.action.gauge, o.action.lattice, session);
  const ActionChoice choice = o.action.choose(named.gauge, session);
  const Action& action = choice.action;
  const DomainPointer domain = session.open_domain(named.gauge.lattice, action.reach());
  const Spectrum kind = spectrum_of(o.kind);
  SolveSettings settings;
  settings.method = Method::cg;
  settings.links =
      o.given("reconstruct") ? "r" + o.reconstruct : action.default_links(default_links(named.gauge, session.ranks()));
  settings.reduction = kind == Spectrum::normal ? reduction_of(o.even_odd) : Reduction::none;
  settings.on_all_sites = o.called("even_odd", "none");
  if (!action.has_even_odd()) {
    if (o.given("even_odd") && settings.reduction != Reduction::none)
      throw UsageError(fmt::format("--even-odd {}: action {} has no even-odd form with these parameters; leave it out",
                                   o.even_odd, action.name()));
    settings.reduction = Reduction::none;
  }
  const std::string even_odd = settings.reduction == Reduction::none ? "none" : o.even_odd;
  const Solver solver(action, named.gauge, domain, settings);
  Progress progress("eigen", o.options.count, session);
  o.options.observer = [&](int found, double residual) {
    progress.show(found, fmt::format("{} found, residual {:.1e}", found, residual));
  };
  o.options.look = [&] {
    if (stops.ended()) throw EndSearch{};
  };
  const bool even = kind == Spectrum::staggered || settings.reduction != Reduction::none;
  std::unique_ptr<LocalCoherence> coherence = make_coherence(o, solver, even);
  const EigenOperator a(kind, action, solver.dirac(), solver.basis(), settings.reduction, o.options.block);
  const double start = now();
  Found found{a.find(o.options), std::move(coherence)};
  const double seconds = now() - start;
  const Eigenpairs& pairs = found.pairs;
  found.compress(a);
  report(session, eigen_report(o, choice, found, even_odd, seconds));
  Outcome left;
  if (session.in_memory) leave_vectors(pairs, solver.dirac().matrix(), solver.basis(), left);
  if (!o.out.empty() && !pairs.values.empty()) write_found(o, choice, named, found, even_odd, solver.basis(), session);
  if (domain->communicator().rank() == 0) print_found(found, seconds, domain->device(), session);
  if (!pairs.converged) fall_short(o, found, stops, session);
  return left;
}

void EigenDescription::check() {
  spectrum_of(kind);
  reduction_of(even_odd);
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

Outcome run(EigenDescription& o, Session& session) {
  if (o.out.empty() && !session.reports_wanted()) throw UsageError("eigen needs --out FILE.h5, --json FILE, or both");
  session.claim({{"out", o.out, true}}, {{"gauge", o.action.gauge}});
  const std::filesystem::path part = o.out.string() + ".part";
  if (!o.out.empty() && !session.overwrite && std::filesystem::exists(part))
    throw UsageError(fmt::format("{}: left by a run that ended early; delete it, or use --overwrite", part.string()));
  Stops stops(o.time_limit, solve_patience, session);
  return find(o, session, stops);
}

}  // namespace

namespace commands {
extern constinit const Command eigen = {.name = "eigen",
                                        .help = "Eigenvalues and eigenvectors of an action's operators",
                                        .place = 130,
                                        .uses = Session::reads | Session::computes | Session::shares |
                                                Session::crosses | Session::reports | Session::replaces,
                                        .make = task<EigenDescription>,
                                        .leaves = "eigenvectors"};
}

}  // namespace quarksmith::runs
