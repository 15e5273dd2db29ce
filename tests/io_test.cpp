// Reading and writing configurations and propagators; what writers make is read back to the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/io/isolated.hpp"
#include "runtime/io/output.hpp"
#include "runtime/io/propagator.hpp"
#include "runtime/text.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("quarksmith_io_{}", ::getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::filesystem::path folder_;
};

TEST_F(Files, WritersAreReadBack) {
  const HostGauge gauge = hot_gauge(Lattice({4, 2, 6, 8}), 3);
  for (const GaugeFormatInfo& format : writable_formats())
    for (const int bits : {32, 64}) {
      const std::string name(format.name);
      if (format.bits != 0 && format.bits != bits) {
        EXPECT_THROW(write_gauge(path("v"), gauge, name, bits), UsageError) << name;
        continue;
      }
      write_gauge(path("u"), gauge, name, bits);
      const GaugeFile file = read_gauge(path("u"));
      EXPECT_LE(support::largest_difference(file.gauge, gauge), bits == 32 ? 1e-7 : 0) << name << bits;
      EXPECT_FALSE(file.checks.empty()) << name;
      EXPECT_EQ(file.bits, bits);
      EXPECT_FALSE(std::filesystem::exists(path("u.part")));
    }
}

TEST_F(Files, BoundaryPhasesGoIntoTheFileAndComeBack) {
  HostGauge gauge = hot_gauge(Lattice({4, 4, 4, 4}), 3);
  gauge.phase[3] = -1;
  write_gauge(path("u"), gauge, "ildg");
  const GaugeFile file = read_gauge(path("u"));
  EXPECT_TRUE(file.phases_folded);
  EXPECT_EQ(file.gauge.phase[3], Complex64(-1));
  EXPECT_EQ(support::largest_difference(file.gauge, gauge), 0);
}

TEST_F(Files, EveryFlippedBitIsFound) {
  const HostGauge gauge = hot_gauge(Lattice({2, 2, 2, 2}), 3);
  for (const char* format : {"ildg", "nersc", "milc"}) {
    write_gauge(path("u"), gauge, format, 32);
    std::ifstream in(path("u"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    const std::size_t data = whole.size() - 2 * 2 * 2 * 2 * 4 * 72;
    for (std::size_t at = std::max<std::size_t>(data, 1500); at + 400 < whole.size(); at += 211) {
      std::string damaged = whole;
      damaged[at] ^= 1 << (at % 8);
      std::ofstream(path("v"), std::ios::binary) << damaged;
      EXPECT_THROW(read_gauge(path("v")), Error) << format << " byte " << at;
    }
  }
}

TEST_F(Files, WordsThatChangedPlacesAreFound) {
  // The sum of a NERSC file is the same; so is its plaquette as far as it is written.
  const HostGauge gauge = hot_gauge(Lattice({2, 2, 2, 4}), 3);
  write_gauge(path("u"), gauge, "nersc");
  const std::string whole = content("u");
  const std::size_t data = whole.size() - 32 * 4 * 144;
  std::string damaged = whole;
  for (int n = 3; n < 8; ++n) std::swap(damaged[data + n], damaged[data + 16 + n]);  // low bytes of two reals
  put("v", damaged);
  EXPECT_THROW(read_gauge(path("v")), Error);
  // Nor is the second checksum lost in silence.
  for (const char* key : {"SITE_CRC", "CHECKSUM"}) {
    damaged = whole;
    damaged[damaged.find(key)] = 'X';
    put("v", damaged);
    EXPECT_THROW(read_gauge(path("v")), Error) << key;
  }
}

TEST_F(Files, ExtentsThatChangedPlacesAreFound) {
  const HostGauge gauge = hot_gauge(Lattice({2, 4, 6, 2}), 3);
  write_gauge(path("u"), gauge, "milc", 32);
  std::string damaged = content("u");
  std::swap_ranges(&damaged[4], &damaged[8], &damaged[12]);  // x and z
  put("v", damaged);
  EXPECT_THROW(read_gauge(path("v")), Error);
  write_gauge(path("u"), gauge, "ildg");
  damaged = content("u");
  std::swap(damaged[damaged.find("<lx>") + 4], damaged[damaged.find("<ly>") + 4]);
  put("v", damaged);
  EXPECT_THROW(read_gauge(path("v")), Error);
  damaged = content("u");
  damaged[damaged.find("scidac-checksum")] = 'x';
  put("v", damaged);
  EXPECT_THROW(read_gauge(path("v")), Error);
}

TEST_F(Files, ErrorsOfGarbageAreOnePrintableLine) {
  const HostGauge gauge = hot_gauge(Lattice({2, 2, 2, 2}), 3);
  write_gauge(path("u"), gauge, "nersc");
  std::string nersc = content("u");
  nersc.replace(nersc.find("4D_SU3"), 6, "\x1b[31m\xff");
  write_gauge(path("u"), gauge, "ildg");
  std::string ildg = content("u");
  ildg.replace(ildg.find("ildg-binary-data") - 8, 14, "\x7f\xff\xff\xff\xff\xff\xff\xff\n\r\t\x02\x03\x04");
  for (const std::string& bytes : {nersc, ildg}) {
    put("v", bytes);
    const std::string what = support::message_of([&] { read_gauge(path("v")); });
    EXPECT_NE(what.find(path("v")), std::string::npos) << what;
    EXPECT_TRUE(std::all_of(what.begin(), what.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; })) << what;
  }
}

TEST(Printable, IsOneLineOfUtf8) {
  EXPECT_EQ(printable("a b\n\x1b[0m\x7f"), "a b??[0m?");
  EXPECT_EQ(printable("M\xc3\xb6\xc3\xb6"
                      "bius \xe2\x82\xac \xf0\x9f\x98\x80"),
            "M\xc3\xb6\xc3\xb6"
            "bius \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xc0\x80 \xed\xa0\x80 \xf5\x80 \xc3"), "?? ??? ?? ?");  // overlong, surrogate, none, cut
  EXPECT_EQ(printable("\xc2\x85"), "??");                                      // a control character
}

TEST(Isolated, ChildrenDieAlone) {
  EXPECT_EQ(isolated([] { return std::string(100000, 'x'); }, 100000, "f").size(), 100000u);
  EXPECT_EQ(isolated([] { return std::string(); }, 10, "f"), "");
  const auto message = [](const std::function<std::string()>& work) {
    return support::message_of([&] { isolated(work, 1000, "it failed"); });
  };
  EXPECT_EQ(message([]() -> std::string { throw Error("no such column"); }), "no such column");
  EXPECT_EQ(message([]() -> std::string { throw Error(std::string(1500, 'w')); }),
            std::string(1500, 'w'));  // than data
  EXPECT_THROW(isolated([]() -> std::string { throw UsageError("former format"); }, 1000, "f"), UsageError);
  EXPECT_EQ(message([]() -> std::string { std::abort(); }), "it failed");
  EXPECT_EQ(message([] { return std::string(2000, 'x'); }), "it failed");
  EXPECT_EQ(message([] { return std::string(std::size_t(8) << 30, 'x'); }), "it failed");  // memory has a limit
}

TEST_F(Files, TruncationIsFoundAtEveryLength) {
  const HostGauge gauge = hot_gauge(Lattice({2, 2, 2, 2}), 3);
  for (const char* format : {"ildg", "nersc", "milc"}) {
    write_gauge(path("u"), gauge, format, 32);
    const auto size = std::filesystem::file_size(path("u"));
    for (std::uintmax_t length = 0; length < size; length += 97) {
      std::filesystem::copy_file(path("u"), path("v"), std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(path("v"), length);
      EXPECT_THROW(read_gauge(path("v")), Error) << format << " length " << length;
    }
  }
}

TEST_F(Files, MilcFilesOfEitherByteOrderAreRead) {
  const HostGauge gauge = hot_gauge(Lattice({2, 4, 2, 2}), 3);
  write_gauge(path("u"), gauge, "milc", 32);
  std::ifstream in(path("u"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  swap_bytes(bytes.data(), 20, 4);
  swap_bytes(bytes.data() + 84, bytes.size() - 84, 4);
  std::ofstream(path("v"), std::ios::binary) << bytes;
  EXPECT_EQ(support::largest_difference(read_gauge(path("v")).gauge, read_gauge(path("u")).gauge), 0);
  EXPECT_NE(read_gauge(path("v")).byte_order, read_gauge(path("u")).byte_order);
}

TEST_F(Files, PropagatorContinuesWhereItStopped) {
  const Lattice lattice({4, 2, 2, 6});
  const PropagatorFile::Provenance provenance = {{"mass", "0.1"}, {"note", ""}};
  const HostSpinor a = reference::random_spinor(lattice, 1), b = reference::random_spinor(lattice, 2);
  {
    PropagatorFile file(path("p.h5"), lattice, provenance, false);
    file.write(0, 0, a, {10, 1e-11, 0.5, 3, "cg", "double", "symmetric", "r12", {}});
  }
  EXPECT_FALSE(std::filesystem::exists(path("p.h5")));
  EXPECT_THROW(PropagatorFile(path("p.h5"), lattice, Provenance{{"mass", "0.2"}, {"note", ""}}, false), UsageError);
  PropagatorFile file(path("p.h5"), lattice, provenance, false);
  EXPECT_TRUE(file.has(0, 0));
  EXPECT_FALSE(file.has(0, 1));
  EXPECT_EQ(file.report(0, 0).residual, 1e-11);
  HostSpinor read(lattice);
  EXPECT_TRUE(file.read(0, 0, read));
  EXPECT_EQ(read.site, a.site);
  file.write(3, 2, b, {});
  file.finish();
  read_propagator_column(path("p.h5"), 3, 2, read);
  EXPECT_EQ(read.site, b.site);
  EXPECT_THROW(PropagatorFile(path("p.h5"), lattice, provenance, false), UsageError);
  HostSpinor other(Lattice({4, 2, 2, 4}));
  EXPECT_THROW(read_propagator_column(path("p.h5"), 0, 0, other), Error);
}

TEST_F(Files, ColumnsThatWereBegunAreThereWhenTheFileEnds) {
  const Lattice lattice({4, 2, 2, 6});
  std::vector<std::shared_ptr<const HostSpinor>> columns;
  for (int n = 0; n < 3; ++n)
    columns.push_back(std::make_shared<const HostSpinor>(reference::random_spinor(lattice, 5 + n)));
  {
    PropagatorFile file(path("p.h5"), lattice, Provenance{{"mass", "0.1"}}, false);
    for (int n = 0; n < 3; ++n) file.begin_write(n, 1, columns[n], {10.0 + n, 1e-11, 0, 0, "cg", "", "", "", {}});
    EXPECT_TRUE(file.has(2, 1));
    file.begin_write(3, 0, columns[0], {});
  }
  PropagatorFile file(path("p.h5"), lattice, Provenance{{"mass", "0.1"}}, false);
  HostSpinor read(lattice);
  for (int n = 0; n < 3; ++n) {
    EXPECT_TRUE(file.has(n, 1) && file.read(n, 1, read));
    EXPECT_EQ(read.site, columns[n]->site);
    EXPECT_EQ(file.report(n, 1).iterations, 10 + n);
  }
  EXPECT_TRUE(file.has(3, 0));
  EXPECT_FALSE(file.has(3, 1));
}

TEST_F(Files, LocksWantAFolder) { EXPECT_THROW(PathLock("folder/that/is/gone"), Error); }

TEST(Lattices, NumberSitesAndLanesConsistently) {
  for (const Coordinates& extent : {Coordinates{8, 8, 8, 8}, Coordinates{4, 6, 16, 2}, Coordinates{32, 4, 4, 8},
                                    Coordinates{6, 6, 2, 12}, Coordinates{2, 2, 2, 2}}) {
    const Lattice lattice(extent);
    for (int lanes = 1; lanes <= max_lanes; lanes *= 2) {
      const LaneLayout layout(lattice, lanes);
      ASSERT_EQ(layout.boxes() * layout.geometry().half_sites, lattice.half_sites());
      std::vector<int> seen(lattice.sites());
      for (long long i = 0; i < lattice.sites(); ++i) {
        const Coordinates x = lattice.coordinates(i);
        EXPECT_EQ(lattice.index(x), i);
        const auto p = layout.position(x);
        ASSERT_LT(p.lane, layout.boxes());  // other lanes hold copies
        ++seen[(static_cast<long long>(Lattice::parity(x)) * layout.geometry().half_sites + p.block) * layout.boxes() +
               p.lane];
      }
      for (const int n : seen) EXPECT_EQ(n, 1);
    }
  }
}

TEST(Lattices, RefuseOddAndHugeExtents) {
  EXPECT_THROW(Lattice({4, 4, 3, 4}), UsageError);
  EXPECT_THROW(Lattice({4, 4, 0, 4}), UsageError);
  EXPECT_THROW(Lattice({1024, 1024, 1024, 1024}), UsageError);
}

}  // namespace
