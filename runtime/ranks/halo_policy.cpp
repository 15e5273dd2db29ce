#include "runtime/ranks/halo_policy.hpp"

#include <sched.h>

#include <atomic>

#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr std::string_view names[policy_count] = {"first", "overlap", "staged", "peer", "fused"};

constexpr HaloWork packing{.pack = true}, interior{.interior = true}, exterior{.exterior = true};
constexpr HaloWork everywhere{.exterior = true, .whole = true};

/// Messages of MPI from and to the zones: directly, or by way of host memory where MPI cannot read the device's.
class Exchange {
 public:
  Exchange(const Domain& domain, Halos::Zones& zones, bool staged)
      : device_(domain.device()),
        communicator_(domain.communicator()),
        zones_(zones),
        staged_(staged || device_.staged(communicator_)) {
    char* const device_zones = static_cast<char*>(zones.own.data());
    char* const host_zones = static_cast<char*>(zones.host.get());
    arriving_ = staged_ ? host_zones : device_zones;
    zones.messages(domain.lattice(), arriving_, arriving_ + zones.bytes, sends_, receives_);
  }
  /// After the spinors are packed.
  void start() {
    device_.fork();
    if (staged_)
      device_.download_beside(arriving_ + zones_.bytes, static_cast<char*>(zones_.own.data()) + zones_.bytes,
                              zones_.bytes);
  }
  /// Waits until they have gone and others have come; kernels started after this find them.
  void finish() {
    device_.wait_beside();
    communicator_.start(sends_, receives_);
    communicator_.finish();
    if (staged_) device_.upload_beside(zones_.own.data(), arriving_, zones_.bytes);
    device_.join();
  }

 private:
  Device& device_;
  Communicator& communicator_;
  Halos::Zones& zones_;
  bool staged_;
  char* arriving_;
  std::vector<Message> sends_, receives_;
};

class ExchangeFirst final : public HaloPolicy {
 public:
  explicit ExchangeFirst(bool staged) : staged_(staged) {}
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    run_part(domain, kernel, a, zones, packing);
    Exchange exchange(domain, zones, staged_);
    exchange.start();
    exchange.finish();
    run_part(domain, kernel, a, zones, everywhere);
  }

 private:
  bool staged_;
};

class Overlap final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    run_part(domain, kernel, a, zones, packing);
    Exchange exchange(domain, zones, false);
    exchange.start();
    run_part(domain, kernel, a, zones, interior);
    exchange.finish();
    run_part(domain, kernel, a, zones, exterior);
  }
};

class PeerStores final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    Device& device = domain.device();
    if (!device.asynchronous()) return apply_on_host(domain, kernel, a, zones);
    device.fork();
    device.run_halo(kernel, a, {.pack = true, .peers = true}, true);
    run_part(domain, kernel, a, zones, interior);
    device.join();
    device.run_halo(kernel, a, {.exterior = true, .peers = true}, false);
  }

 private:
  /// Exchanges through memory that processes share, by the counters that the GPU's kernels use.
  void apply_on_host(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) {
    Halo now = zones.halo;
    const long long shift = zones.exchange % 2 == 1 ? now.buffer : 0;
    for (int mu = 0; mu < directions; ++mu)
      for (const int back : {0, 1})
        for (Operand* f : {&now.arriving[mu][back], &now.leaving[mu][back]}) {
          f->data = static_cast<char*>(f->data) + shift;
          f->norm += shift / static_cast<long long>(sizeof(float));
        }
    a.halo = &now;
    run_part(domain, kernel, a, zones, packing);
    for (int mu = 0; mu < directions; ++mu) {
      if (now.face[mu] == 0) continue;
      for (const int back : {0, 1}) std::atomic_ref(*now.raise[mu][back]).fetch_add(1, std::memory_order_release);
    }
    run_part(domain, kernel, a, zones, interior);
    ++zones.exchange;
    for (int hop = 0; hop < 2 * directions; ++hop) {
      if (now.face[hop / 2] == 0) continue;
      std::atomic_ref arrived(now.signals->arrived[hop * HaloSignals::stride]);
      while (static_cast<int>(arrived.load(std::memory_order_acquire) - zones.exchange) < 0) sched_yield();
    }
    run_part(domain, kernel, a, zones, exterior);
  }
};

class Fused final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    (void)zones;
    domain.device().run_halo(kernel, a, {.pack = true, .exterior = true, .whole = true, .peers = true}, false);
  }
};

}  // namespace

void run_part(const Domain& domain, const Kernel& kernel, Arguments a, const Halos::Zones& zones,
              const HaloWork& work) {
  Device& device = domain.device();
  if (!device.asynchronous() && !work.pack) {
    zones.choose(a, work);
    return device.run(kernel, a);
  }
  if (!work.interior) return device.run_halo(kernel, a, work, false);
  // On a GPU the plain kernel does the interior: it is the one that sweeps have tuned, and shares links in batches.
  a.skip = a.halo->split;
  device.run(kernel, a);
}

std::string_view name_of(Policy policy) { return names[int(policy)]; }
std::span<const std::string_view> policy_names() { return names; }

Policy policy_of(const std::string& name) {
  for (int n = 0; n < policy_count; ++n)
    if (name == names[n]) return Policy(n);
  unknown_name("policy", name, names);
}

std::unique_ptr<HaloPolicy> HaloPolicy::make(Policy policy) {
  switch (policy) {
    case Policy::first:
    case Policy::staged:
      return std::make_unique<ExchangeFirst>(policy == Policy::staged);
    case Policy::overlap:
      return std::make_unique<Overlap>();
    case Policy::peer:
      return std::make_unique<PeerStores>();
    case Policy::fused:
      break;
  }
  return std::make_unique<Fused>();
}

void Halos::Zones::choose(Arguments& a, const HaloWork& work) const {
  if (work.whole) return;
  a.list = work.interior ? interior[a.parity].data() : halo.boundary[a.parity];
  a.list_count = work.interior ? static_cast<int>(interior[a.parity].size()) - 1 : halo.boundary_count[a.parity];
}

void Halos::Zones::messages(const Lattice& lattice, char* arriving, char* leaving, std::vector<Message>& sends,
                            std::vector<Message>& receives) const {
  for (int mu = 0; mu < directions; ++mu)
    for (const int back : {0, 1}) {
      if (halo.face[mu] == 0) continue;
      const Place& p = place[mu][back];
      const int tag = 2 * mu + back, towards = back ? 1 : -1;
      sends.push_back({lattice.rank_at(mu, towards), tag, leaving + p.offset, p.bytes});
      receives.push_back({lattice.rank_at(mu, -towards), tag, arriving + p.offset, p.bytes});
    }
}

}  // namespace quarksmith
