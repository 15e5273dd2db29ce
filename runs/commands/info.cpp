// quarksmith info: what a file of a configuration or a propagator holds.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {
namespace {

struct InfoDescription : Description {
  std::string file, lattice;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("file", file, "propagator (HDF5, finished or .part) or configuration: " + gauge_formats())
        .required()
        .positional();
    add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
  }
};

Json to_json(const GaugeFile& f, const GaugeAverages& g, const Unitarity& u) {
  Json j;
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

Outcome run_propagator(InfoDescription& o, Session& session) {
  const PropagatorReader file(o.file, session.ranks(), std::nullopt);
  const PropagatorForm& form = file.form();
  const auto content = file.provenance().find("content");
  const bool of_quarks = content == file.provenance().end();
  const std::string what = !of_quarks ? text_of(content->second) : form.vectors ? "eigenvectors" : "propagator";
  HostSpinor column(session.partition().local_lattice(file.extent()));
  Json j = {{"format", what},
            {"finished", !o.file.ends_with(".part")},
            {"kind", form.staggered ? "staggered" : "dirac"},
            {"lattice", file.extent()}};
  print(session, "file         {}\n", o.file);
  int done = 0, damaged = 0;
  double residual = 0;
  for (int n = 0; n < form.columns(); ++n) {
    const int a = n / form.each, b = n % form.each;
    const std::string state = state_of(file, a, b, column);
    const ColumnReport r = file.report(a, b);
    done += state == "sound";
    damaged += state == "damaged";
    if (state == "sound") residual = std::max(residual, r.residual);
    Json entry = {{form.vectors     ? "number"
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
  print(session, "format       {}{}, {}\n", what,
        !of_quarks       ? ""
        : form.staggered ? " of staggered quarks"
                         : " of Dirac quarks",
        o.file.ends_with(".part") ? "unfinished" : "finished");
  print(session, "lattice      {}\n", column.lattice.global_text());
  print(session, "columns      {} of {} sound, {} damaged\n", done, form.columns(), damaged);
  if (done > 0 && of_quarks) print(session, "residual     {:.2e} at most\n", residual);
  for (const auto& [key, value] : file.provenance())
    if (key != "format" && key != "kind" && key != "lattice" && key != "columns")
      print(session, "{:<12} {}\n", key, text_of(value));
  j["provenance"] = runs::to_json(file.provenance());
  report(session, j);
  if (damaged > 0)
    throw Error(fmt::format("{}: {} columns do not match their checksums: make them again with `quarksmith {}`", o.file,
                            damaged,
                            !of_quarks     ? "measure"
                            : form.vectors ? "eigen"
                                           : "propagator"));
  return {};
}

Outcome run_records(InfoDescription& o, Session& session) {
  const RecordReader all(o.file);
  Json arrays = Json::object();
  for (const std::string& name : all.names())
    for (const RecordArray& a : all.read(name).arrays) arrays[a.name] = a.extent;
  print(session, "format       measurements of {} configurations, finished and sound\n", all.names().size());
  for (const auto& [name, extent] : arrays.items()) print(session, "{:<12} {}\n", name, extent.dump());
  report(session, {{"format", "measurements"}, {"configurations", all.names()}, {"arrays", arrays}});
  return {};
}

Outcome run(InfoDescription& o, Session& session) {
  session.claim({}, {{"FILE", o.file}});
  if (is_record_file(o.file)) return run_records(o, session);
  if (is_hdf5(o.file)) return run_propagator(o, session);
  std::optional<Lattice> lattice;
  if (!o.lattice.empty()) lattice.emplace(four_integers(o.lattice, "--lattice"));
  const GaugeFile f = read_gauge(o.file, lattice, false, session.partition());
  for (const std::string& remark : f.remarks) session.warn(o.file + ": " + remark);
  const auto domain = std::make_shared<Domain>(
      f.gauge.lattice, session.device == "auto" ? Device::cpu() : session.open_device(), session.all_ranks());
  const GaugeAverages g = gauge_averages(f.gauge, domain);
  const Unitarity u = check_unitarity(f.gauge, session.ranks());
  bool good = true;
  print(session, "file         {}\n", o.file);
  print(session, "format       {}, {} bit, {}{}\n", f.format, f.bits, f.byte_order,
        f.byte_order == "ascii" ? "" : "-endian");
  print(session, "lattice      {}\n", f.gauge.lattice.global_text());
  if (f.gauge.colours() != 3) print(session, "colours      {}\n", f.gauge.colours());
  print(session, "plaquette    {:.12f}  (space {:.12f}, time {:.12f})\n", g.plaquette, g.space_plaquette,
        g.time_plaquette);
  print(session, "link trace   {:.12f}\n", g.link_trace);
  print(session, "unitarity    max |U U^+ - 1| = {:.1e}, max |det U - 1| = {:.1e}\n", u.unitary, u.determinant);
  if (!is_su3(u))
    print(session, "             not SU({}): propagator, smear and flow take it with --allow-non-su3 alone\n",
          f.gauge.colours());
  for (int mu = 0; mu < directions; ++mu)
    if (f.gauge.phase[mu] != 1.0)
      print(session, "boundary     phase {:.6g}{:+.6g}i found in the links across {}\n", f.gauge.phase[mu].real(),
            f.gauge.phase[mu].imag(), "xyzt"[mu]);
  for (const RecordedCheck& c : f.checks) {
    print(session, "{:<12} recorded {}, computed {}: {}\n", c.what, c.recorded, c.computed,
          c.agrees ? "agrees" : "DIFFERS");
    good = good && c.agrees;
  }
  if (f.checks.empty()) print(session, "checks       none recorded in the file\n");
  report(session, to_json(f, g, u));
  if (!good)
    throw Error(fmt::format("{}: the links do not match what the file records: it is damaged; fetch it again", o.file));
  return {};
}

}  // namespace

namespace commands {
extern constinit const Command info = {.name = "info",
                                       .help = "Describe a configuration or a propagator, and verify its checksums",
                                       .place = 10,
                                       .uses = Session::reads | Session::computes | Session::shares | Session::reports,
                                       .make = task<InfoDescription>};
}

}  // namespace quarksmith::runs
