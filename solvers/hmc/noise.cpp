#include "solvers/hmc/noise.hpp"

#include "runtime/fields/site_random.hpp"

namespace quarksmith {
namespace {

// Streams of a trajectory.
constexpr int momenta_stream = 0, decision_stream = 1, first_monomial = 2;

}  // namespace

void GaussianNoise::momenta(LinkField& p) { draw_momenta(p, {seed_, stream(momenta_stream)}); }

void GaussianNoise::pseudofermion(const std::string&, int number, SpinorField& eta, const BasisInfo& basis) {
  draw_noise(eta, {seed_, stream(first_monomial + number)}, basis);
}

double GaussianNoise::uniform() const { return Random({seed_, stream(decision_stream)}, 0).uniform(); }

}  // namespace quarksmith
