// quarksmith smear: a configuration with smeared links.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/smear.hpp"
#include "runs/smeared_links.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::runs {
namespace {

LinkSmearing smearing_of(const SmearDescription& o) {
  const char* own = o.kind == "stout" ? "rho" : o.kind == "ape" ? "alpha" : "hyp";
  for (const char* other : {"rho", "alpha", "hyp"})
    if (std::string_view(other) != own && o.given(other))
      throw UsageError(fmt::format("smear {} takes {}", o.kind, o.called(own)));
  if (o.kind == "hyp") {
    if (o.links == "space") throw UsageError("smear hyp blocks all links; leave out " + o.called("links", "space"));
    return link_smearing_of(fmt::format("hyp:{},{}", o.hyp, o.steps));
  }
  return link_smearing_of(fmt::format("{}:{},{},{}", o.kind, o.kind == "stout" ? o.rho : o.alpha, o.steps, o.links));
}

Json smear_json(const SmearDescription& o, const SmearResult& r) {
  return {{"in", o.in},
          {"out", o.out},
          {"smearing", o.kind},
          {"strength", r.strength},
          {"steps", o.steps},
          {"links", o.links},
          {"plaquette", r.after.plaquette},
          {"space_plaquette", r.after.space_plaquette},
          {"time_plaquette", r.after.time_plaquette},
          {"link_trace", r.after.link_trace},
          {"seconds", r.seconds}};
}

}  // namespace

void SmearDescription::list(Members& members) {
  auto add = members.of(*this);
  add("kind", kind, "stout, ape or hyp").required().among({"stout", "ape", "hyp"}).positional();
  add("in", in, "configuration, or unit:..., weak:..., hot:... as for propagator").required().positional();
  add("out", out, "file to write").positional();
  add("rho", rho, "of stout: U' = exp(rho TA(C U^+)) U");
  add("alpha", alpha, "of ape: weight of the staples, (1 - alpha) U + alpha/n C");
  add("hyp", hyp, "of hyp: alpha_1,alpha_2,alpha_3");
  add("steps", steps, "how often").above(0);
  add("links", links, "all, or space: time links are neither smeared nor used").among({"all", "space"});
  list_format(add, format, "OUT", &bits);
  add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
}

namespace commands {
extern constinit const Command smear = {.name = "smear",
                                        .help = "Smear the links of a configuration: stout, APE or HYP",
                                        .place = 70,
                                        .uses = Session::reads | Session::computes | Session::shares |
                                                Session::reports | Session::replaces | Session::colourful,
                                        .make = task<SmearDescription>,
                                        .leaves = "gauge"};
}

SmearResult run(SmearDescription& o, Session& session) {
  enter(o, session, commands::smear);
  if (o.out.empty() && !session.in_memory) throw UsageError("smear needs OUT, the file to write");
  const LinkSmearing how = smearing_of(o);
  const std::string format = o.out.empty() ? "" : output_format(o.out, o.format);
  session.claim({{"OUT", o.out}}, {{"IN", o.in}});
  const NamedGauge named = open_gauge(o.in, o.lattice, session);
  const DomainPointer domain = session.open_domain(named.gauge.lattice());
  const double start = now();
  SmearResult r{.gauge = smear(how, named.gauge, domain), .strength = how.values[0].real};
  r.seconds = now() - start;
  r.before = gauge_averages(named.gauge, domain);
  r.after = gauge_averages(r.gauge, domain);
  if (!o.out.empty()) write_gauge(session.output(o.out), r.gauge, format, output_bits(format, o.bits));
  if (session.ranks().rank() == 0)
    print(session, "plaquette {:.12f} -> {:.12f}  (space {:.12f}, time {:.12f}), link trace {:.12f}\n",
          r.before.plaquette, r.after.plaquette, r.after.space_plaquette, r.after.time_plaquette, r.after.link_trace);
  warn_of_roughening(o.kind, r.before.plaquette, r.after.plaquette, session);
  report(session, smear_json(o, r));
  return r;
}

}  // namespace quarksmith::runs
