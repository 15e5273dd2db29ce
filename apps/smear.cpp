// quarksmith smear: a configuration with smeared links.
#include <fmt/format.h>

#include "apps/caller.hpp"
#include "apps/options.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::apps {
namespace {

struct SmearOptions {
  CommonOptions common;
  std::string kind, in, out, lattice, format, links = "all", hyp = "0.75,0.6,0.3";
  double rho = 0.1, alpha = 0.5;
  int steps = 1, bits = 0;
  bool allow_non_su3 = false;
};

LinkSmearing smearing_of(const SmearOptions& o, const CLI::App& command) {
  const std::string own = o.kind == "stout" ? "--rho" : o.kind == "ape" ? "--alpha" : "--hyp";
  for (const std::string option : {"--rho", "--alpha", "--hyp"})
    if (option != own && command.count(option) > 0) throw UsageError(fmt::format("smear {} takes {}", o.kind, own));
  if (o.kind == "hyp") {
    if (o.links == "space") throw UsageError("smear hyp blocks all links; leave out --links space");
    return link_smearing_of(fmt::format("hyp:{},{}", o.hyp, o.steps));
  }
  return link_smearing_of(fmt::format("{}:{},{},{}", o.kind, o.kind == "stout" ? o.rho : o.alpha, o.steps, o.links));
}

int run(const SmearOptions& o, const CLI::App& command) {
  const LinkSmearing how = smearing_of(o, command);
  const std::string format = o.out.empty() ? "" : output_format(o.out, o.format);
  o.common.claim({{"OUT", o.out}});
  const NamedGauge named = open_gauge(o.in, o.lattice, o.common);
  require_su3(named.gauge, o.in, o.allow_non_su3, o.common);
  const DomainPointer domain = o.common.open_domain(named.gauge.lattice);
  const double start = now();
  const HostGauge smeared = smear(how, named.gauge, domain);
  const double seconds = now() - start;
  const GaugeAverages before = gauge_averages(named.gauge, domain), after = gauge_averages(smeared, domain);
  if (!o.out.empty()) write_gauge(o.common.output(o.out), smeared, format, output_bits(format, o.bits));
  if (caller() != nullptr) caller()->gauge = smeared;
  if (o.common.ranks().rank() == 0)
    fmt::print("plaquette {:.12f} -> {:.12f}  (space {:.12f}, time {:.12f}), link trace {:.12f}\n", before.plaquette,
               after.plaquette, after.space_plaquette, after.time_plaquette, after.link_trace);
  o.common.write_json({{"in", o.in},
                       {"out", o.out},
                       {"smearing", o.kind},
                       {"strength", how.values[0].real},
                       {"steps", o.steps},
                       {"links", o.links},
                       {"plaquette", after.plaquette},
                       {"space_plaquette", after.space_plaquette},
                       {"time_plaquette", after.time_plaquette},
                       {"link_trace", after.link_trace},
                       {"seconds", seconds}});
  return 0;
}

}  // namespace

void add_smear(CLI::App& app, int& status) {
  auto o = std::make_shared<SmearOptions>();
  CLI::App* c = app.add_subcommand("smear", "Smear the links of a configuration: stout, APE or HYP");
  c->add_option("kind", o->kind, "stout, ape or hyp")->required()->check(CLI::IsMember({"stout", "ape", "hyp"}));
  c->add_option("in", o->in, "configuration, or unit:..., weak:..., hot:... as for propagator")->required();
  c->add_option("out", o->out, "file to write")->required(caller() == nullptr);
  c->add_option("--rho", o->rho, "of stout: U' = exp(rho TA(C U^+)) U")->capture_default_str();
  c->add_option("--alpha", o->alpha, "of ape: weight of the staples, (1 - alpha) U + alpha/n C")->capture_default_str();
  c->add_option("--hyp", o->hyp, "of hyp: alpha_1,alpha_2,alpha_3")->capture_default_str();
  c->add_option("--steps", o->steps, "how often")->check(CLI::PositiveNumber)->capture_default_str();
  c->add_option("--links", o->links, "all, or space: time links are neither smeared nor used")
      ->check(CLI::IsMember({"all", "space"}))
      ->capture_default_str();
  add_format(*c, o->format, "OUT", &o->bits);
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  add_allow_non_su3(*c, o->allow_non_su3);
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::reports |
                           CommonOptions::replaces | CommonOptions::colourful);
  c->callback([o, c, &status] { status = run(*o, *c); });
}

}  // namespace quarksmith::apps
