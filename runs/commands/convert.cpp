// quarksmith convert: a configuration from one format to another.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/convert.hpp"
#include "runs/print.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

/// What is to be written: of a caller's links all that is known is what they are.
GaugeFile file_of(const ConvertDescription& o, const std::optional<Lattice>& lattice, Session& session) {
  const GaugeLinks* found = links_in_memory(o.in, session);
  if (found == nullptr) {
    GaugeFile file = read_gauge(o.in, lattice, !session.ignore_checksum, session.partition());
    for (const std::string& remark : file.remarks) session.warn(o.in + ": " + remark);
    require_colours(file.gauge.colours(), o.in, session);
    return file;
  }
  require_colours(found->colours(), "the gauge field", session);
  return {.gauge = *found, .format = "in memory", .byte_order = {}, .checks = {}, .notes = {}};
}

}  // namespace

void ConvertDescription::list(Members& members) {
  auto add = members.of(*this);
  add("in", in, "configuration: " + gauge_formats()).required().positional();
  add("out", out, "file to write").required().positional();
  list_format(add, format, "OUT", &bits);
  add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
}

namespace commands {
extern constinit const Command convert = {
    .name = "convert",
    .help = "Rewrite a configuration in another format",
    .place = 30,
    .uses = Session::reads | Session::shares | Session::reports | Session::replaces | Session::colourful,
    .make = task<ConvertDescription>};
}

ConvertResult run(ConvertDescription& o, Session& session) {
  enter(o, session, commands::convert);
  std::optional<Lattice> lattice;
  if (!o.lattice.empty()) lattice.emplace(four_integers(o.lattice, "--lattice"));
  const std::string format = output_format(o.out, o.format);
  session.claim({{"OUT", o.out}}, {{"IN", o.in}});
  const GaugeFile f = file_of(o, lattice, session);
  const int bits = output_bits(format, o.bits);
  write_gauge(session.output(o.out), f.gauge, format, bits);
  if (const Unitarity u = check_unitarity(f.gauge, session.ranks()); !is_su3(u))
    session.warn(fmt::format("{}: the links are not SU(3): they deviate by {}", o.in, deviation_text(u)));
  session.info(fmt::format("{} ({}, {} bit, {}) -> {} ({}, {} bit)", o.in, f.format, f.bits,
                           f.gauge.lattice.global_text(), o.out, format, bits));
  ConvertResult r{f.gauge.lattice.global_extent(), format, bits};
  report(session, {{"in", o.in}, {"out", o.out}, {"format", format}, {"bits", bits}, {"lattice", r.lattice}});
  return r;
}

}  // namespace quarksmith::runs
