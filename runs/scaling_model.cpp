#include "runs/scaling_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"

namespace quarksmith::runs {
namespace {

const Kernel& hopping(const Work& work, const std::string& precision, std::string_view epilogue) {
  return find(kernels_of("cpu"), {.operation = "wilson",
                                  .precision = precision,
                                  .links = "r" + work.links,
                                  .basis = work.basis,
                                  .epilogue = epilogue});
}

/// Bytes of a stored spinor.
double spinor_bytes(const PrecisionInfo& p) { return 4.0 * p.spin_words * p.word_bytes + (p.norm ? sizeof(float) : 0); }

/// Bytes of a site and right-hand side when `rhs` of them share the links.
double hopping_bytes(const Kernel& kernel, const Work& work, int rhs) {
  const PrecisionInfo& links = find_precision(find_precision(kernel.precision).links);
  const double shared = 2.0 * directions * find_storage("r" + work.links).reals * links.word_bytes;
  return kernel.bytes - shared / kernel.tile + shared / rhs;
}

/// How much more is read than is used where sites next to each other are alone in their rows of x: a GPU stores packets
/// of 16 bytes of all sites together, and its memory gives pieces of 64 bytes.
double scatter(const Lattice& lattice, bool gpu) { return gpu ? std::min(4.0, 0.5 * lattice.extent(0)) : 1; }

/// Time of a site that looks for ghosts over that of one that does not, on a GPU with one right-hand side: the loads of
/// a hop wait for the branch before. Splits in x of 32^3x64 on two H200 give 1.28, 1.14 and 1.30 in double, single and
/// half.
constexpr double ghost_body = 1.25;

/// Share of the sites of a part from which some hop leaves it.
double boundary_share(const Lattice& lattice) {
  double inside = 1;
  for (int mu = 0; mu < directions; ++mu)
    if (lattice.split(mu)) inside *= 1 - 2.0 / lattice.extent(mu);
  return 1 - inside;
}

}  // namespace

/// Adds up the launches of an iteration.
class ScalingModel::Tally {
 public:
  Tally(const ScalingModel& model, std::string method) : m_(model), sum_(model.all_reduce()) {
    time_.method = std::move(method);
  }

  /// A on the even-odd system: D, then a x + b D.
  void application(const std::string& precision, bool local) {
    const double half = m_.lattice_.half_sites();
    const Kernel& plain = hopping(m_.work_, precision, "none");
    const double extra = (hopping(m_.work_, precision, "axpby").bytes - plain.bytes) * half * m_.work_.rhs;
    if (local) {
      time_.seconds += 2 * m_.measured_->seconds(precision, m_.work_.rhs, half);
    } else {
      const HopTime hop = m_.hop();
      time_.seconds += 2 * hop.total();
      time_.bytes += 2.0 * static_cast<double>(hop.bytes);
      time_.exchanges += m_.lattice_.ranks() > 1 ? 2 : 0;
    }
    time_.seconds += extra / bandwidth(precision);
    time_.hops += 2;
  }

  void update(std::string_view operation, const std::string& precision, double count = 1, bool local = false) {
    const Kernel& kernel = find(kernels_of("cpu"), {.operation = operation, .precision = precision});
    traffic(kernel.bytes, precision, count);
    if (kernel.sums == 0 || local) return;
    time_.seconds += count * sum_;
    time_.sums += count;
  }

  /// The same where the hop before has the fields at hand, and adds them up with one more (ProductSums).
  void products(std::string_view operation, const std::string& precision) {
    if (!m_.machine_.gpu) return update(operation, precision);
    traffic(spinor_bytes(find_precision(precision)), precision);
    time_.seconds += sum_;
    ++time_.sums;
  }

  /// A launch that moves so many bytes a site.
  void traffic(double bytes, const std::string& precision, double count = 1) {
    const double all = bytes * m_.lattice_.half_sites() * m_.work_.rhs;
    time_.seconds += count * (m_.measured_->launch() + all / bandwidth(precision));
  }

  /// Fields of one precision into another; by way of double where neither is (solvers/krylov/converter.hpp).
  void conversion(const std::string& from, const std::string& to) {
    const double a = spinor_bytes(find_precision(from)), b = spinor_bytes(find_precision(to));
    if (from == to || from == "double" || to == "double") return traffic(a + b, from);
    const double between = spinor_bytes(find_precision("double"));
    traffic(a + between, from);
    traffic(between + b, from);
  }

  const IterationTime& time() const { return time_; }

 private:
  /// Bytes a second that the hopping term reaches.
  double bandwidth(const std::string& precision) const {
    const double half = m_.lattice_.half_sites();
    const int rhs = m_.work_.rhs;
    const double bytes = hopping_bytes(hopping(m_.work_, precision, "none"), m_.work_, rhs) * half * rhs;
    return bytes / (m_.measured_->seconds(precision, rhs, half) - m_.measured_->launch());
  }

  const ScalingModel& m_;
  double sum_;
  IterationTime time_;
};

ScalingModel::ScalingModel(const HoppingTimes& measured, const Machine& machine, const Lattice& lattice,
                           const Work& work, double slower)
    : measured_(&measured),
      machine_(machine),
      lattice_(lattice),
      work_(work),
      slower_(slower),
      plain_(&hopping(work, work.precision, "none")) {
  const auto& g = lattice.grid();
  const std::string grid = fmt::format("grid {},{},{},{} has {} ranks", g[0], g[1], g[2], g[3], lattice.ranks());
  if (machine.ranks_per_host > 0 && hosts() > 1 && !machine.network)
    throw UsageError(
        fmt::format("{}, {} a host; give --network GB/s,us for what lies between hosts", grid, machine.ranks_per_host));
  if (hosts() == 1 && lattice.ranks() > most_peers)
    throw UsageError(fmt::format(
        "{}; at most {} of a host store into each other's memory; give --ranks-per-host N and --network GB/s,us", grid,
        most_peers));
}

int ScalingModel::hosts() const {
  const int each = machine_.ranks_per_host;
  return each > 0 ? (lattice_.ranks() + each - 1) / each : 1;
}

std::string_view ScalingModel::policy() const {
  if (lattice_.ranks() == 1) return "alone";
  if (hosts() > 1) return name_of(machine_.ranks_per_host > 1 ? Policy::mixed : Policy::overlap);
  // In half the plain kernel gains more by sharing the links of a batch than one launch does (howto-predict.md).
  const bool short_batch = work_.rhs > 1 && find_precision(work_.precision).word_bytes == 2;
  return name_of(machine_.gpu && !short_batch ? Policy::fused : Policy::peer);
}

/// Bytes and messages of the rank that takes longest.
void ScalingModel::faces(HopTime& t) const {
  const int lanes = machine_.gpu ? 1 : Device::cpu()->full_lanes(find_precision(plain_->precision).element_bytes);
  const LaneLayout layout(lattice_, lanes);
  std::array<std::uint64_t, directions> face{};
  for (int mu = 0; mu < directions; ++mu)
    if (lattice_.split(mu)) face[mu] = face_bytes(*plain_, layout.geometry(), mu, machine_.gpu, work_.rhs);
  const auto& g = lattice_.grid();
  const int each = hosts() > 1 ? machine_.ranks_per_host : lattice_.ranks();
  for (int rank = 0; rank < lattice_.ranks(); ++rank) {
    std::array<double, 2> bytes{}, messages{};  // on the host, to others
    for (int mu = 0, stride = 1; mu < directions; stride *= g[mu++]) {
      if (!lattice_.split(mu)) continue;
      const int position = rank / stride % g[mu];
      for (const int step : {1, g[mu] - 1}) {
        const int other = rank + ((position + step) % g[mu] - position) * stride;
        const bool away = other / each != rank / each;
        bytes[away] += static_cast<double>(face[mu]);
        messages[away] += 1;
      }
    }
    double seconds = bytes[0] / machine_.link.bytes_per_second;
    if (hosts() == 1) {
      seconds += machine_.link.latency;
    } else {
      seconds = std::max(seconds, bytes[1] / machine_.network->bytes_per_second) +
                std::min(messages[0], 1.0) * machine_.link.latency + messages[1] * machine_.network->latency;
    }
    if (rank > 0 && seconds <= t.transfer) continue;
    t.transfer = seconds;
    t.scattered_bytes = 2 * face[0];
    t.bytes = static_cast<std::uint64_t>(bytes[0] + bytes[1]);
    t.network_bytes = static_cast<std::uint64_t>(bytes[1]);
  }
}

HopTime ScalingModel::hop() const {
  HopTime t;
  const double half = lattice_.half_sites(), t0 = measured_->launch();
  const double sites = measured_->seconds(work_.precision, work_.rhs, half) - t0;
  t.policy = policy();
  t.launch = t0;
  t.interior = sites;
  if (lattice_.ranks() == 1) return t;
  faces(t);
  t.stages = 3;
  const double e = boundary_share(lattice_);
  const double bandwidth = hopping_bytes(*plain_, work_, work_.rhs) * half * work_.rhs / sites;
  const double read = double(plain_->spins) / plain_->half_spins, more = scatter(lattice_, machine_.gpu);
  const double longer = machine_.gpu && work_.rhs == 1 ? slower_ * ghost_body : slower_;
  t.interior = slower_ * (1 - e) * sites;
  t.boundary = longer * e * sites;
  if (lattice_.split(0) && t.policy == name_of(Policy::fused)) {  // every block has a site that waits
    t.interior = 0;
    t.boundary = longer * sites;
  } else if (lattice_.split(0)) {
    t.interior = slower_ * sites;  // rows are read as a whole, then again from their ends
    t.boundary = longer * std::min(1.0, e * more) * sites;
  }
  t.pack = slower_ *
           (static_cast<double>(t.bytes) * (read + 1) + static_cast<double>(t.scattered_bytes) * read * (more - 1)) /
           bandwidth;
  return t;
}

double ScalingModel::all_reduce() const {
  if (lattice_.ranks() == 1) return 0;
  if (hosts() == 1) return machine_.link.latency;
  const int steps = std::bit_width(unsigned(lattice_.ranks() - 1));  // ceil(log2)
  return steps * machine_.network->latency + 2 * measured_->launch();
}

IterationTime ScalingModel::iteration(const std::string& method) const {
  const std::string& p = work_.precision;
  Tally tally(*this, method);
  if (method == "cg") {  // solvers/krylov/methods/cg.cpp
    for (int n = 0; n < 2; ++n) tally.application(p, false);
    for (const char* name : {"cg_direction", "cg_curvature", "cg_residual"}) tally.update(name, p);
  } else if (method == "bicgstab") {  // solvers/krylov/methods/bicgstab.cpp
    for (const auto& [update, sums] :
         {std::pair{"bicgstab_step", "bicgstab_alpha"}, {"bicgstab_half_step", "bicgstab_omega"}}) {
      tally.update(update, p);
      tally.application(p, false);
      tally.products(sums, p);
    }
  } else {
    throw UnknownName(fmt::format("solver '{}': the model knows cg and bicgstab; gcr with --schwarz STEPS", method));
  }
  return tally.time();
}

IterationTime ScalingModel::schwarz_iteration(const SchwarzSteps& schwarz, int restart) const {
  const std::string &outer = work_.precision, &inner = schwarz.precision;
  Tally tally(*this, fmt::format("gcr, schwarz-mr:{} {}", schwarz.steps, inner));
  // solvers/krylov/preconditioner.cpp, mr.cpp: zero, measure, steps.
  tally.conversion(outer, inner);
  tally.traffic(spinor_bytes(find_precision(inner)), inner);
  tally.update("measure", inner, 1, true);
  for (int n = 0; n < schwarz.steps; ++n) tally.application(inner, true);
  for (const char* name : {"mr_alpha", "mr_step"}) tally.update(name, inner, schwarz.steps, true);
  tally.conversion(inner, outer);
  // solvers/krylov/methods/gcr.cpp: images are projected in groups of four.
  tally.application(outer, false);
  double groups = 0;
  for (int j = 0; j < restart; ++j) groups += (j + 3) / 4;
  groups /= restart;
  tally.update("gcr_direction", outer);
  tally.update("gcr_project", outer, groups);
  tally.update("gcr_orthogonalise", outer, 2 * groups);
  for (const char* name : {"mr_alpha", "mr_step"}) tally.update(name, outer);
  return tally.time();
}

double ScalingModel::gflops(double seconds, double hops) const {
  return plain_->flops * double(lattice_.global_sites() / 2) * work_.rhs * hops / seconds * 1e-9;
}

double ScalingModel::efficiency(double seconds) const {
  const double one = measured_->seconds(work_.precision, work_.rhs, double(lattice_.global_sites() / 2));
  return one / (seconds * lattice_.ranks());
}

double slowness(const HoppingTimes& measured, const Machine& machine, const Work& work) {
  double sum = 0;
  int count = 0;
  for (const HoppingTimes::Shared& s : measured.shared()) {
    if (s.precision != work.precision || s.rhs != work.rhs) continue;
    const HopTime t = ScalingModel(measured, machine, Lattice(s.lattice, s.grid, {}), work).hop();
    if (t.policy != s.policy) continue;
    sum += (s.seconds - t.stages * t.launch - t.exposed()) / t.kernels();
    ++count;
  }
  return count > 0 ? sum / count : 1;
}

}  // namespace quarksmith::runs
