// Files on any grid of ranks: the bytes, links and columns of one rank alone; errors that all ranks know.
#include "runtime/io/gauge.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/propagator.hpp"
#include "tests/data.hpp"
#include "tests/ranks/support.hpp"
#include "tests/reference/reference.hpp"

namespace {

using namespace quarksmith;
using ranks::world;

constexpr Coordinates io_extent = {8, 8, 8, 16};

std::string content(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');  // at once: tests are not optimised
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// A folder that all ranks see; what only rank 0 does is done when the others go on.
class RankFiles : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = world().broadcast(fmt::format("quarksmith_ranks_{}", ::getpid()));
    folder_ = std::filesystem::temp_directory_path() / name;
    on_rank_0([&] { std::filesystem::create_directory(folder_); });
  }
  void TearDown() override {
    on_rank_0([&] { std::filesystem::remove_all(folder_); });
  }
  static void on_rank_0(const std::function<void()>& work) {
    world().together([&] {
      if (world().rank() == 0) work();
    });
  }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  static Partition partition(const Coordinates& grid) { return {Communicator::world(), grid}; }
  /// This rank's links are those that a rank alone reads.
  static void expect_part(const GaugeFile& file, const GaugeFile& whole, const std::string& what) {
    EXPECT_EQ(file.gauge.site, ranks::cut(whole.gauge, file.gauge.lattice).site) << what;
    EXPECT_EQ(file.gauge.phase, whole.gauge.phase) << what;
    EXPECT_EQ(file.format, whole.format) << what;
    EXPECT_EQ(file.notes, whole.notes) << what;
    ASSERT_EQ(file.checks.size(), whole.checks.size()) << what;
    for (std::size_t n = 0; n < whole.checks.size(); ++n) {
      EXPECT_EQ(file.checks[n].computed, whole.checks[n].computed) << what;
      EXPECT_TRUE(file.checks[n].agrees) << what << ": " << file.checks[n].what;
    }
  }
  std::filesystem::path folder_;
};

/// All that is written: names and bits.
std::vector<std::pair<std::string, int>> written_formats() {
  std::vector<std::pair<std::string, int>> all;
  for (const GaugeFormatInfo& format : writable_formats())
    for (const int bits : {32, 64})
      if (format.bits == 0 || format.bits == bits) all.emplace_back(format.name, bits);
  return all;
}

TEST_F(RankFiles, GaugeFilesHaveTheBytesOfOneRankAndAreReadBack) {
  const HostGauge whole = weak_gauge(Lattice(io_extent), 0.3, 5);
  for (const auto& [format, bits] : written_formats()) {
    on_rank_0([&] { write_gauge(path("one"), whole, format, bits, {{"note", "text"}}); });
    const std::string bytes = content(path("one"));
    const GaugeFile one = read_gauge(path("one"));
    for (const Coordinates& grid : ranks::grids()) {
      const HostGauge gauge = ranks::cut(whole, ranks::local_lattice(io_extent, grid));
      write_gauge(path("all"), gauge, format, bits, {{"note", "text"}}, world());
      EXPECT_TRUE(content(path("all")) == bytes) << format << bits;
      EXPECT_FALSE(std::filesystem::exists(path("all.part")));
      const GaugeFile file = read_gauge(path("all"), Lattice(io_extent), true, partition(grid));
      EXPECT_EQ(file.gauge.lattice, gauge.lattice);
      EXPECT_FALSE(file.checks.empty());
      expect_part(file, one, format);
      world().barrier();
    }
  }
}

TEST_F(RankFiles, BoundaryPhasesGoIntoTheLastSliceOfTheWholeLattice) {
  HostGauge whole = weak_gauge(Lattice(io_extent), 0.3, 5);
  whole.phase = {1, std::polar(1.0, 0.4), 1, -1};
  for (const char* format : {"ildg", "nersc", "openqcd"}) {
    on_rank_0([&] { write_gauge(path("one"), whole, format); });
    for (const Coordinates& grid : ranks::grids()) {
      HostGauge gauge = ranks::cut(whole, ranks::local_lattice(io_extent, grid));
      gauge.phase = whole.phase;
      write_gauge(path("all"), gauge, format, 64, {}, world());
      EXPECT_TRUE(content(path("all")) == content(path("one"))) << format;
      world().barrier();
    }
  }
}

TEST_F(RankFiles, AveragesHaveTheSameBitsOnEveryGrid) {
  const HostGauge whole = hot_gauge(Lattice(io_extent), 7);
  const GaugeAverages one = host_averages(whole, *Communicator::self());
  for (const Coordinates& grid : ranks::grids()) {
    const GaugeAverages all = host_averages(ranks::cut(whole, ranks::local_lattice(io_extent, grid)), world());
    EXPECT_EQ(all.plaquette, one.plaquette);
    EXPECT_EQ(all.space_plaquette, one.space_plaquette);
    EXPECT_EQ(all.time_plaquette, one.time_plaquette);
    EXPECT_EQ(all.link_trace, one.link_trace);
  }
}

TEST_F(RankFiles, DamageIsAnErrorOfAllRanks) {
  const HostGauge whole = weak_gauge(Lattice(io_extent), 0.3, 5);
  for (const auto& [format, bits] : written_formats()) {
    on_rank_0([&] { write_gauge(path("u"), whole, format, bits); });
    const std::string bytes = content(path("u"));
    std::string flipped = bytes;
    flipped[bytes.size() - 5000] ^= 16;  // in the part of one rank
    on_rank_0([&] {
      std::ofstream(path("cut"), std::ios::binary) << bytes.substr(0, bytes.size() - 3000);
      std::ofstream(path("flipped"), std::ios::binary) << flipped;
    });
    for (const Coordinates& grid : ranks::grids()) {
      EXPECT_THROW(read_gauge(path("cut"), {}, true, partition(grid)), Error) << format;
      if (format == std::string("openqcd")) continue;  // has no checksum
      EXPECT_THROW(read_gauge(path("flipped"), {}, true, partition(grid)), Error) << format;
    }
    EXPECT_THROW(read_gauge(path("u"), Lattice({8, 8, 8, 32}), true, partition(ranks::grids()[0])), UsageError);
  }
  EXPECT_THROW(read_gauge(path("missing"), {}, true, {Communicator::world(), {}}), Error);
}

TEST_F(RankFiles, AFileThatOneRankCannotOpenIsAnErrorOfAll) {
  const HostGauge whole = weak_gauge(Lattice(io_extent), 0.3, 5);
  on_rank_0([&] { write_gauge(path("u"), whole, "ildg"); });
  const bool last = world().rank() == world().size() - 1;
  EXPECT_THROW(read_gauge(path(last ? "missing" : "u"), {}, true, {Communicator::world(), {}}), Error);
}

TEST_F(RankFiles, WhatCannotBeWrittenKeepsTheOlderFile) {
  const Lattice here = ranks::local_lattice(io_extent, ranks::grids()[0]);
  const HostGauge gauge = weak_gauge(here, 0.3, 5);
  EXPECT_THROW(write_gauge(path("no") / "folder", gauge, "nersc", 64, {}, world()), Error);
  on_rank_0([&] { std::filesystem::create_directory(path("taken")); });
  EXPECT_THROW(write_gauge(path("taken"), gauge, "milc", 32, {}, world()), Error);
  EXPECT_THROW(write_gauge(path("u"), gauge, "milc", 64, {}, world()), UsageError);
  if (world().size() > 1) {
    EXPECT_THROW(write_gauge(path("u"), gauge, "ildg"), UsageError);
  }
  world().barrier();
  EXPECT_TRUE(std::filesystem::is_directory(path("taken")));
  EXPECT_FALSE(std::filesystem::exists(path("taken.part")));
  world().barrier();
}

/// Makes writes of this rank beyond so many bytes of a file fail, as on a full disk.
class WriteLimit {
 public:
  explicit WriteLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~WriteLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST_F(RankFiles, AFullDiskKeepsTheOlderFile) {
  const Lattice here = ranks::local_lattice(io_extent, ranks::grids()[0]);
  const HostGauge gauge = weak_gauge(here, 0.3, 5);
  write_gauge(path("u"), gauge, "ildg", 64, {}, world());
  const std::string bytes = content(path("u"));
  for (const int rank : {0, world().size() - 1}) {
    bool refused = false;
    {
      // Another rank need not write at all: MPI-IO may let others do it.
      const WriteLimit limit(world().rank() == rank ? 20000 : RLIM_INFINITY);
      try {
        write_gauge(path("u"), gauge, "ildg", 64, {}, world());
      } catch (const Error&) {
        refused = true;
      }
    }
    EXPECT_TRUE(refused || rank > 0) << "rank 0 reserves the space";
    EXPECT_TRUE(content(path("u")) == bytes);
    EXPECT_FALSE(std::filesystem::exists(path("u.part")));
    world().barrier();
  }
}

TEST_F(RankFiles, PropagatorsHoldTheColumnsOfOneRank) {
  const Lattice lattice(io_extent);
  const PropagatorFile::Provenance provenance = {{"mass", "0.1"}, {"note", ""}}, other = {{"mass", "0.2"}};
  const HostSpinor a = reference::random_spinor(lattice, 1), b = reference::random_spinor(lattice, 2);
  for (const Coordinates& grid : ranks::grids()) {
    const Lattice here = ranks::local_lattice(io_extent, grid);
    const HostSpinor mine = ranks::cut(a, here);
    HostSpinor read(here), whole(lattice);
    {
      PropagatorFile file(path("p.h5"), here, provenance, true, world());
      file.write(1, 2, mine, {10, 1e-11, 0.5, 3, "cg", "double", "symmetric", "r12", {}});
    }
    EXPECT_THROW(PropagatorFile(path("p.h5"), here, other, false, world()), UsageError);
    {
      PropagatorFile file(path("p.h5"), here, provenance, false, world());
      EXPECT_TRUE(file.has(1, 2));
      EXPECT_FALSE(file.has(0, 0));
      EXPECT_EQ(file.report(1, 2).residual, 1e-11);
      EXPECT_TRUE(file.read(1, 2, read));
      EXPECT_EQ(read.site, mine.site);
      file.write(3, 0, ranks::cut(b, here), {});
      file.finish();
    }
    EXPECT_THROW(PropagatorFile(path("p.h5"), here, provenance, false, world()), UsageError);
    read_propagator_column(path("p.h5"), 3, 0, read, world());
    EXPECT_EQ(read.site, ranks::cut(b, here).site);
    read_propagator_column(path("p.h5"), 1, 2, whole);
    EXPECT_EQ(whole.site, a.site);
    HostSpinor wrong(ranks::local_lattice({8, 8, 16, 16}, grid));
    EXPECT_THROW(read_propagator_column(path("p.h5"), 1, 2, wrong, world()), Error);
    on_rank_0([&] { std::filesystem::remove(path("p.h5")); });
  }
}

TEST_F(RankFiles, APartialPropagatorIsContinuedOnAnotherGrid) {
  const HostSpinor a = reference::random_spinor(Lattice(io_extent), 1);
  on_rank_0([&] { PropagatorFile(path("p.h5"), a.lattice, {}, false).write(2, 1, a, {}); });
  for (const Coordinates& grid : ranks::grids()) {
    HostSpinor mine(ranks::local_lattice(io_extent, grid));
    PropagatorFile file(path("p.h5"), mine.lattice, {}, false, world());
    ASSERT_TRUE(file.has(2, 1));
    EXPECT_TRUE(file.read(2, 1, mine));
    EXPECT_EQ(mine.site, ranks::cut(a, mine.lattice).site);
  }
}

TEST_F(RankFiles, PropagatorsThatOtherProgramsChangedAreReadOnAllRanks) {
  const HostSpinor a = reference::random_spinor(Lattice(io_extent), 1);
  on_rank_0([&] {
    {
      PropagatorFile file(path("p.h5"), a.lattice, {}, false);
      file.write(2, 1, a, {});
      file.finish();
    }
    // They drop the seal behind the end of HDF5: its length stands before the 18 characters of its mark.
    const std::string bytes = content(path("p.h5"));
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + bytes.size() - 18 - sizeof length, sizeof length);
    std::filesystem::resize_file(path("p.h5"), bytes.size() - 18 - sizeof length - length);
  });
  for (const Coordinates& grid : ranks::grids()) {
    HostSpinor mine(ranks::local_lattice(io_extent, grid));
    read_propagator_column(path("p.h5"), 2, 1, mine, world());
    EXPECT_EQ(mine.site, ranks::cut(a, mine.lattice).site);
  }
}

/// Files of other codes, one of each format and word length at least.
const std::pair<const char*, Coordinates> peer_files[] = {
    {"milc/lat.sample.l8888", {8, 8, 8, 8}},
    {"milc/lat.sample.l4448", {4, 4, 4, 8}},
    {"milc/lat.sample.l8", {8, 8, 8, 8}},
    {"chroma/weak_field.lime", {4, 4, 4, 8}},
    {"chroma/weak_field_b.nersc", {4, 4, 4, 8}},
    {"chroma/weak_field_32x4x4x8.nersc", {32, 4, 4, 8}},
    {"nissa/L4T8conf", {4, 4, 4, 8}},
    {"bridge/conf_04040408.txt.gz", {4, 4, 4, 8}},
    {"latticeqcd_jl/conf_wilson_kappa0.141139.txt", {4, 4, 4, 4}},
    {"latticeqcd_jl/conf_wilson_kappa0.141139.ildg", {4, 4, 4, 4}},
    {"ddalphaamg/8x8x8x8b6.0000id3n1", {8, 8, 8, 8}},
    {"glu/lat..400", {4, 4, 4, 8}},
    {"simulateqcd/ildg.l8t4b3360_QUDA", {8, 8, 8, 4}},
};

TEST(PeerFiles, GiveTheLinksThatOneRankReads) {
  REQUIRE_DATA();
  int read = 0;
  for (const auto& [name, whole_extent] : peer_files) {
    const GaugeFile one = read_gauge(data::folder() / name, Lattice(whole_extent));
    for (const Coordinates& grid : ranks::grids()) {
      bool divides = true;
      for (int mu = 0; mu < directions; ++mu) divides = divides && whole_extent[mu] % (2 * grid[mu]) == 0;
      if (!divides) continue;
      const GaugeFile all =
          read_gauge(data::folder() / name, Lattice(whole_extent), true, {Communicator::world(), grid});
      EXPECT_EQ(all.gauge.site, ranks::cut(one.gauge, all.gauge.lattice).site) << name;
      EXPECT_EQ(all.gauge.phase, one.gauge.phase) << name;
      ASSERT_EQ(all.checks.size(), one.checks.size()) << name;
      for (std::size_t n = 0; n < one.checks.size(); ++n) EXPECT_EQ(all.checks[n].computed, one.checks[n].computed);
      ++read;
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
