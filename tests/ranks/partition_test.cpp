// How lattices are cut into parts, and how ranks talk.
#include <cstdlib>

#include "runtime/error.hpp"
#include "runtime/ranks/halo.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

TEST(Partition, PartsCoverTheLatticeOnce) {
  for (const Coordinates& grid : ranks::grids()) {
    const Lattice here = ranks::local_lattice({8, 8, 8, 16}, grid);
    EXPECT_EQ(here.rank(), ranks::world().rank());
    double sum = 0;
    for (long long i = 0; i < here.sites(); ++i) {
      sum += double(here.global_index(i));
      Coordinates global, back;
      for (int mu = 0; mu < directions; ++mu) global[mu] = here.origin(mu) + here.coordinates(i)[mu];
      ASSERT_TRUE(here.find(global, back));
      ASSERT_EQ(here.index(back), i);
      ASSERT_EQ(Lattice::parity(global), Lattice::parity(back));
    }
    const double sites = 8 * 8 * 8 * 16;
    EXPECT_EQ(ranks::world().sum(sum), sites * (sites - 1) / 2);
    for (int mu = 0; mu < directions; ++mu) {
      const int there = here.rank_at(mu, 1);
      int part = here.rank(), part_stride = 1;
      for (int nu = 0; nu < mu; ++nu) part_stride *= grid[nu];
      const int position = part / part_stride % grid[mu];
      EXPECT_EQ(there, part + ((position + 1) % grid[mu] - position) * part_stride);
    }
  }
}

TEST(Partition, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Lattice({8, 8, 8, 8}, {1, 1, 1, 3}, {0, 0, 0, 0}), WrongLattice);
  EXPECT_THROW(Lattice({8, 8, 8, 6}, {1, 1, 1, 2}, {0, 0, 0, 0}), WrongLattice);  // odd parts
  const int n = ranks::world().size();
  EXPECT_THROW((Partition{Communicator::world(), Coordinates{1, 1, 1, n + 1}}).local_lattice({8, 8, 8, 16 * (n + 1)}),
               UsageError);
  EXPECT_THROW(choose_grid({4, 4, 4, 4}, 32), WrongLattice);
  EXPECT_EQ(choose_grid({32, 32, 32, 64}, 4), (Coordinates{1, 1, 1, 4}));
  EXPECT_EQ(choose_grid({32, 32, 32, 16}, 4), (Coordinates{1, 1, 4, 1}));
}

TEST(Communicator, ExchangesAndSums) {
  Communicator& world = ranks::world();
  const int n = world.size(), next = (world.rank() + 1) % n, last = (world.rank() + n - 1) % n;
  int to_next = world.rank(), to_last = 100 + world.rank(), from_last = -1, from_next = -1;
  const std::vector<Message> sends = {{next, 0, &to_next, sizeof(int)}, {last, 1, &to_last, sizeof(int)}};
  const std::vector<Message> receives = {{last, 0, &from_last, sizeof(int)}, {next, 1, &from_next, sizeof(int)}};
  world.start(sends, receives);
  world.finish();
  EXPECT_EQ(from_last, last);
  EXPECT_EQ(from_next, 100 + next);
  EXPECT_EQ(world.sum(1.0), n);
  EXPECT_EQ(world.largest(world.rank()), n - 1);
  EXPECT_EQ(world.sum_integers(1), std::uint64_t(n));
  EXPECT_EQ(world.exclusive_or(1u << world.rank()), (1u << n) - 1);
  EXPECT_EQ(world.broadcast(std::string(world.rank() == n - 1 ? "last" : "another"), n - 1), "last");
  const auto shared = world.shared_memory(sizeof(int));
  const std::vector<int>& host = world.host_ranks();
  const auto place = static_cast<int>(std::find(host.begin(), host.end(), world.rank()) - host.begin());
  *static_cast<int*>(shared->part(place)) = world.rank();
  world.barrier();
  for (std::size_t i = 0; i < host.size(); ++i)
    EXPECT_EQ(*static_cast<int*>(shared->part(static_cast<int>(i))), host[i]);
  world.barrier();
}

/// Hosts are those that were started (tools/test.sh), in namespaces or by the variable for tests.
TEST(Communicator, HostsHaveConsecutiveRanks) {
  const char* const hosts = std::getenv("QUARKSMITH_TEST_HOSTS");
  const int each = ranks::world().size() / (hosts == nullptr ? 1 : std::atoi(hosts));
  ASSERT_EQ(static_cast<int>(ranks::world().host_ranks().size()), each);
  for (int n = 0; n < each; ++n) EXPECT_EQ(ranks::world().host_ranks()[n], ranks::world().rank() / each * each + n);
}

TEST(Halos, PoliciesFollowFromTheHosts) {
  const int size = ranks::world().size(), each = static_cast<int>(ranks::world().host_ranks().size());
  if (size == 1) return;
  const DomainPointer domain = ranks::domain_of(ranks::local_lattice({8, 8, 8, 8}, ranks::grids()[0]));
  Halos& halos = domain->halos();
  const bool gpu = domain->device().asynchronous(), mixed = 1 < each && each < size;
  EXPECT_EQ(halos.refusal(Policy::mixed).empty(), mixed);
  EXPECT_EQ(halos.refusal(Policy::peer).empty(), each == size);
  EXPECT_EQ(halos.refusal(Policy::fused).empty(), each == size && gpu);
  EXPECT_EQ(halos.refusal(Policy::shmem).empty(), domain->device().puts());
  EXPECT_EQ(halos.policy(), each == 1 ? Policy::overlap : mixed ? Policy::mixed : gpu ? Policy::fused : Policy::peer);
  if (!mixed) {
    EXPECT_THROW(halos.use(Policy::mixed), UsageError);
  }
}

TEST(Communicator, AFailureOfOneRankIsKnownToAll) {
  Communicator& world = ranks::world();
  const auto work = [&] {
    if (world.rank() == world.size() - 1) throw UsageError("the last rank cannot");
  };
  EXPECT_THROW(world.together(work), UsageError);
  world.together([] {});
}

}  // namespace
