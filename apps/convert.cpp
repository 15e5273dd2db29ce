// quarksmith convert: a configuration from one format to another.
#include <fmt/format.h>

#include "apps/options.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

struct ConvertOptions {
  CommonOptions common;
  std::string in, out, format, lattice;
  int bits = 0;
};

/// What is to be written: of a caller's links all that is known is what they are.
GaugeFile file_of(const ConvertOptions& o, const std::optional<Lattice>& lattice) {
  const HostGauge* found = links_in_memory(o.in);
  if (found == nullptr) return read_gauge(o.in, lattice, true, o.common.partition());
  return {.gauge = *found, .format = "in memory", .byte_order = {}, .checks = {}, .notes = {}};
}

int run(const ConvertOptions& o) {
  std::optional<Lattice> lattice;
  if (!o.lattice.empty()) lattice.emplace(four_integers(o.lattice, "--lattice"));
  const std::string format = output_format(o.out, o.format);
  o.common.claim({{"OUT", o.out}});
  const GaugeFile f = file_of(o, lattice);
  const int bits = output_bits(format, o.bits);
  write_gauge(o.common.output(o.out), f.gauge, format, bits);
  if (const Unitarity u = check_unitarity(f.gauge, o.common.ranks()); !is_su3(u))
    o.common.warn(fmt::format("{}: the links are not SU(3): they deviate by {}", o.in, deviation_text(u)));
  o.common.info(fmt::format("{} ({}, {} bit, {}) -> {} ({}, {} bit)", o.in, f.format, f.bits,
                            f.gauge.lattice.global_text(), o.out, format, bits));
  o.common.write_json(
      {{"in", o.in}, {"out", o.out}, {"format", format}, {"bits", bits}, {"lattice", f.gauge.lattice.global_extent()}});
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, int& status) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* c = app.add_subcommand("convert", "Rewrite a configuration in another format");
  c->add_option("in", o->in, "configuration: " + gauge_formats())->required();
  c->add_option("out", o->out, "file to write")->required();
  add_format(*c, o->format, "OUT", &o->bits);
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  o->common.add_to(*c,
                   CommonOptions::shares | CommonOptions::reports | CommonOptions::replaces | CommonOptions::colourful);
  c->callback([o, &status] { status = run(*o); });
}

}  // namespace quarksmith::apps
