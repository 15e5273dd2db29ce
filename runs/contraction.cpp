#include "runs/contraction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runs/checkpoints.hpp"
#include "runtime/error.hpp"
#include "runtime/io/checksum.hpp"
#include "runtime/io/output.hpp"
#include "runtime/text.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

Json value_json(const Complex64& z) { return {z.real(), z.imag()}; }
template <class T>
Json value_json(const T& value) {
  return value;
}

void add_events(Json& j, const std::vector<SolverEvent>& events) {
  for (const SolverEvent& e : events) j["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
}

Json value_json(const ColumnSolve& r) {
  Json j = r.mass ? Json{{"colour", r.colour}, {"mass", *r.mass}} : Json{{"spin", r.spin}, {"colour", r.colour}};
  j.update({{"iterations", r.iterations},
            {"residual", r.residual},
            {"seconds", r.seconds},
            {"gflops", r.gflops},
            {"solver", r.solver},
            {"precision", r.precision},
            {"even_odd", r.even_odd},
            {"links", r.links}});
  add_events(j, r.events);
  if (!r.converged) j["converged"] = false;
  if (r.slice_residual > 0) j["slice_residual"] = r.slice_residual;
  return j;
}

template <class T>
Json value_json(const std::vector<T>& list) {
  Json all = Json::array();
  for (const T& x : list) all.push_back(value_json(x));
  return all;
}

/// What the file says of its own layout is no provenance of correlators.
Provenance without_layout(Provenance all) {
  for (const char* key : {"format", "kind", "columns", "lattice", "plaquette"}) all.erase(key);
  return all;
}

/// What an unfinished run wrote to --json; null: there is nothing of that kind, or it shall be replaced anyway.
Json unfinished_in(Session& session) {
  if (session.json.empty() || session.overwrite) return {};
  Json found = json_in(session.json, session.ranks());
  const bool is = found.is_object() && found.value("finished", Json()) == Json(false) && found.contains("solves") &&
                  found.contains("provenance") && found["provenance"].is_object();
  return is ? found : Json();
}

std::string csv(const std::vector<Correlator>& all) {
  const auto column = [](const std::string& name, const auto& values, std::vector<std::string>& rows) {
    constexpr bool is_real = std::is_same_v<decltype(values), const std::vector<double>&>;
    rows.resize(values.size() + 1);
    rows[0] += is_real ? "," + name : fmt::format(",{0}_re,{0}_im", name);
    for (std::size_t t = 0; t < values.size(); ++t)
      if constexpr (is_real)
        rows[t + 1] += fmt::format(",{:.17g}", values[t]);
      else
        rows[t + 1] += fmt::format(",{:.17g},{:.17g}", values[t].real(), values[t].imag());
  };
  std::vector<std::string> rows;
  for (const std::string_view group : {"correlators", "mesons"})
    for (const Correlator& c : all)
      if (c.group == group) std::visit([&](const auto& values) { column(c.name, values, rows); }, c.values);
  std::string text;
  for (std::size_t n = 0; n < rows.size(); ++n) text += (n == 0 ? "t" : std::to_string(n - 1)) + rows[n] + "\n";
  return text;
}

}  // namespace

std::string gauge_digest(const HostGauge& gauge, const Session& session) {
  return checksum_of(gauge.lattice, gauge.site.at(0), gauge.site.each() * sizeof(Complex64), session.ranks()).text();
}

Json to_json(const Provenance& all) {
  Json j = Json::object();
  for (const auto& [key, value] : all) j[key] = std::visit([](const auto& x) { return value_json(x); }, value);
  return j;
}

Json to_json(const SolveReport& r) {
  Json j = {{"iterations", r.iterations},
            {"residual", r.residual},
            {"converged", r.converged},
            {"seconds", r.seconds},
            {"gflops", r.gflops},
            {"solver", name_of(r.method)},
            {"precision", r.precision},
            {"links", r.links},
            {"measured", r.measured},
            {"bytes_sent", r.bytes_sent},
            {"replacements", r.replacements},
            {"vectors", r.vectors}};
  add_events(j, r.events);
  if (r.slice_residual > 0) j["slice_residual"] = r.slice_residual;
  return j;
}

SolveReport solve_report_of(const Json& j) {
  SolveReport r{method_of(j["solver"]),
                j["precision"],
                j["links"],
                j["iterations"],
                j["residual"],
                j["measured"],
                j["converged"],
                j["seconds"],
                j["gflops"],
                j["bytes_sent"],
                j["replacements"],
                j["vectors"],
                {}};
  r.slice_residual = j.value("slice_residual", 0.0);
  for (const Json& e : j.value("events", Json::array())) r.events.push_back({e["iteration"], e["what"]});
  return r;
}

Json json_of(const Saving& s) {
  return {{"right_hand_sides", s.sources},
          {"first_iterations", s.first},
          {"last_iterations", s.last},
          {"vectors", s.vectors},
          {"saving", 1 - double(s.last) / std::max(s.first, 1)}};
}

Contraction contraction_of(const PropagatorReader& file, const Lattice& lattice, const std::string& sink) {
  const auto& boundary = file.value<std::vector<Complex64>>("boundary");
  if (boundary.size() != directions)
    throw Error(
        fmt::format("attribute boundary has {} phases, not {}: the file is damaged", boundary.size(), directions));
  return {file.value<double>("plaquette"), source_of(file.value<std::string>("source"), lattice).time(), boundary[3],
          without_layout(file.provenance()), sink};
}

Contraction contraction_of(const PropagatorHeader& header, double plaquette, int source_t, Complex64 time_phase,
                           const std::string& sink) {
  Provenance all = header.provenance;
  all.insert(header.remarks.begin(), header.remarks.end());
  return {plaquette, source_t, time_phase, without_layout(std::move(all)), sink};
}

Columns::Columns(const DomainPointer& domain, const std::vector<double>& masses) : quark_(domain, masses) {}

ColumnSolve& Columns::solve(int n, const ColumnReport& report) {
  const int a = n / 3, colour = n % 3;
  ColumnSolve one{report, a, colour, {}, {}};
  if (quark_.staggered()) one.spin = 0, one.mass = quark_.masses[std::size_t(a)];
  return solves_[quark_.staggered() ? std::pair(colour, a) : std::pair(a, colour)] = std::move(one);
}

void Columns::note(int n, const HostSpinor& column, const ColumnReport& report, Communicator& ranks) {
  if (!report.midpoint.empty()) quark_.norms[n] = {report.midpoint, slice_norms(column, ranks)};
}

std::vector<double> Columns::residuals() const {
  std::vector<double> worst(quark_.quarks.size());
  for (const auto& [place, solve] : solves_) {
    double& one = worst[quark_.staggered() ? place.second : 0];
    one = std::max(one, solve.residual);
  }
  return worst;
}

std::string Columns::summary() const {
  double least = INFINITY, most = 0, residual = 0, seconds = 0;
  for (const auto& [column, solve] : solves_) {
    least = std::min(least, solve.iterations);
    most = std::max(most, solve.iterations);
    residual = std::max(residual, solve.residual);
    seconds += solve.seconds;
  }
  return fmt::format("{} columns: {}{} iterations, residual {:.2e} at most, {:.3g} s of solves", solves_.size(),
                     least < most ? fmt::format("{} to ", least) : "", most, residual, seconds);
}

PropagatorResult Columns::result(const Contraction& c) {
  quark_.source_t = c.source_t;
  quark_.time_phase = c.time_phase;
  PropagatorResult r = unfinished(c);
  r.finished = true;
  for (const CorrelatorKind* kind : listed<CorrelatorKind>())
    for (Correlator& made : kind->contract(quark_)) r.correlators.push_back(std::move(made));
  return r;
}

PropagatorResult Columns::unfinished(const Contraction& c) const {
  PropagatorResult r{.lattice = quark_.lattice().global_extent(),
                     .plaquette = c.plaquette,
                     .masses = quark_.masses,
                     .finished = false,
                     .provenance = c.provenance,
                     .sink = c.sink};
  for (const auto& [place, solve] : solves_) r.solves.push_back(solve);
  return r;
}

Json json_of(const PropagatorResult& r) {
  Json j = {{"lattice", r.lattice}, {"plaquette", r.plaquette}};
  if (!r.finished) j["finished"] = false;
  if (r.finished && !r.masses.empty()) j["masses"] = r.masses;
  for (const Correlator& c : r.correlators)
    (c.group.empty() ? j : j[c.group])[c.name] = std::visit([](const auto& x) { return value_json(x); }, c.values);
  j["solves"] = value_json(r.solves);
  j["provenance"] = runs::to_json(r.provenance);
  if (!r.sink.empty()) j["provenance"]["sink"] = r.sink;
  if (r.saving) j["saving"] = json_of(*r.saving);
  if (!r.known_slices.empty()) j["known_slices"] = r.known_slices;
  return j;
}

const std::vector<double>& PropagatorResult::correlator(std::string_view name) const {
  std::vector<std::string> known;
  for (const Correlator& c : correlators)
    if (const auto* values = std::get_if<std::vector<double>>(&c.values)) {
      if (c.name == name) return *values;
      known.push_back(c.name);
    }
  throw UnknownName(fmt::format("correlator '{}' is not of this quark; {}use {}", name,
                                suggestion(std::string(name), known), fmt::join(known, ", ")));
}

bool exists_on_root(const std::filesystem::path& path, Session& session) {
  char there = std::filesystem::exists(path) ? 1 : 0;
  session.ranks().broadcast(&there, 1, 0);
  return there != 0;
}

ColumnStore open_columns(const std::filesystem::path& out, const Lattice& lattice, const PropagatorHeader& header,
                         bool contracts, Session& session) {
  ColumnStore store;
  if (out.empty()) return store;
  if (!session.overwrite && contracts && exists_on_root(out, session)) {
    if (session.ranks().rank() == 0) clear_stale_lock(out);  // of a run killed once it had finished the file
    store.finished = std::make_unique<PropagatorReader>(out, session.ranks());
    store.finished->require(header, lattice.global_extent(), "choose another --out or replace it with --overwrite");
    session.info(fmt::format("{}: finished; correlators are made of its columns", out.string()));
  } else {
    store.file = std::make_unique<PropagatorFile>(out, lattice, header, session.overwrite, session.ranks());
  }
  return store;
}

void read_sound(const PropagatorReader& file, const std::filesystem::path& path, int n, HostSpinor& column) {
  if (!file.read(n / 3, n % 3, column))
    throw Error(
        fmt::format("{}: column {} {} does not match its checksum: the file is damaged; solve again with "
                    "`quarksmith propagator ... --overwrite`",
                    path.string(), n / 3, n % 3));
}

bool has_unfinished(Session& session) { return !unfinished_in(session).is_null(); }

void require_same_unfinished(const PropagatorHeader& header, Session& session) {
  const Json found = unfinished_in(session);
  if (found.is_null()) return;
  Json own = runs::to_json(header.provenance);
  if (found["provenance"].contains(formula_key) && !own.contains(formula_key)) own[formula_key] = "";
  for (const auto& [key, value] : own.items())
    if (const Json was = found["provenance"].value(key, Json()); was != value)
      throw UsageError(
          fmt::format("{}: is of an unfinished run with {} {}, not {}; choose another name or replace it with "
                      "--overwrite",
                      session.json.string(), key, printable(was.dump()), value.dump()));
}

void write_correlators(const std::filesystem::path& path, const PropagatorResult& result, Session& session) {
  if (path.empty()) return;
  session.write(path, path.extension() == ".csv" ? csv(result.correlators) : json_text(json_of(result)) + "\n");
  session.info(fmt::format("wrote {}", path.string()));
}

}  // namespace quarksmith::runs
