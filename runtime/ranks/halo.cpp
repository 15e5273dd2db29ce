#include "runtime/ranks/halo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/lattice/memory_order.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/halo_policy.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {
namespace {

/// Places of the colour vectors that cross a face, and their bytes for all right-hand sides.
struct Face {
  MemoryOrder order;
  std::size_t data, norm;

  Face(bool short_vectors, const Kernel& kernel, int blocks, int lanes, int rhs)
      : Face(short_vectors, kernel, find_precision(kernel.precision), blocks, lanes, rhs) {}

 private:
  Face(bool short_vectors, const Kernel& kernel, const PrecisionInfo& p, int blocks, int lanes, int rhs)
      : order(short_vectors, kernel.half_spins * p.spin_words * kernel.colours / 3, 1, p.word_bytes, blocks, 1, lanes),
        data(static_cast<std::size_t>(order.words()) * p.word_bytes * rhs),
        norm(p.norm ? order.padded() * lanes * sizeof(float) * rhs : 0) {}
};

}  // namespace

int face_blocks(const Geometry& g, int mu) { return g.half_sites / g.extent[mu]; }

std::uint64_t face_bytes(const Kernel& kernel, const Geometry& g, int mu, bool short_vectors, int rhs) {
  const Face face(short_vectors, kernel, kernel.reach * face_blocks(g, mu), g.lanes, rhs);
  return face.data + face.norm;
}

void for_each_on_face(const Geometry& g, int parity, int mu, int slice, const std::function<void(int, int)>& visit) {
  const int slow = mu == 3 ? 2 : 3, fast = mu >= 2 ? 1 : 2;
  for (int block = 0; block < g.half_sites; ++block) {
    const int half_x = g.extent[0] / 2, row = block / half_x, plane = row / g.extent[1];
    int x[directions] = {0, row % g.extent[1], plane % g.extent[2], plane / g.extent[2]};
    x[0] = 2 * (block % half_x) + ((x[1] + x[2] + x[3] + parity) & 1);
    if (x[mu] != slice) continue;
    const int number = x[slow] * g.extent[fast] + x[fast];
    visit(block, mu == 0 ? (number * g.extent[1] + x[1]) / 2 : number * half_x + x[0] / 2);
  }
}

Halos::Halos(const Domain& domain) : domain_(&domain) {
  Communicator& c = domain.communicator();
  const int on_host = static_cast<int>(c.largest(static_cast<double>(c.host_ranks().size())));
  if (on_host > 1 && domain.device().allocate_shared(sizeof(HaloSignals), c) != nullptr)
    reach_ = on_host == c.size() ? Reach::all : Reach::host;
  c.barrier();  // before another allocation could take its place
  for (int n = 0; n < policy_count; ++n) ways_[n] = HaloPolicy::make(Policy(n));
  const LaunchSize size = launch_size_of(domain.lattice().half_sites());
  for (const TunedDevice& tuned : domain.device().sweeps())
    for (const TunedPolicy& p : tuned.policies)
      if (p.link == link() && p.size == size) {
        const Policy policy = quarksmith::policy_of(std::string(p.policy));
        if (refusal(policy).empty()) measured_.push_back({p.precision, p.batch, policy});
      }
}

Policy Halos::usual() const {
  if (reach_ == Reach::none) return Policy::overlap;
  if (reach_ == Reach::host) return Policy::mixed;
  return domain_->device().asynchronous() ? Policy::fused : Policy::peer;
}

Policy Halos::policy_for(std::string_view precision, int rhs) const {
  if (asked_) return *asked_;
  for (const Measured& m : measured_)
    if (m.precision == precision && m.batch == (rhs > 1)) return m.policy;
  return usual();
}
Halos::~Halos() = default;

std::string Halos::refusal(Policy policy) const {
  const bool gpu = domain_->device().asynchronous();
  if (policy == Policy::fused && !gpu)
    return fmt::format("policy fused: one kernel that packs, stores into neighbours and waits needs a GPU; use {}",
                       name_of(usual()));
  if (policy == Policy::shmem && !domain_->device().puts())
    return fmt::format("policy shmem: needs GPUs of a build with NVSHMEM (-DQUARKSMITH_NVSHMEM=FOLDER); use {}",
                       name_of(usual()));
  if (!stores(policy) || reach_ == (policy == Policy::mixed ? Reach::host : Reach::all)) return {};
  return fmt::format("policy {}: {}; use {}", name_of(policy),
                     policy == Policy::mixed
                         ? "for several hosts, with ranks on each that can store into each other's memory"
                         : "ranks cannot store into each other's memory (several hosts, or GPUs without peer access)",
                     name_of(usual()));
}

std::vector<Policy> Halos::possible() const {
  std::vector<Policy> all;
  for (int n = 0; n < policy_count; ++n)
    if (refusal(Policy(n)).empty()) all.push_back(Policy(n));
  return all;
}

void Halos::use(std::optional<Policy> policy) {
  if (const std::string why = policy ? refusal(*policy) : ""; !why.empty()) throw UsageError(why);
  asked_ = policy;
  zones_.clear();
}

std::uint64_t Halos::bytes_of(const Kernel& kernel, int rhs) const {
  const int lanes = domain_->lanes(find_precision(kernel.precision).element_bytes);
  const Geometry& g = domain_->layout(lanes).geometry();
  std::uint64_t bytes = 0;
  for (int mu = 0; mu < directions; ++mu)
    if (domain_->lattice().split(mu)) bytes += 2 * face_bytes(kernel, g, mu, domain_->device().short_vectors(), rhs);
  return bytes;
}

Halos::Zones& Halos::zones_of(const Kernel& kernel, int rhs, Policy policy) {
  auto& zones =
      zones_[{std::string(kernel.precision), kernel.half_spins, kernel.reach, stores(policy), policy == Policy::shmem}];
  if (zones && zones->capacity >= rhs) return *zones;
  domain_->device().synchronize();
  zones.reset();
  zones = make_zones(kernel, rhs, policy);
  return *zones;
}

std::unique_ptr<Halos::Zones> Halos::make_zones(const Kernel& kernel, int rhs, Policy policy) const {
  auto zones = std::make_unique<Zones>();
  Zones& z = *zones;
  Device& device = domain_->device();
  z.capacity = rhs;
  z.lanes = domain_->lanes(find_precision(kernel.precision).element_bytes);
  const Geometry& g = domain_->layout(z.lanes).geometry();
  for (int mu = 0; mu < directions; ++mu) {
    if (!domain_->lattice().split(mu)) continue;
    z.halo.face[mu] = kernel.reach * face_blocks(g, mu);
    z.halo.split |= 1 << mu;
    z.bytes += 2 * aligned_zone(face_bytes(kernel, g, mu, device.short_vectors(), rhs));
  }
  if (stores(policy)) z.share(*domain_);
  for (int hop = 0; hop < 2 * directions; ++hop)
    if (z.halo.face[hop / 2] != 0 && z.leaving[hop / 2][hop % 2] == nullptr) z.sent |= 1 << hop;
  if (z.sent != 0) {
    if (policy == Policy::shmem) {
      z.symmetric = device.allocate_symmetric(3 * z.bytes, 2 * directions, domain_->communicator());
    } else {
      z.own = Memory(domain_->device_pointer(), 3 * z.bytes);
      z.host = device.allocate_host(2 * z.bytes);
    }
    for (int hop = 0; hop < 2 * directions; ++hop)
      if ((z.sent >> hop & 1) != 0) z.leaving[hop / 2][hop % 2] = z.sending();
  }
  z.list_blocks(*domain_, g, kernel.reach);
  domain_->communicator().barrier();
  return zones;
}

void Halos::Zones::share(const Domain& domain) {
  const std::size_t before = aligned_zone(sizeof(HaloSignals));
  Communicator& communicator = domain.communicator();
  shared = domain.device().allocate_shared(before + 2 * bytes, communicator);
  if (shared == nullptr) throw OutOfMemory(fmt::format("no memory for ghost zones of {} MiB", bytes >> 19));
  char* own = memory_of(*shared, communicator, communicator.rank());
  halo.buffer = static_cast<long long>(bytes);
  halo.signals = reinterpret_cast<HaloSignals*>(own);
  arriving = own + before;
  for (int mu = 0; mu < directions; ++mu)
    for (const int back : {0, 1}) {
      if (halo.face[mu] == 0) continue;
      // What a forward hop needs goes to the part behind, and the other way round.
      char* other = memory_of(*shared, communicator, domain.lattice().rank_at(mu, back ? 1 : -1));
      if (other == nullptr) continue;
      halo.raise[mu][back] = reinterpret_cast<HaloSignals*>(other)->arrived + (2 * mu + back) * HaloSignals::stride;
      leaving[mu][back] = other + before;
    }
}

void Halos::Zones::place_zones(const Domain& domain, const Kernel& kernel, int rhs) {
  if (placed == rhs) return;
  placed = rhs;
  std::size_t offset = 0;
  for (int mu = 0; mu < directions; ++mu) {
    if (halo.face[mu] == 0) continue;
    const Face face(domain.device().short_vectors(), kernel, halo.face[mu], lanes, rhs);
    for (const int back : {0, 1}) {
      place[mu][back] = {offset, face.data + face.norm};
      const auto put = [&](Operand& f, char* zones) {
        f.data = zones + offset;
        f.norm = reinterpret_cast<float*>(zones + offset + face.data);
        f.lanes = lanes;
        f.rhs_stride = face.order.words();
        f.norm_rhs_stride = face.order.padded() * lanes;
      };
      put(halo.arriving[mu][back], (received() >> (2 * mu + back) & 1) != 0 ? incoming() : arriving);
      put(halo.leaving[mu][back], leaving[mu][back]);
      offset += aligned_zone(face.data + face.norm);
    }
  }
}

void Halos::Zones::list_blocks(const Domain& domain, const Geometry& g, int reach) {
  for (const int parity : {0, 1}) {
    std::vector<bool> outside(g.half_sites), waiting(g.half_sites);
    for (int hop = 0; hop < 2 * directions; ++hop)
      for (int mu = hop / 2, n = 0; halo.face[mu] != 0 && n < reach; ++n)
        for_each_on_face(g, parity, mu, hop % 2 != 0 ? n : g.extent[mu] - 1 - n, [&](int block, int) {
          outside[block] = true;
          waiting[block] = waiting[block] || (received() >> hop & 1) != 0;
        });
    std::vector<int> boundary;
    for (int block = 0; block < g.half_sites; ++block) (outside[block] ? boundary : interior[parity]).push_back(block);
    const auto rest =
        std::stable_partition(boundary.begin(), boundary.end(), [&](int block) { return waiting[block]; });
    waiting_count[parity] = static_cast<int>(rest - boundary.begin());
    interior[parity].push_back(-1);  // a list without an entry would stand for all blocks
    lists[parity] = Memory(domain.device_pointer(), (boundary.size() + 1) * sizeof(int));
    domain.device().upload(lists[parity].data(), boundary.data(), boundary.size() * sizeof(int));
    halo.boundary[parity] = static_cast<const int*>(lists[parity].data());
    halo.boundary_count[parity] = static_cast<int>(boundary.size());
  }
}

void Halos::prepare(Zones& z, const Kernel& kernel, Arguments& a, const LinkGhosts& links) const {
  z.place_zones(*domain_, kernel, a.rhs);
  std::ranges::copy(links.near, z.halo.links);
  std::ranges::copy(links.far, z.halo.long_links);
  a.halo = &z.halo;
}

void Halos::apply(const Kernel& kernel, Arguments a, const LinkGhosts& links) {
  if (!kernel.ranks)
    throw MissingKernel(
        fmt::format("kernel {} was built for one rank; add `ranks = [true]` to its row of the profile and build again",
                    kernel.name));
  const bool makes_sums = a.products.rows != nullptr;
  const Policy policy = makes_sums ? Policy::fused : policy_for(kernel.precision, a.rhs);
  Zones& zones = zones_of(kernel, a.rhs, policy);
  prepare(zones, kernel, a, links);
  ways_[int(policy)]->apply(*domain_, kernel, a, zones);
}

void Halos::apply_part(const Kernel& kernel, Arguments a, const LinkGhosts& links, const HaloWork& work) {
  Zones& zones = zones_of(kernel, a.rhs, policy_for(kernel.precision, a.rhs));
  prepare(zones, kernel, a, links);
  run_part(*domain_, kernel, a, zones, work);
}

}  // namespace quarksmith
