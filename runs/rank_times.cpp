#include "runs/rank_times.hpp"

#include <algorithm>

#include "runs/session.hpp"
#include "runs/workload.hpp"

namespace quarksmith::runs {
namespace {

constexpr std::size_t large = std::size_t(1) << 24, small = 8;  // bytes that are sent
constexpr int repeats = 5;

}  // namespace

double time_on_ranks(const Domain& domain, const std::function<void()>& apply, bool recorded, double budget) {
  Device& device = domain.device();
  Communicator& ranks = domain.communicator();
  const auto several = [&](int count) {
    const auto work = [&] {
      for (int n = 0; n < count; ++n) apply();
    };
    ranks.barrier();
    return ranks.largest(recorded ? device.time_graph(work) : device.time(work)) / count;
  };
  for (int n = 0; n < 3; ++n) apply();  // memory is allocated, which no recording allows
  device.synchronize();
  several(3);
  const double once = several(10);
  const int count = std::clamp(static_cast<int>(budget / repeats / once), 10, recorded ? 400 : 20000);
  std::vector<double> all;
  for (int n = 0; n < repeats; ++n) all.push_back(several(count));
  return median(all);
}

AllReduceTime time_all_reduce(const DomainPointer& domain, double budget) {
  const PrecisionInfo& precision = find_precision("double");
  Device& device = domain->device();
  const Kernel& kernel = find(device.kernels(), {.operation = "measure", .precision = "double"});
  SpinorField x(domain, precision, Subset::even);
  x.fill(0);
  Memory scalars(domain->device_pointer(), 64 * 2 * sizeof(double));
  device.fill(scalars.data(), 0, scalars.bytes());
  Arguments a = arguments_for(*domain, x.lanes());
  a.count = 1;
  a.x = a.y = x.operand();
  a.scalars = static_cast<double*>(scalars.data());
  a.scalar_stride = 64;
  for (int n = 0; n < most_slots; ++n) a.slot[n] = static_cast<unsigned char>(2 + n);
  const bool recorded = device.asynchronous() && a.team != nullptr;
  const double together = time_on_ranks(*domain, [&] { update(*domain, kernel, a); }, recorded, budget);
  a.team = nullptr;
  const double alone = time_on_ranks(*domain, [&] { device.run(kernel, a); }, recorded, budget);
  return {kernel.sums, alone, together - alone};
}

LinkBench::LinkBench(DomainPointer domain)
    : domain_(std::move(domain)),
      device_(domain_->device()),
      ranks_(domain_->communicator()),
      staged_(device_.staged(ranks_)),
      out_(domain_->device_pointer(), large),
      in_(domain_->device_pointer(), large),
      host_(staged_ ? device_.allocate_host(2 * large) : nullptr),
      shared_(static_cast<int>(ranks_.host_ranks().size()) == ranks_.size() ? device_.allocate_shared(large, ranks_)
                                                                            : nullptr) {
  device_.fill(out_.data(), 0, large);
  device_.fill(in_.data(), 0, large);
  device_.synchronize();
}

LinkBench::Route LinkBench::pair(int a, int b) const {
  const int me = ranks_.rank();
  return me == a ? Route{b, b} : me == b ? Route{a, a} : Route{};
}

LinkBench::Route LinkBench::ring_of_host() const {
  const auto& host = ranks_.host_ranks();
  const int count = static_cast<int>(host.size()), me = ranks_.host_rank();
  if (count == 1) return {};
  return {host[(me + 1) % count], host[(me + count - 1) % count]};
}

LinkBench::Route LinkBench::shift(int step) const {
  const int count = ranks_.size(), me = ranks_.rank();
  return {(me + step) % count, (me + count - step % count) % count};
}

int LinkBench::host_rank_of(int rank) const {
  const auto& host = ranks_.host_ranks();
  return static_cast<int>(std::find(host.begin(), host.end(), rank) - host.begin());
}

double LinkBench::stores(const Route& route) {
  void* const to = route.active() ? shared_->part(host_rank_of(route.to)) : nullptr;
  const auto seconds = [&](int count) {
    ranks_.barrier();
    const auto work = [&] {
      for (int n = 0; n < count; ++n) device_.copy(to, out_.data(), large);
    };
    const double own = route.active() ? device_.time(work) / count : 0;
    return ranks_.largest(own);
  };
  seconds(2);
  std::vector<double> all;
  for (int n = 0; n < repeats; ++n) all.push_back(seconds(10));
  return static_cast<double>(large) / median(all);
}

double LinkBench::exchange(const Route& route, std::size_t bytes, int count) {
  char* const host = static_cast<char*>(host_.get());
  void* const leaving = staged_ ? host : out_.data();
  void* const arriving = staged_ ? host + large : in_.data();
  std::vector<Message> sends, receives;
  if (route.active()) {
    sends.push_back({route.to, 0, leaving, bytes});
    receives.push_back({route.from, 0, arriving, bytes});
  }
  const auto once = [&] {
    if (staged_ && route.active()) device_.download(leaving, out_.data(), bytes);
    ranks_.start(sends, receives);
    ranks_.finish();
    if (staged_ && route.active()) device_.upload(in_.data(), arriving, bytes);
  };
  ranks_.barrier();
  once();
  ranks_.barrier();
  const double start = now();
  for (int n = 0; n < count; ++n) once();
  return ranks_.largest((now() - start) / count);
}

LinkBench::MessageTime LinkBench::messages(const Route& route) {
  std::vector<double> latency, transfer;
  for (int n = 0; n < repeats; ++n) {
    latency.push_back(exchange(route, small, 100));
    transfer.push_back(exchange(route, large, 5));
  }
  const double alone = median(latency);
  return {alone, static_cast<double>(large) / std::max(median(transfer) - alone, 1e-9)};
}

}  // namespace quarksmith::runs
