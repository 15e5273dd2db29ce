// quarksmith info: what a file of a configuration or a propagator holds.
#include <fmt/format.h>

#include "apps/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::apps {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string file, lattice;
};

nlohmann::ordered_json to_json(const GaugeFile& f, const GaugeAverages& g, const Unitarity& u) {
  nlohmann::ordered_json j;
  j["format"] = f.format;
  j["bits"] = f.bits;
  j["byte_order"] = f.byte_order;
  j["lattice"] = f.gauge.lattice.global_extent();
  j["colours"] = f.gauge.colours();
  j["plaquette"] = g.plaquette;
  j["space_plaquette"] = g.space_plaquette;
  j["time_plaquette"] = g.time_plaquette;
  j["link_trace"] = g.link_trace;
  j["unitarity"] = {{"unitary", u.unitary}, {"determinant", u.determinant}};
  for (const Complex64& p : f.gauge.phase) j["boundary_phase"].push_back({p.real(), p.imag()});
  for (const RecordedCheck& c : f.checks)
    j["checks"].push_back({{"what", c.what}, {"recorded", c.recorded}, {"computed", c.computed}, {"agrees", c.agrees}});
  return j;
}

/// What became of a column: `sound`, `damaged`, or `missing` if it is still to be solved.
const char* state_of(const PropagatorReader& file, int a, int b, HostSpinor& column) {
  if (!file.touched(a, b)) return "missing";
  return file.read(a, b, column) ? "sound" : "damaged";
}

int run_propagator(const InfoOptions& o) {
  const PropagatorReader file(o.file, o.common.ranks(), std::nullopt);
  const PropagatorForm& form = file.form();
  const auto content = file.provenance().find("content");
  const bool of_quarks = content == file.provenance().end();
  const std::string what = !of_quarks ? text_of(content->second) : form.vectors ? "eigenvectors" : "propagator";
  HostSpinor column(o.common.partition().part(file.extent()));
  nlohmann::ordered_json j = {{"format", what},
                              {"finished", !o.file.ends_with(".part")},
                              {"kind", form.staggered ? "staggered" : "dirac"},
                              {"lattice", file.extent()}};
  fmt::print("file         {}\n", o.file);
  int done = 0, damaged = 0;
  double residual = 0;
  for (int n = 0; n < form.columns(); ++n) {
    const int a = n / form.each, b = n % form.each;
    const std::string state = state_of(file, a, b, column);
    const ColumnReport r = file.report(a, b);
    done += state == "sound";
    damaged += state == "damaged";
    if (state == "sound") residual = std::max(residual, r.residual);
    nlohmann::ordered_json entry = {{form.vectors     ? "number"
                                     : form.staggered ? "mass"
                                                      : "spin",
                                     a},
                                    {form.vectors ? "slice" : "colour", b},
                                    {"state", state}};
    if (state != "missing")
      entry.update({{"checksum", file.checksum(a, b)},
                    {"iterations", r.iterations},
                    {"residual", r.residual},
                    {"solver", r.solver},
                    {"precision", r.precision},
                    {"even_odd", r.even_odd},
                    {"links", r.links}});
    j["columns"].push_back(std::move(entry));
  }
  fmt::print("format       {}{}, {}\n", what,
             !of_quarks       ? ""
             : form.staggered ? " of staggered quarks"
                              : " of Dirac quarks",
             o.file.ends_with(".part") ? "unfinished" : "finished");
  fmt::print("lattice      {}\n", column.lattice.global_text());
  fmt::print("columns      {} of {} sound, {} damaged\n", done, form.columns(), damaged);
  if (done > 0 && of_quarks) fmt::print("residual     {:.2e} at most\n", residual);
  for (const auto& [key, value] : file.provenance())
    if (key != "format" && key != "kind" && key != "lattice" && key != "columns")
      fmt::print("{:<12} {}\n", key, text_of(value));
  j["provenance"] = apps::to_json(file.provenance());
  o.common.write_json(j);
  if (damaged > 0)
    throw Error(fmt::format("{}: {} columns do not match their checksums: make them again with `quarksmith {}`", o.file,
                            damaged,
                            !of_quarks     ? "measure"
                            : form.vectors ? "eigen"
                                           : "propagator"));
  return 0;
}

int run_records(const InfoOptions& o) {
  const RecordReader all(o.file);
  nlohmann::ordered_json arrays = nlohmann::ordered_json::object();
  for (const std::string& name : all.names())
    for (const RecordArray& a : all.read(name).arrays) arrays[a.name] = a.extent;
  fmt::print("format       measurements of {} configurations, finished and sound\n", all.names().size());
  for (const auto& [name, extent] : arrays.items()) fmt::print("{:<12} {}\n", name, extent.dump());
  o.common.write_json({{"format", "measurements"}, {"configurations", all.names()}, {"arrays", arrays}});
  return 0;
}

int run(const InfoOptions& o) {
  if (is_record_file(o.file)) return run_records(o);
  if (is_hdf5(o.file)) return run_propagator(o);
  std::optional<Lattice> lattice;
  if (!o.lattice.empty()) lattice.emplace(four_integers(o.lattice, "--lattice"));
  const GaugeFile f = read_gauge(o.file, lattice, false, o.common.partition());
  const auto domain = std::make_shared<Domain>(
      f.gauge.lattice, o.common.device == "auto" ? Device::cpu() : o.common.open_device(), CommonOptions::all_ranks());
  const GaugeAverages g = gauge_averages(f.gauge, domain);
  const Unitarity u = check_unitarity(f.gauge, o.common.ranks());
  bool good = true;
  fmt::print("file         {}\n", o.file);
  fmt::print("format       {}, {} bit, {}{}\n", f.format, f.bits, f.byte_order,
             f.byte_order == "ascii" ? "" : "-endian");
  fmt::print("lattice      {}\n", f.gauge.lattice.global_text());
  if (f.gauge.colours() != 3) fmt::print("colours      {}\n", f.gauge.colours());
  fmt::print("plaquette    {:.12f}  (space {:.12f}, time {:.12f})\n", g.plaquette, g.space_plaquette, g.time_plaquette);
  fmt::print("link trace   {:.12f}\n", g.link_trace);
  fmt::print("unitarity    max |U U^+ - 1| = {:.1e}, max |det U - 1| = {:.1e}\n", u.unitary, u.determinant);
  if (!is_su3(u))
    fmt::print("             not SU({}): propagator, smear and flow take it with --allow-non-su3 alone\n",
               f.gauge.colours());
  for (int mu = 0; mu < directions; ++mu)
    if (f.gauge.phase[mu] != 1.0)
      fmt::print("boundary     phase {:.6g}{:+.6g}i found in the links across {}\n", f.gauge.phase[mu].real(),
                 f.gauge.phase[mu].imag(), "xyzt"[mu]);
  for (const RecordedCheck& c : f.checks) {
    fmt::print("{:<12} recorded {}, computed {}: {}\n", c.what, c.recorded, c.computed,
               c.agrees ? "agrees" : "DIFFERS");
    good = good && c.agrees;
  }
  if (f.checks.empty()) fmt::print("checks       none recorded in the file\n");
  o.common.write_json(to_json(f, g, u));
  if (!good)
    throw Error(fmt::format("{}: the links do not match what the file records: it is damaged; fetch it again", o.file));
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  auto o = std::make_shared<InfoOptions>();
  CLI::App* c = app.add_subcommand("info", "Describe a configuration or a propagator, and verify its checksums");
  c->add_option("file", o->file, "propagator (HDF5, finished or .part) or configuration: " + gauge_formats())
      ->required();
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::reports);
  c->callback([o, &status] {
    o->common.claim({}, {{"FILE", o->file}});
    status = run(*o);
  });
}

}  // namespace quarksmith::apps
