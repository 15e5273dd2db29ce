// Configurations of other codes that contradict themselves, leave something unsaid or carry the sign of a boundary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/io/lime.hpp"
#include "runtime/text.hpp"
#include "tests/data.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

const Coordinates small_extent = {2, 2, 2, 4};

class GaugeFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("quarksmith_gauge_files_{}", ::getpid());
    std::filesystem::create_directory(folder_);
    gauge_.emplace(hot_gauge(Lattice(small_extent), 3));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path put(const std::string& bytes) const {
    const std::filesystem::path path = folder_ / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// The file of a format, as our writers make it.
  std::string written(const std::string& format, int bits = 64) const {
    const std::filesystem::path path = folder_ / "written";
    write_gauge(path, *gauge_, format, bits);
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The links and their checksum as records of a LIME container.
  struct Records {
    std::string links, checksum;
  };
  Records records(int bits = 64) const {
    const std::filesystem::path path = put(written("ildg", bits));
    const InputFile file(path);
    const std::vector<LimeRecord> all = lime_records(file);
    return {read_record(file, *find_record(all, "ildg-binary-data")),
            read_record(file, *find_record(all, "scidac-checksum"))};
  }
  /// A NERSC file as other codes write it: with a header of its own, of three rows.
  std::string nersc(const std::string& changed = "", const std::string& to = "") const {
    std::string bytes = written("nersc");
    for (const char* key : {"SITE_CRC", "CREATOR"}) {
      const std::size_t at = bytes.find(key);
      bytes.erase(at, bytes.find('\n', at) + 1 - at);
    }
    if (const std::size_t at = bytes.find(changed); !changed.empty()) {
      EXPECT_NE(at, std::string::npos) << changed;
      bytes.replace(at, to.starts_with("\n") ? 0 : bytes.find('\n', at) - at, to);
    }
    return bytes;
  }
  std::string checksum_of_nersc() const {
    const std::string bytes = nersc();
    return bytes.substr(bytes.find("CHECKSUM = ") + 11, 8);
  }
  /// That a file is refused by an error with the file's name and these words.
  void refused(const std::string& bytes, const std::vector<std::string>& words,
               const std::optional<Lattice>& lattice = {}) const {
    const std::filesystem::path path = put(bytes);
    try {
      const GaugeFile file = read_gauge(path, lattice);
      ADD_FAILURE() << "read as " << file.gauge.lattice.global_text() << ", expected " << words[0];
    } catch (const Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(path.string()), std::string::npos) << what;
      for (const std::string& word : words) EXPECT_NE(what.find(word), std::string::npos) << word << ": " << what;
    }
  }
  std::filesystem::path folder_;
  std::optional<HostGauge> gauge_;
};

std::string ildg_format(const std::string& content =
                            "<field>su3gauge</field><precision>64</precision><lx>2</lx>"
                            "<ly>2</ly><lz>2</lz><lt>4</lt>") {
  return record_of("ildg-format", "<?xml version=\"1.0\"?><ildgFormat>" + content + "</ildgFormat>", true, false);
}
std::string links_of(const std::string& bytes) { return record_of("ildg-binary-data", bytes, false, false); }
std::string checksum_record(const std::string& xml) { return record_of("scidac-checksum", xml, false, true); }
std::string scidac_file(const std::string& dims) {
  return record_of("scidac-private-file-xml", "<scidacFile><dims>" + dims + " </dims></scidacFile>", true, false);
}
std::string scidac_record(const std::string& content) {
  return record_of("scidac-private-record-xml", "<scidacRecord>" + content + "</scidacRecord>", true, false);
}

TEST_F(GaugeFiles, LimeRecordsThatAgreeAreRead) {
  const auto [links, sums] = records();
  const std::string all =
      scidac_file("2 2 2 4") +
      scidac_record("<precision>D</precision><colors>3</colors><typesize>144</typesize><datacount>4</datacount>") +
      ildg_format() + links_of(links) + checksum_record(sums) + checksum_record(sums);
  const GaugeFile file = read_gauge(put(all));
  EXPECT_EQ(support::largest_difference(file.gauge, *gauge_), 0);
  ASSERT_EQ(file.checks.size(), 1u);
  EXPECT_TRUE(file.checks[0].agrees);
  EXPECT_TRUE(file.remarks.empty());
}

TEST_F(GaugeFiles, LimeRecordsThatContradictEachOtherAreRefused) {
  const auto [links, sums] = records();
  const std::string end = links_of(links) + checksum_record(sums);
  refused(scidac_file("4 2 2 2") + ildg_format() + end,
          {"extent in x", "4", "2", "scidac-private-file-xml", "ildg-format"});
  refused(ildg_format() + ildg_format("<lx>4</lx><ly>2</ly><lz>2</lz><lt>2</lt>") + end, {"extent in x"});
  refused(ildg_format("<lx>2</lx><lx>4</lx><ly>2</ly><lz>2</lz><lt>4</lt>") + end, {"extent in x"});
  refused(scidac_record("<precision>F</precision>") + ildg_format() + end, {"precision", "32", "64"});
  refused(scidac_record("<colors>2</colors>") + ildg_format() + end, {"colours", "2", "3"});
  refused(scidac_record("<typesize>72</typesize><datacount>4</datacount>") + ildg_format() + end, {"288", "576"});
  std::string other = sums;
  char& digit = other[other.find("<suma>") + 6];
  digit = digit == '0' ? '1' : '0';
  refused(ildg_format() + end + checksum_record(other), {"checksum"});
  refused(ildg_format() + links_of(records(32).links), {"precision", "64", "32", "9216"});
}

TEST_F(GaugeFiles, LimeContainersOfSeveralFieldsAreRefused) {
  const auto [links, sums] = records();
  const std::string field = ildg_format() + links_of(links) + checksum_record(sums);
  refused(field + field, {"several fields", "lime_unpack"});
  refused(field + record_of("scidac-binary-data", links, false, true), {"several fields"});
}

TEST_F(GaugeFiles, ExtentsInCommentsAreNone) {
  const auto [links, sums] = records();
  const std::string end = links_of(links) + checksum_record(sums);
  for (const char* hidden :
       {"<!-- <lx>4</lx><lt>2</lt> -->", "<![CDATA[<lx>4</lx><lt>2</lt>]]>", "<?old <lx>4</lx><lt>2</lt>?>"}) {
    const GaugeFile file = read_gauge(put(
        ildg_format(hidden + std::string("<precision>64</precision><lx>2</lx><ly>2</ly><lz>2</lz><lt>4</lt>")) + end));
    EXPECT_EQ(file.gauge.lattice.extent(), small_extent) << hidden;
  }
  // All of them in a comment: there are none.
  const std::string none = ildg_format("<!-- <lx>2</lx><ly>2</ly><lz>2</lz><lt>4</lt> -->") + end;
  EXPECT_THROW(read_gauge(put(none)), UsageError);
  EXPECT_EQ(support::largest_difference(read_gauge(put(none), Lattice(small_extent)).gauge, *gauge_), 0);
  EXPECT_EQ(xml_values("<a>1</a><!--<a>2</a>--><a x='y'> 3\n</a><ab>4</ab>", "a"),
            (std::vector<std::string>{"1", "3"}));
}

TEST_F(GaugeFiles, LimeValuesThatAreNoNumbersAreRefused) {
  const auto [links, sums] = records();
  const std::string end = links_of(links) + checksum_record(sums);
  for (const char* format : {"<lx>2x</lx><ly>2</ly><lz>2</lz><lt>4</lt>", "<lx>2</lx><ly>2</ly><lz>2</lz>",
                             "<lx>99999999999</lx><ly>2</ly><lz>2</lz><lt>4</lt>",
                             "<precision>16</precision><lx>2</lx><ly>2</ly><lz>2</lz><lt>4</lt>",
                             "<field>diracFermion</field><lx>2</lx><ly>2</ly><lz>2</lz><lt>4</lt>"})
    refused(ildg_format(format) + end, {"file"}, Lattice(small_extent));
  refused(scidac_file("2 2 2") + links_of(links), {"2 2 2"}, Lattice(small_extent));
  refused(scidac_file("2 2 2 4</dims><volfmt>1</volfmt><dims>2 2 2 4") + ildg_format() + end, {"volfmt 1"});
  refused(scidac_record("<recordtype>2</recordtype>") + ildg_format() + end, {"recordtype 2"});
  refused(ildg_format() + links_of(links) + checksum_record("<suma>xyz</suma><sumb>1</sumb>"), {"xyz"});
}

TEST_F(GaugeFiles, PropagatorsAreNoConfigurations) {
  refused(record_of("etmc-propagator-format", "<etmcFormat></etmcFormat>", true, false) +
              record_of("scidac-binary-data", records().links, false, true),
          {"propagator", "etmc-propagator-format"}, Lattice(small_extent));
}

TEST_F(GaugeFiles, PlaquetteOfXlfInfoIsCompared) {
  const auto [links, sums] = records();
  const double plaquette = host_averages(*gauge_, *Communicator::self()).plaquette;
  const auto with = [&](const std::string& text, bool summed) {
    return record_of("xlf-info", "plaquette = " + text + "\n trajectory nr = 230\n", true, true) + ildg_format() +
           links_of(links) + (summed ? checksum_record(sums) : "");
  };
  for (const std::string& text : {fmt::format("{:.6e}", plaquette), fmt::format("{:.12f}", plaquette)}) {
    const GaugeFile file = read_gauge(put(with(text, true)));
    ASSERT_EQ(file.checks.size(), 2u);
    EXPECT_TRUE(file.checks[1].agrees && file.remarks.empty()) << text;
  }
  for (const double wrong : {plaquette + 2e-5, 0.0, 0.628065051764})
    for (const bool summed : {false, true})
      refused(with(fmt::format("{:.6e}", wrong), summed), {"plaquette of xlf-info", "damaged"});
  refused(with(fmt::format("{0:.6e}\n plaquette = {1:.6e}", plaquette, plaquette - 0.2), true),
          {"plaquette of xlf-info", "damaged"});
}

TEST_F(GaugeFiles, PlaquettesWithoutDigitsDoNotAgree) {
  *gauge_ = weak_gauge(Lattice(small_extent), 0.3, 1);  // its plaquette is far from 0
  for (const char* text : {"0", "0.", "0.0", "1", "nan", "inf", "none", "", "1e3", "0x1p-1", "0,9"})
    refused(nersc("PLAQUETTE", std::string("PLAQUETTE = ") + text), {"plaquette"});
  *gauge_ = unit_gauge(Lattice(small_extent));
  EXPECT_TRUE(read_gauge(put(nersc("PLAQUETTE", "PLAQUETTE = 1"))).checks[1].agrees);
}

TEST_F(GaugeFiles, AveragesInSinglePrecisionAreAcceptedWithARemarkIfTheChecksumAgrees) {
  const GaugeAverages averages = host_averages(*gauge_, *Communicator::self());
  const std::string off = fmt::format("PLAQUETTE = {:.12f}", averages.plaquette + 1e-8);
  const GaugeFile file = read_gauge(put(nersc("PLAQUETTE", off)));
  ASSERT_EQ(file.checks.size(), 3u);
  for (const RecordedCheck& check : file.checks) EXPECT_TRUE(check.agrees) << check.what;
  EXPECT_EQ(file.remarks.size(), 1u);
  EXPECT_EQ(support::largest_difference(file.gauge, *gauge_), 0);
  // Without a checksum nothing says that the links are right; nor do other links have that plaquette.
  std::string bytes = nersc("PLAQUETTE", off);
  const std::size_t at = bytes.find("CHECKSUM");
  bytes.erase(at, bytes.find('\n', at) + 1 - at);
  refused(bytes, {"plaquette"});
  refused(nersc("PLAQUETTE", fmt::format("PLAQUETTE = {:.12f}", averages.plaquette + 1e-4)), {"plaquette"});
  refused(nersc("LINK_TRACE", fmt::format("LINK_TRACE = {:.12f}", averages.link_trace - 1e-4)), {"link trace"});
}

TEST_F(GaugeFiles, LinksWithTheSignOfABoundaryAreConvertedWithTheirOwnAverages) {
  for (const Complex64& phase : {Complex64(-1), std::polar(1.0, 0.3)})
    for (const int mu : {0, 3}) {
      *gauge_ = weak_gauge(Lattice(small_extent), 0.3, 1);
      const GaugeAverages without = host_averages(*gauge_, *Communicator::self());
      gauge_->phase[mu] = phase;
      for (const GaugeFormatInfo& format : writable_formats()) {
        const std::string name(format.name);
        if (phase != -1.0 && !format.any_links && name != "nersc") continue;
        for (const int bits : {32, 64}) {
          if (format.bits != 0 && format.bits != bits) continue;
          const GaugeFile file = read_gauge(put(written(name, bits)));
          EXPECT_TRUE(file.phases_folded) << name;
          EXPECT_LT(std::abs(file.gauge.phase[mu] - phase), 1e-6) << name;
          if (name != "nersc") continue;
          ASSERT_EQ(file.checks.size(), 3u);
          EXPECT_EQ(file.checks[1].recorded,
                    fmt::format("{:.10g}", as_number(fmt::format("{:.10f}", without.plaquette)).value()));
          EXPECT_GT(std::abs(as_number(file.checks[2].recorded).value() - without.link_trace), 1e-3);
        }
      }
    }
}

TEST_F(GaugeFiles, ChecksumDecidesAByteOrderThatIsNotSaid) {
  const std::string big = nersc("FLOATING_POINT", "FLOATING_POINT = IEEE64");
  const std::size_t data = big.find("END_HEADER\n") + 11;
  std::string little = big;
  swap_bytes(little.data() + data, little.size() - data, 8);
  for (const auto& [bytes, order] : {std::pair(big, "big"), std::pair(little, "little")}) {
    for (const std::string& gone : {std::string(), std::string("CHECKSUM"), std::string("PLAQUETTE")}) {
      // The checksum, the averages or, if nothing is recorded, what links are.
      std::string some = bytes;
      for (const char* key : {"CHECKSUM", "PLAQUETTE", "LINK_TRACE"})
        if (const std::size_t at = some.find(key); !gone.empty() && (gone == "PLAQUETTE" || gone == key))
          some.erase(at, some.find('\n', at) + 1 - at);
      const GaugeFile file = read_gauge(put(some));
      EXPECT_EQ(file.byte_order, order) << gone;
      EXPECT_EQ(support::largest_difference(file.gauge, *gauge_), 0) << gone;
      EXPECT_EQ(file.remarks.size(), 1u);
    }
  }
  std::string damaged = little;
  damaged[data + 100] ^= 1;
  refused(damaged, {"NERSC checksum"});
  // What the header says is not guessed.
  little.replace(little.find("IEEE64"), 6, "IEEE64BIG");
  EXPECT_THROW(read_gauge(put(little)), Error);
}

TEST_F(GaugeFiles, NerscHeadersThatContradictThemselvesAreRefused) {
  const std::string sum = checksum_of_nersc();
  EXPECT_TRUE(read_gauge(put(nersc("CHECKSUM", "CHECKSUM = 0x" + sum))).checks[0].agrees);
  EXPECT_TRUE(read_gauge(put(nersc("DATATYPE", "\nDIMENSION_1 = 2\n"))).checks[0].agrees);  // said twice
  refused(nersc("DATATYPE", "\nDIMENSION_1 = 4\n"), {"DIMENSION_1", "4", "2"});
  refused(nersc("DATATYPE", "\nPLAQUETTE = 0.5\n"), {"PLAQUETTE", "0.5"});
  refused(nersc("DIMENSION_4", "DIMENSION_4 = 4x"), {"DIMENSION_4", "4x"});
  refused(nersc("DIMENSION_4", "DIMENSION_4 = 4294967300"), {"DIMENSION_4"});
  refused(nersc("DIMENSION_4", "DIMENSION_4 = 6"), {"2x2x2x6"});
  refused(nersc("CHECKSUM", "CHECKSUM = " + sum + "0"), {"CHECKSUM"});
  refused(nersc("CHECKSUM", "CHECKSUM = none"), {"CHECKSUM", "none"});
  refused(nersc("FLOATING_POINT", "FLOATING_POINT = IEEE64MIDDLE"), {"IEEE64MIDDLE"});
}

TEST_F(GaugeFiles, MilcFilesHaveTheSizeThatTheirExtentsImply) {
  const std::string bytes = written("milc", 32);
  refused(bytes + std::string(72, '\0'), {"MILC"});
  std::string shorter = bytes;  // the checksum of what its extents leave might agree
  shorter.resize(bytes.size() - 72);
  refused(shorter, {"MILC"});
}

TEST_F(GaugeFiles, ChecksThatFailAreRecordedWhenTheyAreIgnored) {
  std::string bytes = nersc("PLAQUETTE", "PLAQUETTE = 0.25");
  bytes[bytes.find("CHECKSUM = ") + 11] ^= 1;
  EXPECT_THROW(read_gauge(put(bytes)), Error);
  const GaugeFile file = read_gauge(put(bytes), {}, false);
  EXPECT_EQ(support::largest_difference(file.gauge, *gauge_), 0);
  ASSERT_EQ(file.checks.size(), 3u);
  EXPECT_FALSE(file.checks[0].agrees || file.checks[1].agrees);
  EXPECT_TRUE(file.checks[2].agrees);
  ASSERT_EQ(file.remarks.size(), 2u);
  EXPECT_NE(file.remarks[0].find(checksum_of_nersc()), std::string::npos);
  // What contradicts itself is not read so either.
  const auto [links, sums] = records();
  EXPECT_THROW(read_gauge(put(scidac_file("4 2 2 2") + ildg_format() + links_of(links)), {}, false), Error);
}

TEST_F(GaugeFiles, ColoursThatNoRecordNamesFollowFromTheSize) {
  for (const int colours : {2, 3, 4}) {
    *gauge_ = hot_gauge(Lattice(small_extent), 5, colours);
    const std::string bare = links_of(records().links);
    const GaugeFile file = read_gauge(put(bare), Lattice(small_extent));
    ASSERT_EQ(file.gauge.colours(), colours);
    for (long long x = 0; x < gauge_->lattice.sites(); ++x)
      for (int mu = 0; mu < directions; ++mu)
        EXPECT_TRUE(std::ranges::equal(file.gauge.link(x, mu), gauge_->link(x, mu))) << colours;
  }
  // Other extents do not make other groups of them: 2^3 x 4 of SU(4) has the size of 4^2 x 2 x 4 of U(2).
  refused(links_of(records().links), {"--lattice"}, Lattice({4, 4, 2, 4}));
}

/// Files of shared/data/cases, whose right values were computed elsewhere.
TEST(GaugeFileCases, HaveTheirRightValues) {
  REQUIRE_DATA();
  const std::filesystem::path cases = data::folder() / "cases";
  if (!std::filesystem::exists(cases)) GTEST_SKIP() << "no cases in the data";
  const auto plaquette = [&](const char* name, const std::optional<Lattice>& lattice = {}) {
    return host_averages(read_gauge(cases / name, lattice).gauge, *Communicator::self()).plaquette;
  };
  EXPECT_NEAR(plaquette("ieee64_little.nersc"), 0.439102336461, 1e-12);
  EXPECT_NEAR(plaquette("checksum_0x.nersc"), 0.439102336461, 1e-12);
  EXPECT_NEAR(plaquette("su2_bare.ildg", Lattice({2, 2, 2, 2})), -0.021861098380, 1e-12);
  for (const char* name : {"two_fields.ildg", "dims_disagree.ildg", "precision_record.ildg"})
    EXPECT_THROW(read_gauge(cases / name), Error) << name;
  const std::filesystem::path out = std::filesystem::temp_directory_path() / fmt::format("cases_{}", ::getpid());
  write_gauge(out, read_gauge(cases / "folded_sign.nersc").gauge, "nersc");
  const GaugeFile again = read_gauge(out);
  std::filesystem::remove(out);
  EXPECT_TRUE(again.phases_folded);
  EXPECT_EQ(again.notes.at("LINK_TRACE"), "0.7087888561");
}

}  // namespace
