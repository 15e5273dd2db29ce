// quarksmith links: fat and long links of a configuration.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/links.hpp"
#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "solvers/actions/action_fields.hpp"

namespace quarksmith::runs {
namespace {

constexpr const char* links_record = "quarksmith-links";

/// The epsilon with which a free quark of this bare mass (2m on the diagonal of M) moves at the speed of light at order
/// p^2: the series of hep-lat/0610092 to (a m)^8; for charm.
double naik_epsilon(double mass) {
  const double m2 = mass * mass;
  return m2 * (-27.0 / 40 + m2 * (327.0 / 1120 + m2 * (-15607.0 / 268800 + m2 * (-73697.0 / 3942400))));
}

/// What was made of what, in words for a file.
Json provenance(const std::string& action, const LinksResult& r) {
  Json j = {{"action", action}, {"gauge", r.origin}};
  if (action == "asqtad") j["u0"] = r.u0;
  if (action == "hisq") j["naik_epsilon"] = r.epsilon;
  j["phases"] = "none: neither staggered phases nor those of boundaries are included";
  return j;
}

/// Writes one of the two fields, and tells of it.
LinksResult::Field put(Session& session, const std::string& path, const std::string& kind, HostGauge links,
                       const DomainPointer& domain, Json text) {
  links.phase = {1, 1, 1, 1};
  LinksResult::Field field{gauge_averages(links, domain).link_trace, {}};
  if (!path.empty()) {
    text["links"] = kind;
    write_gauge(session.output(path), links, "ildg", 64, {{links_record, text.dump()}});
  }
  if (session.ranks().rank() == 0)
    print(session, "{:<5} links  average Re tr / 3 = {:.12f}{}\n", kind, field.link_trace,
          path.empty() ? "" : ", in " + path);
  if (session.in_memory) field.links = std::move(links);
  return field;
}

}  // namespace

void LinksDescription::list(Members& members) {
  auto add = members.of(*this);
  add("gauge", gauge, "configuration: " + gauge_formats() + "; or a generated one, as --gauge of `propagator`")
      .required()
      .positional();
  add("action", action, "asqtad or hisq (default)");
  add("u0", u0, "tadpole factor of asqtad (default 1)").open();
  add("epsilon", epsilon, "Naik epsilon of HISQ (default 0)").open();
  add("charm", charm, "the same by its series in this bare mass").open();
  add("fat", fat, "file to write: fat links in an ILDG container, 64 bit");
  add("long", longs, "file to write: long links, Naik's coefficient included");
  add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
}

namespace commands {
extern constinit const Command links = {
    .name = "links",
    .help = "Make the fat and long links of improved staggered actions",
    .place = 40,
    .uses = Session::reads | Session::computes | Session::shares | Session::reports | Session::replaces,
    .make = task<LinksDescription>};
}

LinksResult run(LinksDescription& o, Session& session) {
  enter(o, session, commands::links);
  if (o.action != "asqtad" && o.action != "hisq")
    throw UnknownName(fmt::format("action '{}' has no fat links here; use asqtad or hisq", o.action));
  if (o.action == "hisq")
    o.refuse_given({"u0"}, "is the tadpole factor of asqtad: HISQ has none; leave it out");
  else
    o.refuse_given({"epsilon", "charm"}, "belongs to HISQ; use " + o.called("action", "hisq"));
  if (o.given("charm")) {
    o.refuse_given({"epsilon"}, "is what " + o.called("charm") + " MASS gives; leave one of them out");
  }
  LinksResult r{{}, o.u0, o.given("charm") ? naik_epsilon(o.charm) : o.epsilon};
  std::map<std::string, double> given = {{"mass", 1}};  // links do not depend on it
  given.emplace(o.action == "hisq" ? "naik_epsilon" : "u0", o.action == "hisq" ? r.epsilon : r.u0);
  const ActionValues values(find_action(o.action), given);
  session.claim({{"fat", o.fat}, {"long", o.longs}}, {{"GAUGE", o.gauge}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, session);
  const DomainPointer domain = session.open_domain(named.gauge.lattice());
  const ActionFields fields(
      values, {},
      LinkStore(named.gauge, domain, std::string(full_storage(named.gauge.colours()).name), "degrand_rossi"));
  r.origin = named.origin;
  Json result = provenance(o.action, r);
  const auto made = [&](int length) { return download(*fields.in_double()[std::size_t(fields.hops(length))]); };
  r.fat = put(session, o.fat, "fat", made(1), domain, result);
  r.longs = put(session, o.longs, "long", made(3), domain, result);
  result["fat"] = {{"file", o.fat}, {"link_trace", r.fat.link_trace}};
  result["long"] = {{"file", o.longs}, {"link_trace", r.longs.link_trace}};
  report(session, result);
  return r;
}

}  // namespace quarksmith::runs
