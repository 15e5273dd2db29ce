// Within programs of others: with a decimal comma, and in processes that fork.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <locale>
#include <thread>

#include "runtime/classic_locale.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/io/propagator.hpp"
#include "runtime/io/record.hpp"
#include "runtime/processors.hpp"
#include "runtime/text.hpp"
#include "solvers/gauge/heatbath.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Compiles the locale, which few machines have, and sets it for C and for C++, as Qt, GTK, R and other programs do.
class DecimalComma : public testing::Test {
 protected:
  static constexpr const char* german = "de_DE.UTF-8";
  static void SetUpTestSuite() {
    folder_ = fs::temp_directory_path() / fmt::format("quarksmith_comma_{}", ::getpid());
    fs::create_directories(folder_);
    const std::string compile =
        fmt::format("localedef --no-archive -i de_DE -f UTF-8 '{}' >/dev/null 2>&1", (folder_ / german).string());
    if (std::system(compile.c_str()) == 0) setenv("LOCPATH", folder_.c_str(), 1);
  }
  static void TearDownTestSuite() {
    unsetenv("LOCPATH");
    fs::remove_all(folder_);
  }
  void TearDown() override { leave(); }
  bool enter() {
    if (std::setlocale(LC_ALL, german) == nullptr) return false;
    std::locale::global(std::locale(german));
    return std::string(std::localeconv()->decimal_point) == ",";
  }
  static void leave() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
  }
  static fs::path path(const std::string& name) { return folder_ / name; }
  static inline fs::path folder_;
};

TEST_F(DecimalComma, FilesOfEveryFormatAreTheSame) {
  const HostGauge gauge = weak_gauge(Lattice({2, 2, 2, 4}), 0.3, 1);
  const auto each = [&](const auto& use) {
    for (const GaugeFormatInfo& format : writable_formats())
      for (const int bits : {32, 64})
        if (format.bits == 0 || format.bits == bits) use(std::string(format.name), bits);
  };
  std::map<std::string, std::string> written;
  each([&](const std::string& name, int bits) {
    write_gauge(path("u"), gauge, name, bits);
    written[name + std::to_string(bits)] = content(path("u"));
  });
  if (!enter()) GTEST_SKIP() << "no locale with a decimal comma, and localedef made none";
  EXPECT_EQ(std::strtod("0.5", nullptr), 0) << "the locale is not set";
  each([&](const std::string& name, int bits) {
    write_gauge(path("u"), gauge, name, bits);
    EXPECT_EQ(content(path("u")), written[name + std::to_string(bits)]) << name;
    const GaugeFile file = read_gauge(path("u"));
    EXPECT_LE(support::largest_difference(file.gauge, gauge), bits == 64 ? 0 : 1e-7) << name;
    for (const RecordedCheck& check : file.checks) EXPECT_TRUE(check.agrees) << name << " " << check.what;
  });
  std::string text;
  for (const auto& site : gauge.site)
    for (const Matrix3& u : site)
      for (const Complex64& z : u) text += fmt::format("{:.17g} {:.17g}\n", z.real(), z.imag());
  std::ofstream(path("text")) << text;
  EXPECT_EQ(support::largest_difference(read_gauge(path("text"), gauge.lattice).gauge, gauge), 0);
}

TEST_F(DecimalComma, PropagatorsAndMeasurementsAreReadBack) {
  const Lattice lattice({2, 2, 2, 4});
  const Provenance provenance = {{"mass", 0.125}, {"shifts", std::vector<double>{0.25, 1234.5}}, {"kappa", "0.12"}};
  const HostSpinor column = reference::random_spinor(lattice, 1);
  if (!enter()) GTEST_SKIP() << "no locale with a decimal comma, and localedef made none";
  EXPECT_EQ(text_of(provenance.at("mass")), "0.125");
  EXPECT_EQ(text_of(provenance.at("shifts")), "0.25,1234.5");
  {
    PropagatorFile file(path("p.h5"), lattice, provenance, false);
    file.write(0, 0, column, {10, 1.5e-11, 0.5, 3, "cg", "double", "symmetric", "r12", {}});
  }
  {  // another mass is found, the same goes on
    PropagatorFile file(path("p.h5"), lattice, provenance, false);
    EXPECT_TRUE(file.has(0, 0));
    EXPECT_EQ(file.report(0, 0).residual, 1.5e-11);
    file.finish();
  }
  HostSpinor read(lattice);
  read_propagator_column(path("p.h5"), 0, 0, read);
  EXPECT_EQ(read.site, column.site);
  RecordFile file({{"format", "quarksmith measurements 1"}, {"beta", 5.75}});
  file.add({"000100", {{"plaquette", 0.59}}, {{"flow", {2}, std::vector<double>{0.5, 1234.5}, {{"t0", 1.25}}}}});
  std::ofstream(path("m.h5"), std::ios::binary) << std::move(file).bytes();
  const Records records = read_records(path("m.h5"));
  EXPECT_EQ(std::get<double>(records.attributes.at("beta")), 5.75);
  EXPECT_EQ(std::get<std::vector<double>>(records.records.at(0).arrays.at(0).numbers).at(1), 1234.5);
}

TEST_F(DecimalComma, NumbersInTextsHavePoints) {
  std::ofstream(path("cpu.max")) << "150000 100000\n";
  const HostGauge weak = start_gauge("weak:0.3", Lattice({2, 2, 2, 4}), 7);
  const HeatbathState state{5.75, 1234567, 4, 1234, "weak:0.3"};
  const std::string text = state_text(state);
  if (!enter()) GTEST_SKIP() << "no locale with a decimal comma, and localedef made none";
  EXPECT_EQ(number("0.125", "mass"), 0.125);
  EXPECT_EQ(number("-1.5e-3", "mass"), -1.5e-3);
  EXPECT_THROW(number("0,125", "mass"), UsageError);
  EXPECT_EQ(as_number("1234.5"), 1234.5);
  EXPECT_EQ(as_integer("1.234"), std::nullopt);
  EXPECT_EQ(support::largest_difference(start_gauge("weak:0.3", Lattice({2, 2, 2, 4}), 7), weak), 0);
  EXPECT_EQ(state_text(state), text);
  const HeatbathState again = state_of(text, "file");
  EXPECT_EQ(again.beta, 5.75);
  EXPECT_EQ(again.seed, 1234567u);
  EXPECT_EQ(again.start, "weak:0.3");
  EXPECT_EQ(quota_processors(folder_, ""), 2);
}

TEST_F(DecimalComma, LibrariesReadPointsWithinAClassicLocale) {
  if (!enter()) GTEST_SKIP() << "no locale with a decimal comma, and localedef made none";
  char text[16];
  {
    const ClassicLocale points;
    EXPECT_EQ(std::strtod("0.5", nullptr), 0.5);
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    EXPECT_STREQ(text, "0.5");
    std::thread([] { EXPECT_EQ(std::strtod("0,5", nullptr), 0.5); }).join();
  }
  std::snprintf(text, sizeof text, "%.1f", 0.5);
  EXPECT_STREQ(text, "0,5");
}

/// What a child ends with, -1 if it does not end. \param work is done in it.
int status_of_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  for (int tenth = 0; tenth < 600; ++tenth) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

class Forks : public testing::Test {
 protected:
  void SetUp() override { omp_set_num_threads(3); }
  void TearDown() override { omp_set_num_threads(threads_); }
  int threads_ = omp_get_max_threads();
};

TEST_F(Forks, ChildrenComputeWithThreadsOfTheirOwn) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 1);
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  const auto work = [&] { return gauge_averages(gauge, domain).plaquette; };
  const double plaquette = work();
  const auto threads = [] {
    int all = 0;
#pragma omp parallel reduction(+ : all)
    all += 1;
    return all;
  };
  EXPECT_EQ(threads(), 3);
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(status_of_child([&] {
                if (work() != plaquette || threads() != 3) return 1;
                return status_of_child([&] { return work() == plaquette ? 0 : 3; }) == 0 ? 0 : 2;  // its child, too
              }),
              0);
    EXPECT_EQ(work(), plaquette);
    EXPECT_EQ(threads(), 3);
  }
}

TEST_F(Forks, ChildrenOfAnyThreadReadAndWrite) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 1);
  const fs::path path = fs::temp_directory_path() / fmt::format("quarksmith_forks_{}", ::getpid());
  write_gauge(path, gauge, "ildg");
  std::thread([&] {
    omp_set_num_threads(2);
    EXPECT_EQ(support::largest_difference(read_gauge(path).gauge, gauge), 0);
    EXPECT_EQ(status_of_child([&] {
                write_gauge(path, gauge, "nersc");
                return support::largest_difference(read_gauge(path).gauge, gauge) == 0 ? 0 : 1;
              }),
              0);
  }).join();
  fs::remove(path);
}

}  // namespace
