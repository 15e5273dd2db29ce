#include "runtime/ranks/halo_policy.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>

#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr std::string_view names[policy_count] = {"first", "overlap", "staged", "peer", "fused", "mixed", "shmem"};

constexpr HaloWork packing{.pack = true}, interior{.interior = true}, exterior{.exterior = true};
constexpr HaloWork everywhere{.exterior = true, .whole = true};

/// Messages of MPI from and to the zones: directly, or by way of host memory where MPI cannot read the device's.
class Exchange {
 public:
  Exchange(const Domain& domain, Halos::Zones& zones, bool staged)
      : device_(domain.device()),
        communicator_(domain.communicator()),
        zones_(zones),
        staged_(staged || device_.staged(communicator_)),
        host_(static_cast<char*>(zones.host.get())) {
    if (zones.sent == 0) return;
    char* const leaving = staged_ ? host_ + zones.bytes : zones.sending();
    zones.messages(domain.lattice(), staged_ ? host_ : zones.incoming(), leaving, sends_, receives_);
  }
  /// After the spinors are packed.
  void start() {
    device_.fork();
    for (const Place& p : zones_.places(staged_ ? zones_.sent : 0))
      device_.download_beside(host_ + zones_.bytes + p.offset, zones_.sending() + p.offset, p.bytes);
    if (!device_.asynchronous()) communicator_.start(sends_, receives_);
  }
  /// Waits until they have gone and others have come; kernels started after this find them.
  void finish() {
    if (device_.asynchronous()) {
      device_.wait_beside();
      communicator_.start(sends_, receives_);
    }
    communicator_.finish();
    for (const Place& p : zones_.places(staged_ ? zones_.received() : 0))
      device_.upload_beside(zones_.incoming() + p.offset, host_ + p.offset, p.bytes);
    device_.join();
  }

 private:
  Device& device_;
  Communicator& communicator_;
  Halos::Zones& zones_;
  bool staged_;
  char* host_;
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

/// Moves the zones of some hops by so many bytes, to the second buffer.
void move_zones(Operand (&zones)[directions][2], int hops, long long bytes) {
  for (int hop = 0; hop < 2 * directions; ++hop) {
    if ((hops >> hop & 1) == 0) continue;
    Operand& f = zones[hop / 2][hop % 2];
    f.data = static_cast<char*>(f.data) + bytes;
    f.norm += bytes / static_cast<long long>(sizeof(float));
  }
}

/// On processors: stores into the memory of processes of the host, by the counters that the GPU's kernels use, and
/// messages to others meanwhile.
void exchange_on_host(const Domain& domain, const Kernel& kernel, Arguments a, Halos::Zones& zones) {
  Halo now = zones.halo;
  const int received = zones.received();
  if (zones.exchange % 2 == 1) {  // but for those of messages, which are not in pairs
    move_zones(now.arriving, ~received, now.buffer);
    move_zones(now.leaving, ~zones.sent, now.buffer);
  }
  a.halo = &now;
  run_part(domain, kernel, a, zones, packing);
  for (auto& hops : now.raise)
    for (unsigned* const counter : hops)
      if (counter != nullptr) std::atomic_ref(*counter).fetch_add(1, std::memory_order_release);
  Exchange exchange(domain, zones, false);
  exchange.start();
  run_part(domain, kernel, a, zones, interior);
  exchange.finish();
  ++zones.exchange;
  for (int hop = 0; hop < 2 * directions; ++hop) {
    if (now.face[hop / 2] == 0 || (received >> hop & 1) != 0) continue;
    std::atomic_ref arrived(now.signals->arrived[hop * HaloSignals::stride]);
    const auto expected = static_cast<unsigned>(zones.exchange);
    while (static_cast<int>(arrived.load(std::memory_order_acquire) - expected) < 0) sched_yield();
  }
  run_part(domain, kernel, a, zones, exterior);
}

class PeerStores final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    Device& device = domain.device();
    if (!device.asynchronous()) return exchange_on_host(domain, kernel, a, zones);
    device.fork();
    device.run_halo(kernel, a, {.pack = true, .peers = true}, true);
    run_part(domain, kernel, a, zones, interior);
    device.join();
    device.run_halo(kernel, a, {.exterior = true, .peers = true}, false);
  }
};

constexpr HaloWork at_once{.pack = true, .exterior = true, .whole = true, .peers = true};

class Fused final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones&) override {
    domain.device().run_halo(kernel, a, at_once, false);
  }
};

class Mixed final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    Device& device = domain.device();
    if (!device.asynchronous()) return exchange_on_host(domain, kernel, a, zones);
    run_part(domain, kernel, a, zones, packing);  // for other hosts
    Exchange exchange(domain, zones, false);
    exchange.start();
    device.run_halo(kernel, a, at_once, false);  // but for sites that need messages
    exchange.finish();
    // The other zones are those of one buffer or the other: kernels alone know which.
    for (const Place& p : zones.places(zones.received()))
      device.copy(zones.incoming() + zones.bytes + p.offset, zones.incoming() + p.offset, p.bytes);
    Halo last = zones.halo;
    std::ranges::copy(zones.waiting_count, last.boundary_count);
    a.halo = &last;
    run_part(domain, kernel, a, zones, exterior);
  }
};

/// A rank is at most one exchange ahead of its neighbours: what it puts next goes to the other buffer, and what it puts
/// after that only comes once they have sent what followed their last look at this one.
class Puts final : public HaloPolicy {
 public:
  void apply(const Domain& domain, const Kernel& kernel, Arguments a, Zones& zones) override {
    Device& device = domain.device();
    const std::uint64_t number = ++zones.exchange;
    const std::size_t turn = number % 2 * zones.bytes;
    Halo now = zones.halo;
    move_zones(now.arriving, zones.received(), static_cast<long long>(turn));
    a.halo = &now;
    run_part(domain, kernel, a, zones, packing);
    std::vector<Message> sends, receives;
    if (zones.sent != 0) zones.messages(domain.lattice(), zones.incoming() + turn, zones.sending(), sends, receives);
    device.fork();
    for (const Message& m : sends) {
      const auto* const from = static_cast<const char*>(m.data);
      zones.symmetric->put(m.rank, zones.incoming() + turn + (from - zones.sending()), from, m.bytes, m.tag, number);
    }
    for (const Message& m : receives) zones.symmetric->await(m.tag, number);
    if (!sends.empty()) zones.symmetric->await_puts();
    run_part(domain, kernel, a, zones, interior);
    device.join();
    run_part(domain, kernel, a, zones, exterior);
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
      return std::make_unique<Fused>();
    case Policy::mixed:
      return std::make_unique<Mixed>();
    case Policy::shmem:
      break;
  }
  return std::make_unique<Puts>();
}

void Halos::Zones::choose(Arguments& a, const HaloWork& work) const {
  if (work.whole) return;
  a.list = work.interior ? interior[a.parity].data() : halo.boundary[a.parity];
  a.list_count = work.interior ? static_cast<int>(interior[a.parity].size()) - 1 : halo.boundary_count[a.parity];
}

void Halos::Zones::messages(const Lattice& lattice, char* arriving, char* leaving, std::vector<Message>& sends,
                            std::vector<Message>& receives) const {
  for (int hop = 0; hop < 2 * directions; ++hop) {
    const int mu = hop / 2, towards = hop % 2 != 0 ? 1 : -1;
    const Place& p = place[mu][hop % 2];
    if ((sent >> hop & 1) != 0) sends.push_back({lattice.rank_at(mu, towards), hop, leaving + p.offset, p.bytes});
    if ((received() >> hop & 1) != 0)
      receives.push_back({lattice.rank_at(mu, -towards), hop, arriving + p.offset, p.bytes});
  }
}

std::vector<Place> Halos::Zones::places(int hops) const {
  std::vector<Place> all;
  for (int hop = 0; hop < 2 * directions; ++hop) {
    if ((hops >> hop & 1) == 0) continue;
    const Place& p = place[hop / 2][hop % 2];
    if (all.empty() || all.back().offset + aligned_zone(all.back().bytes) != p.offset)
      all.push_back(p);
    else
      all.back().bytes = p.offset + p.bytes - all.back().offset;
  }
  return all;
}

}  // namespace quarksmith
