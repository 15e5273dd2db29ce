// Links, momenta and gauge actions of molecular dynamics of quarksmith.h.
#include <fmt/ranges.h>

#include <cmath>

#include "interface/arrays.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"
#include "solvers/hmc/drift.hpp"
#include "solvers/hmc/monomial.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// sum -tr P^2 of momenta that the caller may have set to anything.
double kinetic(const Dynamics& d) {
  const double energy = evaluate("algebra_norm2", {d.momenta})[0];
  if (!std::isfinite(energy))
    throw StatusError(QUARKSMITH_BAD_DATA, "the kinetic energy is not finite; set smaller momenta");
  return energy;
}

GaugeLoops loops_of(const quarksmith_gauge_loops* loops) {
  const auto& l = require_struct(loops, "quarksmith_gauge_loops");
  GaugeLoops result;
  result.all_rectangles(require_finite(l.rectangle, "rectangle"));
  result.chair = require_finite(l.chair, "chair");
  if (l.constant != 0 && l.constant != 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("constant {}; use 0 or 1", l.constant));
  result.constant = l.constant == 1;
  for (int n = 0; n < 3; ++n)
    result.two_plaquettes[n] = require_finite(l.two_plaquettes[n], "a member of two_plaquettes");
  for (int n = 0; n < 2; ++n) result.squares[n] = require_finite(l.squares[n], "a member of squares");
  for (int plane = 0; plane < 6; ++plane) {
    result.planes[plane] = require_finite(l.planes[plane], "a member of planes");
    for (int along = 0; along < 2; ++along) {
      const double c = require_finite(l.rectangles[plane][along], "a member of rectangles");
      if (c == 0) continue;
      if (l.rectangle != 0)
        throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                          fmt::format("rectangle {} beside rectangles[{}][{}] {}; give one or the others", l.rectangle,
                                      plane, along, c));
      result.rectangles[plane][along] = c;
    }
    if (l.planes[plane] != l.planes[0] && (l.rectangle != 0 || l.chair != 0))
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("planes {} and {} beside rectangle {}, chair {}; actions with these loops are "
                                    "isotropic: make all planes equal",
                                    l.planes[0], l.planes[plane], l.rectangle, l.chair));
  }
  return result;
}

LinkArrays momenta_of(const Dynamics& d, const quarksmith_link_format* format) {
  return {d.lattice(), require_struct(format, "quarksmith_link_format"), MatrixKind::momenta};
}

/// All coefficients, to be compared among ranks.
std::string text_of(const quarksmith_gauge_loops& l) {
  return fmt::format("{} {} {} {} {} {} {}", l.planes, l.rectangle, l.rectangles, l.chair, l.constant, l.two_plaquettes,
                     l.squares);
}

}  // namespace

void Dynamics::kick(const std::function<void(LinkField&)>& force) {
  const auto sum = links.scratch().zero_momenta(links.domain(), links.field().colours());
  force(*sum);
  if (!std::isfinite(evaluate("algebra_norm2", {*sum})[0]))
    throw StatusError(QUARKSMITH_BAD_DATA,
                      "step times the force is not finite, the momenta stay as they were; use a smaller step, smaller "
                      "coefficients or smaller vectors");
  evaluate("kick", {momenta, *sum, 1}, {momenta});
}

quarksmith_status quarksmith_dynamics_create(quarksmith_gauge* gauge, quarksmith_dynamics** dynamics) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(dynamics, "dynamics");
    agree();
    give<Dynamics>(dynamics, g.shared, g);
  });
}

quarksmith_status quarksmith_dynamics_set_links(quarksmith_dynamics* dynamics, const void* const* links,
                                                const quarksmith_link_format* format) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    const LinkArrays arrays(d.lattice(), require_struct(format, "quarksmith_link_format"));
    GaugeLinks given(std::make_shared<const LinkField>(arrays.read(d.links.domain(), links)), arrays.boundary());
    agree(arrays.phases_text());
    if (!surely_su3(given.bound())) {  // the host finds what is wrong with them, or their phases
      HostGauge host = given.host();
      check_unitarity(host, d.ranks());
      fold_boundary_phases(host, d.ranks());
      given = std::move(host);
    }
    if (given.phase() != d.phase)
      throw StatusError(QUARKSMITH_BAD_DATA,
                        "the links have other phases across the last slices than those that these dynamics began with; "
                        "pass links with the same ones, or create the dynamics anew");
    d.links.set(given);
  });
}

quarksmith_status quarksmith_dynamics_get_links(quarksmith_dynamics* dynamics, void* const* links,
                                                const quarksmith_link_format* format) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d) {
    const LinkArrays arrays(d.lattice(), require_struct(format, "quarksmith_link_format"));
    arrays.write(d.links.field(), d.phase, links);
  });
}

quarksmith_status quarksmith_dynamics_set_momenta(quarksmith_dynamics* dynamics, const void* const* momenta,
                                                  const quarksmith_link_format* format) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    HostGauge host(d.lattice());
    momenta_of(d, format).read_momenta(d.device(), momenta, host);
    agree();
    d.momenta = upload(host, d.links.domain(), d.momenta.precision(), d.momenta.storage());
  });
}

quarksmith_status quarksmith_dynamics_get_momenta(quarksmith_dynamics* dynamics, void* const* momenta,
                                                  const quarksmith_link_format* format) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d) {
    momenta_of(d, format).write_momenta(d.device(), download(d.momenta), momenta);
  });
}

quarksmith_status quarksmith_dynamics_use(quarksmith_dynamics* dynamics, quarksmith_gauge* gauge) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    const auto g = operand<Gauge>(gauge, "gauge", d);
    agree();
    d.links.set(g->given);
    d.phase = g->given.phase();
    d.fields = g->fields;
  });
}

quarksmith_status quarksmith_dynamics_gauge(quarksmith_dynamics* dynamics, quarksmith_gauge** gauge) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    require(gauge, "gauge");
    agree();
    give<Gauge>(gauge, d.shared, GaugeLinks(d.links.keep(), d.phase));
  });
}

quarksmith_status quarksmith_dynamics_draw(quarksmith_dynamics* dynamics, size_t seed, double width) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    require_finite(width, "width");
    agree(seed, width);
    d.momenta.fill(0);
    if (width == 0) return;
    const auto drawn = d.links.scratch().zero_momenta(d.links.domain(), d.links.field().colours());
    draw_momenta(*drawn, {seed, 0});
    evaluate("kick", {d.momenta, *drawn, width}, {d.momenta});
  });
}

quarksmith_status quarksmith_dynamics_kinetic(quarksmith_dynamics* dynamics, double* energy) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    require(energy, "energy");
    agree();
    *energy = kinetic(d);
  });
}

quarksmith_status quarksmith_dynamics_drift(quarksmith_dynamics* dynamics, double step) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    const double dt = require_finite(step, "step");
    agree(dt);
    const double way = mean_way(d.lattice(), kinetic(d), dt);
    if (!(way <= most_way))
      throw StatusError(QUARKSMITH_BAD_DATA,
                        fmt::format("step {} takes a link by {:.2g} in the mean, the links stay as they were; use a "
                                    "smaller step or smaller momenta",
                                    dt, way));
    d.links.move(d.momenta, dt);
  });
}

quarksmith_status quarksmith_gauge_loops_init(quarksmith_gauge_loops* loops) { return init(__func__, loops); }

quarksmith_status quarksmith_gauge_action(quarksmith_dynamics* dynamics, const quarksmith_gauge_loops* loops,
                                          double* action) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    require(action, "action");
    GaugeMonomial monomial("gauge", loops_of(loops));
    agree(text_of(*loops));
    const double s = monomial.action(d.links);
    if (!std::isfinite(s)) throw StatusError(QUARKSMITH_BAD_DATA, "the action is not finite; use smaller coefficients");
    *action = s;
  });
}

quarksmith_status quarksmith_gauge_force(quarksmith_dynamics* dynamics, const quarksmith_gauge_loops* loops,
                                         double step) {
  return call<Dynamics>(__func__, "dynamics", dynamics, [&](Dynamics& d, Agreement& agree) {
    GaugeMonomial monomial("gauge", loops_of(loops));
    const double dt = require_finite(step, "step");
    agree(text_of(*loops), dt);
    d.kick([&](LinkField& p) { monomial.force(d.links, dt, p); });
  });
}
