#include "solvers/measure/loops.hpp"

#include <algorithm>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/spinor_array.hpp"

namespace quarksmith {
namespace {

constexpr int time_direction = directions - 1;

LinkField like(const LinkField& links) { return {links.domain_pointer(), links.precision(), links.storage()}; }

/// Lines of links in all directions, and where they stand.
class Lines {
 public:
  /// Lines of length zero: unit matrices.
  explicit Lines(const LinkField& links) : lines_(like(links)), work_(like(links)) { begin(); }
  void begin() { set_unit(lines_); }

  void lengthen(const LinkField& links) {
    evaluate("longer_lines", {links, lines_}, {work_});
    std::swap(lines_, work_);
  }
  /// Moves the start to x + mu.
  void move(int mu) {
    evaluate("lines_ahead", {lines_, LatticeDirection{mu}}, {work_});
    std::swap(lines_, work_);
  }
  /// Becomes what others are, one step along mu from there.
  void follow(const Lines& others, int mu) { evaluate("lines_ahead", {others.lines_, LatticeDirection{mu}}, {lines_}); }
  /// That of a slot becomes a path with a step before it, see path_traces.
  void begin_with(const LinkField& links, int slot, int step) {
    const bool forward = step < directions;
    evaluate(forward ? "path_from_ahead" : "path_from_behind",
             {links, lines_, LatticeDirection{slot}, LatticeDirection{forward ? step : 2 * directions - 1 - step}},
             {work_});
    std::swap(lines_, work_);
  }
  /// Become the paths across the plane of two directions, by their slots (generator/operators/loops.py).
  void cross(const LinkField& links, int mu, int nu, int rho) {
    evaluate("diagonals", {links, LatticeDirection{mu}, LatticeDirection{nu}, LatticeDirection{rho}}, {lines_});
  }
  const LinkField& now() const { return lines_; }

 private:
  LinkField lines_, work_;
};

}  // namespace

std::vector<std::vector<double>> wilson_loops(const LinkField& spatial, const LinkField& temporal, int most_space,
                                              int most_time, const std::function<void()>& look) {
  const double sites = static_cast<double>(spatial.domain().lattice().global_sites());
  std::vector<std::vector<double>> loops(most_space, std::vector<double>(most_time));
  Lines side(spatial);
  for (int r = 0; r < most_space; ++r) {
    side.lengthen(spatial);
    Lines above(spatial), high(temporal);
    for (int t = 0; t < most_time; ++t) {
      high.lengthen(temporal);
      if (t == 0)
        above.follow(side, time_direction);
      else
        above.move(time_direction);
      for (int mu = 0; mu < time_direction; ++mu) {
        look();
        Lines ahead(temporal);
        ahead.follow(high, mu);
        for (int n = 0; n < r; ++n) ahead.move(mu);
        loops[r][t] += evaluate("loop_sum", {side.now(), ahead.now(), above.now(), high.now(), LatticeDirection{mu},
                                             LatticeDirection{time_direction}})[0] /
                       (3 * (directions - 1) * sites);
      }
    }
  }
  return loops;
}

// Loops of x to x + nu - mu are those of x to x + mu - nu the other way round: one of both counts twice.
std::vector<double> diagonal_loops(const LinkField& spatial, const LinkField& temporal, int most_time,
                                   const std::function<void()>& look) {
  constexpr int pairs = time_direction * (time_direction - 1) * 2;
  const double sites = static_cast<double>(spatial.domain().lattice().global_sites());
  std::vector<double> loops(most_time);
  for (int rho = 0; rho < time_direction; ++rho) {
    const int mu = (rho + 1) % time_direction, nu = (rho + 2) % time_direction;
    Lines side(spatial), above(spatial), high(temporal), beside(temporal), ahead(temporal), across(temporal);
    side.cross(spatial, mu, nu, rho);
    for (int t = 0; t < most_time; ++t) {
      look();
      high.lengthen(temporal);
      if (t == 0)
        above.follow(side, time_direction);
      else
        above.move(time_direction);
      ahead.follow(high, mu);
      beside.follow(high, nu);
      across.follow(ahead, nu);
      const auto sum = [&](int slot, const Lines& end, const Lines& start) {
        return evaluate("loop_sum", {side.now(), end.now(), above.now(), start.now(), LatticeDirection{slot},
                                     LatticeDirection{time_direction}})[0];
      };
      loops[t] += (sum(mu, across, high) + sum(nu, across, high) + 2 * sum(rho, ahead, beside)) / (3 * pairs * sites);
    }
  }
  return loops;
}

std::vector<double> polyakov_correlator(const LinkField& links, int most_space) {
  const Lattice& lattice = links.domain().lattice();
  Lines lines(links);
  for (int n = 0; n < lattice.global_extent(time_direction); ++n) lines.lengthen(links);
  std::vector<double> correlator(most_space + 1);
  Lines ahead(links);
  for (int mu = 0; mu < time_direction; ++mu)
    for (int r = 0; r <= most_space; ++r) {
      if (r == 1)
        ahead.follow(lines, mu);
      else if (r > 1)
        ahead.move(mu);
      const LinkField& other = r == 0 ? lines.now() : ahead.now();
      correlator[r] += evaluate("trace_products", {lines.now(), other, LatticeDirection{time_direction}})[0] /
                       (9 * time_direction * static_cast<double>(lattice.global_sites()));
    }
  return correlator;
}

std::vector<Complex64> polyakov_loops(const LinkField& links) {
  const Lattice& lattice = links.domain().lattice();
  std::vector<Complex64> loops;
  Lines lines(links);
  int length = 0;
  for (int mu = 0; mu < directions; ++mu) {
    if (length > lattice.global_extent(mu)) {
      lines = Lines(links);
      length = 0;
    }
    for (; length < lattice.global_extent(mu); ++length) lines.lengthen(links);
    const auto sums = evaluate("trace_sums", {lines.now(), LatticeDirection{mu}});
    loops.push_back(Complex64(sums[0], sums[1]) / (3.0 * static_cast<double>(lattice.global_sites())));
  }
  return loops;
}

std::vector<Complex64> path_traces(const LinkField& links, const std::vector<std::vector<int>>& paths) {
  std::vector<Complex64> traces;
  Lines line(links);
  for (const std::vector<int>& path : paths) {
    int slot = 0;  // kernels take two different directions
    const auto is_along = [&](int step) { return step == slot || step == 2 * directions - 1 - slot; };
    while (slot < directions && std::ranges::any_of(path, is_along)) ++slot;
    if (slot == directions) throw UsageError("a path goes along all four directions; use paths along at most three");
    if (!traces.empty()) line.begin();
    for (auto step = path.rbegin(); step != path.rend(); ++step) line.begin_with(links, slot, *step);
    const auto sums = evaluate("trace_sums", {line.now(), LatticeDirection{slot}});
    traces.push_back(Complex64(sums[0], sums[1]) /
                     (3.0 * static_cast<double>(links.domain().lattice().global_sites())));
  }
  return traces;
}

}  // namespace quarksmith
