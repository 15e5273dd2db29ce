// Links of quarksmith.h.
#include "runtime/fields/gauge.hpp"

#include <numbers>
#include <numeric>

#include "interface/arrays.hpp"
#include "runtime/io/gauge.hpp"
#include "solvers/measure/loops.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

constexpr int time_direction = directions - 1;

/// What reading and writing files throws, as a status of its own where no better one exists.
template <class Body>
auto as_file_error(const Body& body) {
  try {
    return body();
  } catch (const UsageError&) {
    throw;
  } catch (const BadData&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw StatusError(QUARKSMITH_FILE_ERROR, e.what());
  }
}

/// Phases of all links, spread for those of the boundary: multiplies by them (sign 1) or divides (-1), and moves what
/// they come to across the lattice out of the boundary's phases or into them.
void spread_phases(HostGauge& gauge, const std::array<double, directions>& angles, int sign) {
  for (int mu = 0; mu < directions; ++mu) {
    if (angles[mu] == 0) continue;
    const Complex64 each = std::polar(1.0, sign * std::numbers::pi * angles[mu]);
#pragma omp parallel for schedule(static)
    for (long long i = 0; i < gauge.lattice.sites(); ++i)
      for (Complex64& z : gauge.link(i, mu)) z *= each;
    gauge.phase[mu] *= phase_of(-sign * angles[mu] * gauge.lattice.global_extent(mu));
  }
}

/// The angle of the phase that all links of a direction share, by their determinants; 0 where they share none. A sign
/// of the boundary is so to all digits.
std::array<double, directions> shared_angles(const HostGauge& gauge, Communicator& ranks) {
  std::array<double, directions> angles{};
  const auto det = [&](long long i, int mu) { return determinant(gauge.link(i, mu).data(), gauge.colours()); };
  for (int mu = 0; mu < directions; ++mu) {
    Complex64 shared = det(0, mu);
    ranks.broadcast(&shared, sizeof shared, 0);
    double most = std::abs(std::abs(shared) - 1);
#pragma omp parallel for schedule(static) reduction(max : most)
    for (long long i = 0; i < gauge.lattice.sites(); ++i) most = std::max(most, std::abs(det(i, mu) - shared));
    if (!(ranks.largest(most) < 1e-5) || std::abs(shared - 1.0) < 1e-5) continue;
    angles[mu] = std::arg(shared) / std::numbers::pi / gauge.colours();
    const double length = gauge.lattice.global_extent(mu), whole = std::round(angles[mu] * length);
    if (std::abs(angles[mu] * length - whole) < 1e-6) angles[mu] = whole / length;
  }
  return angles;
}

/// \throws StatusError a step is none, or a path does not end where it begins.
std::vector<std::vector<int>> closed_paths(const Lattice& lattice, int count, const int* const* paths,
                                           const int* lengths) {
  require_all(paths, count, "paths");
  require(lengths, "lengths");
  std::vector<std::vector<int>> steps;
  for (int n = 0; n < count; ++n) {
    if (lengths[n] < 1) refuse(fmt::format("lengths[{}] is {}; use at least 1", n, lengths[n]));
    const std::vector<int>& path = steps.emplace_back(paths[n], paths[n] + lengths[n]);
    std::array<int, directions> way{};
    for (const int step : path) {
      if (step < 0 || step >= 2 * directions)
        refuse(fmt::format("paths[{}] has the step {}; use 0 to 3 forward, 7 to 4 backward", n, step));
      step < directions ? ++way[step] : --way[2 * directions - 1 - step];
    }
    for (int mu = 0; mu < directions; ++mu)
      if (way[mu] % lattice.global_extent(mu) != 0)
        refuse(fmt::format("paths[{}] ends at another site than it begins; use closed paths", n));
  }
  return steps;
}

}  // namespace

quarksmith_status quarksmith_link_format_init(quarksmith_link_format* format) {
  return init(__func__, format, [](auto& f) {
    std::iota(f.axes, f.axes + directions, 0);
    std::iota(f.directions, f.directions + directions, 0);
    f.reals = 18;
  });
}

quarksmith_status quarksmith_gauge_load(quarksmith_context* context, const void* const* links,
                                        const quarksmith_link_format* format, quarksmith_gauge** gauge) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    const auto& f = require_struct(format, "quarksmith_link_format");
    require(gauge, "gauge");
    const LinkArrays arrays(c.lattice(), f, MatrixKind::links, 1, true);
    const auto field = std::make_shared<LinkField>(arrays.read(c.shared->domain, links));
    const GaugeLinks given(field, arrays.boundary());
    agree(arrays.phases_text());
    if (surely_su3(given.bound())) return give<Gauge>(gauge, c.shared, given);
    auto phase = arrays.boundary();
    phase[time_direction] *= -1;  // most that are not SU(3) are so but for the sign of fermions
    multiply_across(*field, time_direction, -1);
    if (const GaugeLinks turned(field, phase); surely_su3(turned.bound())) return give<Gauge>(gauge, c.shared, turned);
    multiply_across(*field, time_direction, -1);
    HostGauge host = given.host();  // which finds what is wrong with them, or their phases
    check_unitarity(host, c.ranks());
    std::array<double, directions> spread{};
    if (arrays.spread()) spread_phases(host, spread = shared_angles(host, c.ranks()), -1);
    fold_boundary_phases(host, c.ranks());
    give<Gauge>(gauge, c.shared, std::move(host), spread);
  });
}

quarksmith_status quarksmith_gauge_unit(quarksmith_context* context, const double boundary[4],
                                        quarksmith_gauge** gauge) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    require(boundary, "boundary");
    require(gauge, "gauge");
    std::array<Complex64, directions> phases;
    for (int mu = 0; mu < directions; ++mu) phases[mu] = phase_of(boundary[mu]);
    agree(std::vector(boundary, boundary + directions));
    auto links = std::make_shared<LinkField>(c.shared->domain, find_precision("double"), find_storage("r18"));
    set_unit(*links);
    give<Gauge>(gauge, c.shared, GaugeLinks(std::move(links), phases));
  });
}

quarksmith_status quarksmith_gauge_read(quarksmith_context* context, const char* path, quarksmith_gauge** gauge) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    require(path, "path");
    require(gauge, "gauge");
    agree(std::string_view(path));
    GaugeFile file = as_file_error([&] { return read_gauge(path, c.lattice(), true, c.partition()); });
    give<Gauge>(gauge, c.shared, std::move(file.gauge));
  });
}

quarksmith_status quarksmith_gauge_write(quarksmith_gauge* gauge, const char* path, const char* format, int bits) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(path, "path");
    require(format, "format");
    agree(std::string_view(path), std::string_view(format), bits);
    as_file_error([&] { write_gauge(path, g.given.host(), format, bits, {}, g.ranks()); });
  });
}

quarksmith_status quarksmith_gauge_get(quarksmith_gauge* gauge, void* const* links,
                                       const quarksmith_link_format* format) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    const LinkArrays arrays(g.lattice(), require_struct(format, "quarksmith_link_format"), MatrixKind::links, 1, true);
    if (!arrays.spread()) return arrays.write(*g.links(), g.given.phase(), links);
    HostGauge made = g.given.host();
    spread_phases(made, g.spread, 1);
    arrays.write(upload(made, g.shared->domain, find_precision("double"), find_storage("r18")), made.phase, links);
  });
}

quarksmith_status quarksmith_gauge_plaquette(quarksmith_gauge* gauge, double plaquette[3]) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(plaquette, "plaquette");
    agree();
    const bool alone = g.lattice().ranks() == 1;  // else the host finds them
    const GaugeAverages a = alone ? gauge_averages(*g.links()) : gauge_averages(g.given.host(), g.shared->domain);
    plaquette[0] = a.plaquette;
    plaquette[1] = a.space_plaquette;
    plaquette[2] = a.time_plaquette;
  });
}

quarksmith_status quarksmith_gauge_polyakov(quarksmith_gauge* gauge, double loops[4][2]) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(loops, "loops");
    agree();
    const auto means = polyakov_loops(*g.links());
    for (int mu = 0; mu < directions; ++mu) loops[mu][0] = means[mu].real(), loops[mu][1] = means[mu].imag();
  });
}

quarksmith_status quarksmith_gauge_traces(quarksmith_gauge* gauge, int count, const int* const* paths,
                                          const int* lengths, double* traces) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    const auto steps = closed_paths(g.lattice(), count, paths, lengths);
    require(traces, "traces");
    agree(steps);
    const auto means = path_traces(*g.links(), steps);
    for (int n = 0; n < count; ++n) traces[2 * n] = means[n].real(), traces[2 * n + 1] = means[n].imag();
  });
}

quarksmith_status quarksmith_gauge_phase(quarksmith_gauge* gauge, double angle[4]) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    require(angle, "angle");
    for (int mu = 0; mu < directions; ++mu) angle[mu] = std::arg(g.given.phase()[mu]) / std::numbers::pi;
  });
}

quarksmith_status quarksmith_gauge_spread(quarksmith_gauge* gauge, double angle[4]) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    require(angle, "angle");
    std::copy(g.spread.begin(), g.spread.end(), angle);
  });
}

quarksmith_status quarksmith_gauge_field(quarksmith_gauge* gauge, const char* name, size_t count,
                                         const double* numbers) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    require(name, "name");
    require(numbers, "numbers");
    std::vector<Complex64> field(count);
    if (is_on(g.device(), numbers)) {
      g.device().begin_for_caller();
      g.device().download(field.data(), numbers, count * sizeof(Complex64));
    } else {
      for (std::size_t k = 0; k < count; ++k) field[k] = {numbers[2 * k], numbers[2 * k + 1]};
    }
    g.fields[name] = {std::move(field)};
  });
}

quarksmith_status quarksmith_gauge_links(quarksmith_gauge* gauge, const char* name, int length,
                                         const void* const* links, const quarksmith_link_format* format) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(name, "name");
    if (length != 1 && length != 3) refuse(fmt::format("length {}; use 1, or 3 for long links", length));
    const LinkArrays arrays(g.lattice(), require_struct(format, "quarksmith_link_format"), MatrixKind::links, length);
    arrays.require_boundary(g.given.phase());
    auto there = std::make_shared<const LinkField>(arrays.read(g.shared->domain, links));
    agree(std::string_view(name), length, arrays.phases_text());
    const bool zeros = length == 3;  // hops over three sites are turned off by them
    if (g.ranks().largest(arrays.are_sound(g.device(), links, zeros) ? 0 : 1) > 0)
      check_unitarity(download(*there), g.ranks(), zeros);
    g.fields[name] = {{}, length, GaugeLinks(std::move(there))};
  });
}
