// Functions of quda.h with tables of paths, and observables of links. Steps are 0 to 3 forward along x to t, 7 to 4
// backward.
#include <cmath>
#include <map>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {
namespace {

using Steps = std::vector<int>;

/// Kind of a loop and its directions: plaquettes, rectangles (the long one first), twisted loops.
using LoopName = std::array<int, 3>;
enum { plaquette_loop, rectangle_loop, twisted_loop };

/// Calls visit(steps, name) for the 48 loops that begin with the link along mu.
template <class Visit>
void for_each_loop(int mu, const Visit& visit) {
  const int back = 7 - mu;
  for (int n = 0; n < 8; ++n) {
    const int nu = std::min(n, 7 - n), o = 7 - n;
    if (nu == mu) continue;
    visit(Steps{mu, n, back, o}, LoopName{plaquette_loop, std::min(mu, nu), std::max(mu, nu)});
    visit(Steps{mu, n, n, back, o, o}, LoopName{rectangle_loop, nu, mu});
    visit(Steps{mu, mu, n, back, back, o}, LoopName{rectangle_loop, mu, nu});
    visit(Steps{mu, n, back, back, o, mu}, LoopName{rectangle_loop, mu, nu});
    for (int r = 0; r < 8; ++r)
      if (const int rho = std::min(r, 7 - r); rho != mu && rho != nu)
        visit(Steps{mu, n, r, back, o, 7 - r}, LoopName{twisted_loop, 0, 0});
  }
}

std::string text_of(const Steps& steps) {
  std::string text;
  for (const int step : steps) text += (text.empty() ? "" : ",") + std::to_string(step);
  return text;
}

/// The coefficients of a table that has all loops of each kind. Refuses others by their paths.
quarksmith_gauge_loops loops_of(int*** paths, const int* lengths, const double* coefficients, int count) {
  std::map<LoopName, double> found;
  for (int mu = 0; mu < 4; ++mu) {
    std::map<Steps, double> given;
    for (int n = 0; n < count; ++n) {
      Steps steps{mu};
      steps.insert(steps.end(), paths[mu][n], paths[mu][n] + lengths[n]);
      given[steps] += coefficients[n];
    }
    for_each_loop(mu, [&](const Steps& steps, const LoopName& name) {
      const auto entry = given.find(steps);
      const double c = entry == given.end() ? 0 : entry->second;
      if (entry != given.end()) given.erase(entry);
      const double first = found.emplace(name, c).first->second;
      if (!(std::abs(c - first) <= 1e-12 * std::abs(first)))
        refuse("loop_coeff of the path " + text_of(steps) + " is " + quarksmith::quda::text_of(c) +
               ", of one of its kind " + quarksmith::quda::text_of(first) + "; give all the same");
    });
    for (const auto& [steps, c] : given)
      if (c != 0)
        refuse("the path " + text_of(steps) +
               " is none of the plaquette, the rectangle and the twisted loop of three directions; give those alone");
  }
  auto loops = initial(quarksmith_gauge_loops_init);
  for (const auto& [name, c] : found) {
    const auto [kind, a, b] = name;
    const int high = std::max(a, b), low = std::min(a, b), plane = high == 1 ? 0 : high == 2 ? 1 + low : 3 + low;
    if (kind == plaquette_loop) loops.planes[plane] = c;
    if (kind == rectangle_loop) loops.rectangles[plane][a == low ? 0 : 1] = c;
    if (kind == twisted_loop) loops.chair = c;
  }
  return loops;
}

quarksmith_gauge* loaded_links() {
  if (!state().wilson) refuse("there are no links; call loadGaugeQuda first");
  if (state().loaded.anisotropy != 1) refuse("anisotropic links are not served here; load SU(3) links");
  return state().wilson.gauge();
}

}  // namespace

void sum_traces(quarksmith_gauge* links, double* traces, int** paths, const int* lengths, const double* coefficients,
                int count, double factor) {
  check(quarksmith_gauge_traces(links, count, paths, lengths, traces));
  for (int n = 0; n < 2 * count; ++n) traces[n] *= 3 * double(state().all_sites()) * factor * coefficients[n / 2];
}

}  // namespace quarksmith::quda

using namespace quarksmith::quda;

int computeGaugeForceQuda(void* mom, void* sitelink, int*** input_patbuf, int* patlength, double* loop_coeff,
                          int num_paths, int, double dt, QudaGaugeParam* param) {
  const Call call(__func__);
  add_gauge_force(mom, sitelink, loops_of(input_patbuf, patlength, loop_coeff, num_paths), dt, *param);
  return 0;
}

void computeGaugeLoopTraceQuda(double _Complex* traces, int** input_patbuf, int* patlength, double* loop_coeff,
                               int num_paths, int, double factor) {
  const Call call(__func__);
  sum_traces(loaded_links(), reinterpret_cast<double*>(traces), input_patbuf, patlength, loop_coeff, num_paths, factor);
}

void gaugeObservablesQuda(QudaGaugeObservableParam* p) {
  const Call call(__func__);
  quarksmith_gauge* const links = loaded_links();
  for (const auto& [name, used] :
       {std::pair("su_project", p->su_project), std::pair("compute_qcharge", p->compute_qcharge),
        std::pair("compute_qcharge_density", p->compute_qcharge_density)})
    if (used == QUDA_BOOLEAN_TRUE) refuse(std::string(name) + " is not served; leave it QUDA_BOOLEAN_FALSE");
  const bool removes = p->remove_staggered_phase == QUDA_BOOLEAN_TRUE;
  if (state().loaded.phases && !removes)
    refuse("the links hold staggered phases; set remove_staggered_phase to QUDA_BOOLEAN_TRUE");
  if (p->compute_plaquette == QUDA_BOOLEAN_TRUE)
    std::copy(state().loaded.plaquette.begin(), state().loaded.plaquette.end(), p->plaquette);
  if (p->compute_polyakov_loop == QUDA_BOOLEAN_TRUE) {
    if (removes)  // the sign of the boundary goes with them
      polyakov_loop(links, p->ploop);
    else
      polyakovLoopQuda(p->ploop, 3);
  }
  if (p->compute_gauge_loop_trace == QUDA_BOOLEAN_TRUE)
    sum_traces(links, reinterpret_cast<double*>(p->traces), p->input_path_buff, p->path_length, p->loop_coeff,
               p->num_paths, p->factor);
}
