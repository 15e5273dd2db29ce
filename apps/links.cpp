// quarksmith links: fat and long links of a configuration.
#include <fmt/format.h>

#include "apps/option_rules.hpp"
#include "runtime/error.hpp"
#include "solvers/actions/action_fields.hpp"

namespace quarksmith::apps {
namespace {

constexpr const char* links_record = "quarksmith-links";

struct LinksOptions {
  CommonOptions common;
  std::string action = "hisq", gauge, lattice, fat, longs;
  double u0 = 1, epsilon = 0, charm = 0;
};

/// The epsilon with which a free quark of this bare mass (2m on the diagonal of M) moves at the speed of light at order
/// p^2: the series of hep-lat/0610092 to (a m)^8; for charm.
double naik_epsilon(double mass) {
  const double m2 = mass * mass;
  return m2 * (-27.0 / 40 + m2 * (327.0 / 1120 + m2 * (-15607.0 / 268800 + m2 * (-73697.0 / 3942400))));
}

/// What was made of what, in words for a file.
nlohmann::ordered_json provenance(const LinksOptions& o, const std::string& origin) {
  nlohmann::ordered_json j = {{"action", o.action}, {"gauge", origin}};
  if (o.action == "asqtad") j["u0"] = o.u0;
  if (o.action == "hisq") j["naik_epsilon"] = o.epsilon;
  j["phases"] = "none: neither staggered phases nor those of boundaries are included";
  return j;
}

/// Writes and describes one of the two fields.
nlohmann::ordered_json put(const LinksOptions& o, const std::string& path, const std::string& kind, HostGauge links,
                           const DomainPointer& domain, nlohmann::ordered_json text) {
  links.phase = {1, 1, 1, 1};
  const double trace = gauge_averages(links, domain).link_trace;
  if (!path.empty()) {
    text["links"] = kind;
    write_gauge(o.common.output(path), links, "ildg", 64, {{links_record, text.dump()}});
  }
  if (o.common.ranks().rank() == 0)
    fmt::print("{:<5} links  average Re tr / 3 = {:.12f}{}\n", kind, trace, path.empty() ? "" : ", in " + path);
  return {{"file", path}, {"link_trace", trace}};
}

int run(LinksOptions o, const CLI::App& command) {
  if (o.action != "asqtad" && o.action != "hisq")
    throw UnknownName(fmt::format("action '{}' has no fat links here; use asqtad or hisq", o.action));
  if (o.action == "hisq")
    refuse_options(command, {"--u0"}, "is the tadpole factor of asqtad: HISQ has none; leave it out");
  else
    refuse_options(command, {"--epsilon", "--charm"}, "belongs to HISQ; use --action hisq");
  if (command.count("--charm") > 0) {
    refuse_options(command, {"--epsilon"}, "is what --charm MASS gives; leave one of them out");
    o.epsilon = naik_epsilon(o.charm);
  }
  std::map<std::string, double> given = {{"mass", 1}};  // links do not depend on it
  given.emplace(o.action == "hisq" ? "naik_epsilon" : "u0", o.action == "hisq" ? o.epsilon : o.u0);
  const ActionValues values(find_action(o.action), given);
  o.common.claim({{"--fat", o.fat}, {"--long", o.longs}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, o.common);
  const DomainPointer domain = o.common.open_domain(named.gauge.lattice);
  const ActionFields fields(
      values, {},
      LinkStore(named.gauge, domain, std::string(full_storage(named.gauge.colours()).name), "degrand_rossi"));
  nlohmann::ordered_json result = provenance(o, named.origin);
  const nlohmann::ordered_json text = result;
  const auto made = [&](int length) { return download(*fields.in_double()[std::size_t(fields.hops(length))]); };
  result["fat"] = put(o, o.fat, "fat", made(1), domain, text);
  result["long"] = put(o, o.longs, "long", made(3), domain, text);
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_links(CLI::App& app, int& status) {
  auto o = std::make_shared<LinksOptions>();
  CLI::App* c = app.add_subcommand("links", "Make the fat and long links of improved staggered actions");
  c->add_option("gauge", o->gauge,
                "configuration: " + gauge_formats() + "; or a generated one, as --gauge of `propagator`")
      ->required();
  c->add_option("--action", o->action, "asqtad or hisq (default)");
  c->add_option("--u0", o->u0, "tadpole factor of asqtad (default 1)");
  c->add_option("--epsilon", o->epsilon, "Naik epsilon of HISQ (default 0)");
  c->add_option("--charm", o->charm, "the same by its series in this bare mass");
  c->add_option("--fat", o->fat, "file to write: fat links in an ILDG container, 64 bit");
  c->add_option("--long", o->longs, "file to write: long links, Naik's coefficient included");
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  o->common.add_to(*c,
                   CommonOptions::computes | CommonOptions::shares | CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, c, &status] { status = run(*o, *c); });
}

}  // namespace quarksmith::apps
