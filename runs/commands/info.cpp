// quarksmith info: what a file of a configuration or a propagator holds.
#include <fmt/format.h>

#include <algorithm>

#include "runs/command.hpp"
#include "runs/contraction.hpp"
#include "runs/info.hpp"
#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {
namespace {

Json json_of(const ConfigurationInfo& c) {
  const GaugeFile& f = c.file;
  Json j = {{"format", f.format},
            {"bits", f.bits},
            {"byte_order", f.byte_order},
            {"lattice", f.gauge.lattice.global_extent()},
            {"colours", f.gauge.colours()},
            {"plaquette", c.averages.plaquette},
            {"space_plaquette", c.averages.space_plaquette},
            {"time_plaquette", c.averages.time_plaquette},
            {"link_trace", c.averages.link_trace},
            {"unitarity", {{"unitary", c.unitarity.unitary}, {"determinant", c.unitarity.determinant}}}};
  for (const Complex64& p : f.gauge.phase) j["boundary_phase"].push_back({p.real(), p.imag()});
  for (const RecordedCheck& check : f.checks)
    j["checks"].push_back(
        {{"what", check.what}, {"recorded", check.recorded}, {"computed", check.computed}, {"agrees", check.agrees}});
  return j;
}

void print_configuration(const std::string& name, const ConfigurationInfo& c, Session& session) {
  const GaugeFile& f = c.file;
  print(session, "file         {}\n", name);
  print(session, "format       {}, {} bit, {}{}\n", f.format, f.bits, f.byte_order,
        f.byte_order == "ascii" ? "" : "-endian");
  print(session, "lattice      {}\n", f.gauge.lattice.global_text());
  if (f.gauge.colours() != 3) print(session, "colours      {}\n", f.gauge.colours());
  print(session, "plaquette    {:.12f}  (space {:.12f}, time {:.12f})\n", c.averages.plaquette,
        c.averages.space_plaquette, c.averages.time_plaquette);
  print(session, "link trace   {:.12f}\n", c.averages.link_trace);
  print(session, "unitarity    max |U U^+ - 1| = {:.1e}, max |det U - 1| = {:.1e}\n", c.unitarity.unitary,
        c.unitarity.determinant);
  if (!is_su3(c.unitarity))
    print(session, "             not SU({}): propagator, eigen and measure take it with --allow-non-su3 alone\n",
          f.gauge.colours());
  for (int mu = 0; mu < directions; ++mu)
    if (f.gauge.phase[mu] != 1.0)
      print(session, "boundary     phase {:.6g}{:+.6g}i found in the links across {}\n", f.gauge.phase[mu].real(),
            f.gauge.phase[mu].imag(), "xyzt"[mu]);
  for (const RecordedCheck& check : f.checks)
    print(session, "{:<12} recorded {}, computed {}: {}\n", check.what, check.recorded, check.computed,
          check.agrees ? "agrees" : "DIFFERS");
  if (f.checks.empty()) print(session, "checks       none recorded in the file\n");
}

ConfigurationInfo configuration_in(const InfoDescription& o, Session& session) {
  std::optional<Lattice> lattice;
  if (!o.lattice.empty()) lattice.emplace(four_integers(o.lattice, "--lattice"));
  ConfigurationInfo c{read_gauge(o.file, lattice, false, session.partition()), {}, {}};
  for (const std::string& remark : c.file.remarks) session.warn(o.file + ": " + remark);
  const auto domain = std::make_shared<Domain>(
      c.file.gauge.lattice, session.device == "auto" ? Device::cpu() : session.open_device(), session.all_ranks());
  c.averages = gauge_averages(c.file.gauge, domain);
  c.unitarity = check_unitarity(c.file.gauge, session.ranks());
  print_configuration(o.file, c, session);
  report(session, json_of(c));
  if (!std::ranges::all_of(c.file.checks, &RecordedCheck::agrees))
    throw Error(fmt::format("{}: the links do not match what the file records: it is damaged; fetch it again", o.file));
  return c;
}

Json json_of(const ColumnsInfo& c) {
  const char* first = c.form.vectors ? "number" : c.form.staggered ? "mass" : "spin";
  Json j = {{"format", c.content},
            {"finished", c.finished},
            {"kind", c.form.staggered ? "staggered" : "dirac"},
            {"lattice", c.lattice}};
  for (std::size_t n = 0; n < c.columns.size(); ++n) {
    const auto& [state, checksum, r] = c.columns[n];
    Json entry = {{first, n / c.form.each}, {c.form.vectors ? "slice" : "colour", n % c.form.each}, {"state", state}};
    if (state != "missing")
      entry.update({{"checksum", checksum},
                    {"iterations", r.iterations},
                    {"residual", r.residual},
                    {"solver", r.solver},
                    {"precision", r.precision},
                    {"even_odd", r.even_odd},
                    {"links", r.links}});
    j["columns"].push_back(std::move(entry));
  }
  j["provenance"] = runs::to_json(c.provenance);
  return j;
}

ColumnsInfo columns_in(const InfoDescription& o, Session& session) {
  const PropagatorReader file(o.file, session.ranks(), std::nullopt);
  const PropagatorForm& form = file.form();
  const auto content = file.provenance().find("content");
  const bool of_quarks = content == file.provenance().end();
  ColumnsInfo c{!of_quarks     ? text_of(content->second)
                : form.vectors ? "eigenvectors"
                               : "propagator",
                !o.file.ends_with(".part"), form, file.extent(), file.provenance()};
  HostSpinor column(session.partition().local_lattice(file.extent()));
  double residual = 0;
  for (int n = 0; n < form.columns(); ++n) {
    const int a = n / form.each, b = n % form.each;
    if (!file.touched(a, b)) {
      c.columns.push_back({"missing", {}, {}});
      continue;
    }
    const bool sound = file.read(a, b, column);
    c.columns.push_back({sound ? "sound" : "damaged", file.checksum(a, b), file.report(a, b)});
    if (sound) residual = std::max(residual, c.columns.back().report.residual);
  }
  const int sound = c.count("sound"), damaged = c.count("damaged");
  print(session, "file         {}\n", o.file);
  print(session, "format       {}{}, {}\n", c.content,
        !of_quarks       ? ""
        : form.staggered ? " of staggered quarks"
                         : " of Dirac quarks",
        c.finished ? "finished" : "unfinished");
  print(session, "lattice      {}\n", column.lattice.global_text());
  print(session, "columns      {} of {} sound, {} damaged\n", sound, form.columns(), damaged);
  if (sound > 0 && of_quarks) print(session, "residual     {:.2e} at most\n", residual);
  for (const auto& [key, value] : c.provenance)
    if (key != "format" && key != "kind" && key != "lattice" && key != "columns")
      print(session, "{:<12} {}\n", key, text_of(value));
  report(session, json_of(c));
  if (damaged > 0)
    throw Error(fmt::format("{}: {} columns do not match their checksums: make them again with `quarksmith {}`", o.file,
                            damaged,
                            !of_quarks     ? "measure"
                            : form.vectors ? "eigen"
                                           : "propagator"));
  return c;
}

RecordsInfo records_in(const InfoDescription& o, Session& session) {
  const RecordReader all(o.file);
  RecordsInfo r{all.names(), {}};
  for (const std::string& name : all.names())
    for (const RecordArray& a : all.read(name).arrays) r.arrays[a.name] = a.extent;
  print(session, "format       measurements of {} configurations, finished and sound\n", r.configurations.size());
  for (const auto& [name, extent] : r.arrays) print(session, "{:<12} {}\n", name, Json(extent).dump());
  report(session, {{"format", "measurements"}, {"configurations", r.configurations}, {"arrays", r.arrays}});
  return r;
}

}  // namespace

void InfoDescription::list(Members& members) {
  auto add = members.of(*this);
  add("file", file, "propagator (HDF5, finished or .part) or configuration: " + gauge_formats())
      .required()
      .positional();
  add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
}

int ColumnsInfo::count(std::string_view state) const {
  return static_cast<int>(std::ranges::count(columns, state, &Column::state));
}

namespace commands {
extern constinit const Command info = {.name = "info",
                                       .help = "Describe a configuration or a propagator, and verify its checksums",
                                       .place = 10,
                                       .uses = Session::reads | Session::computes | Session::shares | Session::reports,
                                       .make = task<InfoDescription>};
}

InfoResult run(InfoDescription& o, Session& session) {
  enter(o, session, commands::info);
  session.claim({}, {{"FILE", o.file}});
  InfoResult r;
  if (is_record_file(o.file))
    r.records = records_in(o, session);
  else if (is_hdf5(o.file))
    r.columns = columns_in(o, session);
  else
    r.configuration = configuration_in(o, session);
  return r;
}

}  // namespace quarksmith::runs
