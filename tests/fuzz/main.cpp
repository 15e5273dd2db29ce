// quarksmith_fuzz: reads damaged files of every format through the library, in processes that may die.
#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "runtime/clock.hpp"
#include "tests/fuzz/check.hpp"

#ifdef __SANITIZE_ADDRESS__
/// Requests of memory beyond any file's need are reports; the library at work must not be stopped by leaks of others.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:max_allocation_size_mb=1024:hard_rss_limit_mb=3072:allocator_may_return_null=0";
}
extern "C" const char* __ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

namespace {

using namespace quarksmith::fuzz;
using quarksmith::now;
namespace fs = std::filesystem;

/// What one file may take; a whole sound one takes milliseconds.
constexpr double patience = 60;  // seconds
constexpr std::uint64_t most_memory = std::uint64_t(2) << 30;

struct Options {
  double seconds = 20;
  std::uint64_t files = ~std::uint64_t(0), seed = 1, first = 0;
  int workers = 1;
  bool resume = false;
  fs::path folder = "fuzz";
};

/// What a worker tells the process that watches it.
struct Progress {
  std::atomic<std::uint64_t> current{0}, files{0}, refused{0}, unprotected{0}, reports{0}, silent{0};
  std::atomic<double> since{0};  ///< when the current file was begun, 0 between files
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& o) : o_(o) {
    fs::create_directories(o_.folder);
    if (std::ifstream next(o_.folder / "next"); o_.resume && next) next >> o_.first;
    void* shared =
        mmap(nullptr, sizeof(Progress) * o_.workers, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
    progress_ = static_cast<Progress*>(shared);
    for (int w = 0; w < o_.workers; ++w) new (&progress_[w]) Progress();
    scratch_ = fs::temp_directory_path() / fmt::format("quarksmith_fuzz_{}", getpid());
    fs::create_directories(scratch_);
    corpus_ = corpus(scratch_);
  }
  ~Fuzzer() { fs::remove_all(scratch_); }

  int run() {
    fmt::print("fuzz: seed {}, from file {}, {} formats, {} workers{}\n", o_.seed, o_.first, corpus_.size(), o_.workers,
               sanitized ? ", with sanitizers" : "");
    std::fflush(stdout);
    for (int w = 0; w < o_.workers; ++w) {
      progress_[w].current = o_.first + w;
      start(w);
    }
    while (!workers_.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (int w = 0; w < o_.workers; ++w)
        if (const double since = progress_[w].since; since != 0 && now() - since > patience)
          if (workers_.contains(w)) kill(workers_[w], SIGKILL);
      watch();
    }
    return summary();
  }

 private:
  bool over(std::uint64_t n) const { return n - o_.first >= o_.files || now() - start_ > o_.seconds; }

  void start(int w) {
    const pid_t child = fork();
    if (child == 0) work(w);
    if (child > 0) workers_[w] = child;
  }

  [[noreturn]] void work(int w) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!sanitized) {
      const struct rlimit limit {
        most_memory, most_memory
      };
      setrlimit(RLIMIT_AS, &limit);
    }
    const fs::path folder = scratch_ / fmt::format("{}", w);
    fs::create_directories(folder);
    Progress& p = progress_[w];
    while (!over(p.current)) {
      p.since = now();
      one(p.current, folder, p);
      p.since = 0;
      ++p.files;
      p.current += o_.workers;
    }
    std::fflush(nullptr);
    _exit(EXIT_SUCCESS);
  }

  /// The file of a number's dice: the same for one seed, on every machine.
  Mutant make(const Original*& original, Dice& dice) const {
    original = &corpus_[dice.below(corpus_.size())];
    return mutate(*original, corpus_, dice);
  }
  Dice dice_of(std::uint64_t n) const { return Dice((o_.seed << 40) + n); }

  void one(std::uint64_t n, const fs::path& folder, Progress& p) {
    Dice dice = dice_of(n);
    const Original* original = nullptr;
    const Mutant mutant = make(original, dice);
    const Verdict verdict = check(*original, mutant.bytes, folder, dice);
    p.refused += verdict.kind == Verdict::Kind::refused;
    p.unprotected += verdict.kind == Verdict::Kind::unprotected;
    if (verdict.kind == Verdict::Kind::report) ++p.reports;
    if (verdict.kind == Verdict::Kind::silent) ++p.silent;
    if (verdict.kind == Verdict::Kind::report || verdict.kind == Verdict::Kind::silent)
      keep(n, verdict.kind == Verdict::Kind::report ? "report" : "silent", verdict.what);
  }

  void keep(std::uint64_t n, const char* kind, const std::string& what) const {
    Dice dice = dice_of(n);
    const Original* original = nullptr;
    const Mutant mutant = make(original, dice);
    const fs::path file = o_.folder / fmt::format("{}-{}-{}-{}", kind, o_.seed, n, original->name);
    put(file, mutant.bytes);
    std::cerr << fmt::format("fuzz: {} {}: {} ({}; kept as {}; again: --seed {} --first {} --files 1)\n", kind,
                             original->name, what, mutant.history, file.string(), o_.seed, n)
              << std::flush;
  }

  /// Workers that ended: at the end of their work, or of a file that ended them.
  void watch() {
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto worker =
          std::find_if(workers_.begin(), workers_.end(), [&](const auto& w) { return w.second == child; });
      if (worker == workers_.end()) continue;
      const int w = worker->first;
      workers_.erase(worker);
      Progress& p = progress_[w];
      if (p.since == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      const bool late = p.since != 0 && now() - p.since > patience;
      ++p.reports;
      ++p.files;
      keep(p.current, "report",
           late                  ? fmt::format("took more than {} s", patience)
           : WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                 : fmt::format("ended with status {}", WEXITSTATUS(status)));
      p.since = 0;
      p.current += o_.workers;
      start(w);
    }
  }

  int summary() const {
    std::uint64_t files = 0, refused = 0, unprotected = 0, reports = 0, silent = 0, next = o_.first;
    for (int w = 0; w < o_.workers; ++w) {
      const Progress& p = progress_[w];
      files += p.files, refused += p.refused, unprotected += p.unprotected, reports += p.reports, silent += p.silent;
      next = std::max<std::uint64_t>(next, p.current);
    }
    std::ofstream(o_.folder / "next") << next << "\n";
    fmt::print("fuzz: {} refused, {} with other numbers in files without a checksum\n", refused, unprotected);
    fmt::print("fuzz: {} files, {} reports, {} silent acceptances\n", files, reports, silent);
    return reports + silent == 0 && files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  Options o_;
  double start_ = now();
  fs::path scratch_;
  std::vector<Original> corpus_;
  Progress* progress_ = nullptr;
  std::map<int, pid_t> workers_;
};

[[noreturn]] void usage() {
  std::cerr
      << "quarksmith_fuzz [--seconds S] [--files N] [--seed S] [--first N] [--resume] [--workers W] [--keep FOLDER]\n"
         "reads damaged files of every format; those that were not refused as they must be are kept in FOLDER\n";
  std::exit(2);
}

Options options_of(int argc, char** argv) {
  Options o;
  for (int n = 1; n < argc; ++n) {
    const std::string name = argv[n];
    if (name == "--resume") {
      o.resume = true;
      continue;
    }
    if (++n == argc) usage();
    const char* value = argv[n];
    if (name == "--seconds")
      o.seconds = std::atof(value);
    else if (name == "--files")
      o.files = std::strtoull(value, nullptr, 10), o.seconds = 1e9;
    else if (name == "--seed")
      o.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--first")
      o.first = std::strtoull(value, nullptr, 10);
    else if (name == "--workers")
      o.workers = std::max(1, std::atoi(value));
    else if (name == "--keep")
      o.folder = value;
    else
      usage();
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);  // workers are forked
  try {
    return Fuzzer(options_of(argc, argv)).run();
  } catch (const std::exception& error) {
    std::cerr << "fuzz: error: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
