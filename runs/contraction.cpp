#include "runs/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runs/earlier.hpp"
#include "runtime/error.hpp"
#include "runtime/io/checksum.hpp"
#include "runtime/io/output.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

Json value_json(const Complex64& z) { return {z.real(), z.imag()}; }
template <class T>
Json value_json(const T& value) {
  return value;
}
template <class T>
Json value_json(const std::vector<T>& list) {
  Json all = Json::array();
  for (const T& x : list) all.push_back(value_json(x));
  return all;
}

Json entry(const ColumnReport& r) {
  return {{"iterations", r.iterations}, {"residual", r.residual},   {"seconds", r.seconds},   {"gflops", r.gflops},
          {"solver", r.solver},         {"precision", r.precision}, {"even_odd", r.even_odd}, {"links", r.links}};
}

Json joined(Json first, const Json& rest) {
  first.update(rest);
  return first;
}

/// What the file says of its own layout is no provenance of correlators.
Provenance without_layout(Provenance all) {
  for (const char* key : {"format", "kind", "columns", "lattice", "plaquette"}) all.erase(key);
  return all;
}

Json provenance_json(const Contraction& c) {
  Json j = runs::to_json(c.provenance);
  if (!c.sink.empty()) j["sink"] = c.sink;
  return j;
}

/// What an unfinished run wrote to --json; null: there is nothing of that kind, or it shall be replaced anyway.
Json unfinished_in(Session& session) {
  if (session.json.empty() || session.overwrite) return {};
  Json found = json_in(session.json, session.ranks());
  const bool is = found.is_object() && found.value("finished", Json()) == Json(false) && found.contains("solves") &&
                  found.contains("provenance") && found["provenance"].is_object();
  return is ? found : Json();
}

std::string csv(const Json& j) {
  std::string text = "t";
  std::vector<Json> columns;
  for (const char* group : {"correlators", "mesons"}) {
    if (!j.contains(group)) continue;
    for (const auto& [name, values] : j[group].items()) {
      text += values[0].is_array() ? fmt::format(",{0}_re,{0}_im", name) : "," + name;
      columns.push_back(values);
    }
  }
  text += "\n";
  for (std::size_t t = 0; t < columns.front().size(); ++t) {
    text += std::to_string(t);
    for (const Json& values : columns) {
      if (values[t].is_array())
        text += fmt::format(",{:.17g},{:.17g}", values[t][0].get<double>(), values[t][1].get<double>());
      else
        text += fmt::format(",{:.17g}", values[t].get<double>());
    }
    text += "\n";
  }
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

Json& Columns::solve(int n, const ColumnReport& report) {
  const int a = n / 3, colour = n % 3;
  if (!quark_.staggered()) return solves_[{a, colour}] = joined({{"spin", a}, {"colour", colour}}, entry(report));
  return solves_[{colour, a}] = joined({{"colour", colour}, {"mass", quark_.masses[a]}}, entry(report));
}

void Columns::note(int n, const HostSpinor& column, const ColumnReport& report, Communicator& ranks) {
  if (!report.midpoint.empty()) quark_.norms[n] = {report.midpoint, slice_norms(column, ranks)};
}

Json Columns::solves() const {
  auto all = Json::array();
  for (const auto& [key, solve] : solves_) all.push_back(solve);
  return all;
}

std::vector<double> Columns::residuals() const {
  std::vector<double> worst(quark_.quarks.size());
  for (const auto& [key, solve] : solves_) {
    double& one = worst[quark_.staggered() ? key.second : 0];
    one = std::max(one, solve["residual"].get<double>());
  }
  return worst;
}

std::string Columns::summary() const {
  double least = INFINITY, most = 0, residual = 0, seconds = 0;
  for (const auto& [column, solve] : solves_) {
    const double iterations = solve["iterations"];
    least = std::min(least, iterations);
    most = std::max(most, iterations);
    residual = std::max(residual, solve["residual"].get<double>());
    seconds += solve["seconds"].get<double>();
  }
  return fmt::format("{} columns: {}{} iterations, residual {:.2e} at most, {:.3g} s of solves", solves_.size(),
                     least < most ? fmt::format("{} to ", least) : "", most, residual, seconds);
}

Json Columns::result(const Contraction& c) {
  quark_.source_t = c.source_t;
  quark_.time_phase = c.time_phase;
  Json j = {{"lattice", quark_.lattice().global_extent()}, {"plaquette", c.plaquette}};
  if (quark_.staggered()) j["masses"] = quark_.masses;
  for (const CorrelatorKind* kind : listed<CorrelatorKind>())
    for (const Correlator& r : kind->contract(quark_))
      (r.group.empty() ? j : j[r.group])[r.name] = std::visit([](const auto& x) { return value_json(x); }, r.values);
  j["solves"] = solves();
  j["provenance"] = provenance_json(c);
  return j;
}

Json Columns::unfinished(const Contraction& c) const {
  return {{"lattice", quark_.lattice().global_extent()},
          {"plaquette", c.plaquette},
          {"finished", false},
          {"solves", solves()},
          {"provenance", provenance_json(c)}};
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
  Json own = runs::to_json(header.provenance);
  if (found.is_null()) return;
  if (found["provenance"].contains(formula_key) && !own.contains(formula_key)) own[formula_key] = "";
  for (const auto& [key, value] : own.items())
    if (const Json was = found["provenance"].value(key, Json()); was != value)
      throw UsageError(
          fmt::format("{}: is of an unfinished run with {} {}, not {}; choose another name or replace it with "
                      "--overwrite",
                      session.json.string(), key, printable(was.dump()), value.dump()));
}

void write_correlators(const std::filesystem::path& path, const Json& result, Session& session) {
  if (path.empty()) return;
  session.write(path, path.extension() == ".csv" ? csv(result) : result.dump(1) + "\n");
  session.info(fmt::format("wrote {}", path.string()));
}

}  // namespace quarksmith::runs
