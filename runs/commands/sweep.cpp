// quarksmith sweep --measure DIR: compares and times the candidates that `python -m generator sweep` has compiled.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/workload.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

/// `90`, `90s`, `10m` or `1h` in seconds.
double seconds_in(const std::string& text, const std::string& name) {
  static constexpr std::pair<char, double> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  for (const auto& [unit, seconds] : units)
    if (text.size() > 1 && text.back() == unit) return seconds * number(text.substr(0, text.size() - 1), name);
  return number(text, name);
}

struct SweepDescription : Description {
  std::filesystem::path folder;
  std::string budget_text = "0";
  double seconds = 0.02, limit = 60, budget = 0;
  bool child = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("measure", folder, "folder of candidates.json; results.jsonl is written there").required().open();
    add("seconds", seconds, "time spent on each candidate");
    add("budget", budget_text, "time after which no further kernel is begun, as 90s, 10m or 1h; 0: no limit")
        .parsed([this](const std::string& text) { budget = seconds_in(text, called("budget")); });
    add("limit", limit, "seconds after which a candidate without a result is ended");
    add("child", child, "").hidden();
  }
};

std::filesystem::path results_file(SweepDescription& o) { return o.folder / "results.jsonl"; }

Json read_candidates(SweepDescription& o) {
  std::ifstream file(o.folder / "candidates.json");
  if (!file)
    throw UsageError(
        fmt::format("--measure {}: holds no candidates.json; make it with `python -m generator sweep --pack {}`",
                    o.folder.string(), o.folder.string()));
  return Json::parse(file);
}

/// Lines so far; a last line that was cut off is ignored.
std::vector<Json> read_results(SweepDescription& o) {
  std::vector<Json> lines;
  std::ifstream file(results_file(o));
  for (std::string line; std::getline(file, line);)
    if (Json j = Json::parse(line, nullptr, false); !j.is_discarded()) lines.push_back(std::move(j));
  return lines;
}

void append(SweepDescription& o, const Json& line) {
  std::ofstream file(results_file(o), std::ios::app);
  file << line.dump() << '\n';
  file.flush();
  if (!file) throw Error(fmt::format("{}: cannot write; is the disk full?", results_file(o).string()));
}

/// Candidates of one class that have an end: key `class kernel`.
std::string key(const Json& line) { return line["class"].get<std::string>() + " " + line["kernel"].get<std::string>(); }

/// Relative deviation of two results; infinite if one is not finite.
double deviation(const Workload::Result& a, const Workload::Result& b) {
  double difference = 0, size = 0;
  for (std::size_t f = 0; f < a.fields.size(); ++f)
    for (std::size_t x = 0; x < a.fields[f].site.size(); ++x)
      for (int k = 0; k < 12; ++k) {
        difference += std::norm(a.fields[f].site[x][k] - b.fields[f].site[x][k]);
        size += std::norm(b.fields[f].site[x][k]);
      }
  double worst = size > 0 ? std::sqrt(difference / size) : 0;
  for (std::size_t n = 0; n < a.sums.size(); ++n)
    worst = std::max(worst, std::abs(a.sums[n] - b.sums[n]) / (std::abs(b.sums[n]) + 1));
  return std::isfinite(worst) ? worst : INFINITY;
}

bool same_bits(const Workload::Result& a, const Workload::Result& b) {
  for (std::size_t f = 0; f < a.fields.size(); ++f)
    if (a.fields[f].site != b.fields[f].site) return false;
  return a.sums == b.sums;
}

/// A group of candidates for one kernel and class.
class Group {
 public:
  /// \param proven deviations of candidates that have been compared already.
  Group(SweepDescription& o, std::string size, int rhs, std::shared_ptr<Device> device,
        std::map<std::string, double>& proven)
      : o_(o), size_(std::move(size)), rhs_(rhs), device_(std::move(device)), deviations_(proven) {}

  /// Compares, then times those that agree, in turns.
  void run(const Kernel& base, const std::vector<const Json*>& candidates, Fields& check, Fields& large) {
    Workload small(base, check, rhs_ > 1 ? 3 * base.tile : 0, false);
    const auto expected = small.result(base);
    std::vector<const Kernel*> good;
    for (const Json* c : candidates) {
      const Kernel& kernel = find_by_name((*c)["kernel"]);
      if (agrees(kernel, small, expected)) good.push_back(&kernel);
    }
    if (good.empty()) return;
    const bool graph = size_ == "small" || size_ == "tiny";
    Workload work(base, large, rhs_ > 1 ? rhs_ : 0, !graph);
    std::vector<std::vector<double>> samples(good.size());
    std::vector<int> calls(good.size(), 1);
    constexpr int rounds = 7;
    for (int round = -1; round < rounds; ++round)
      for (std::size_t n = 0; n < good.size(); ++n) {
        const double seconds = time(work, *good[n], calls[n], graph);
        if (round >= 0) samples[n].push_back(seconds / calls[n]);
        // The first round sets how many calls fill a sample.
        if (round < 0)
          calls[n] = work.whole_rounds(std::clamp(static_cast<int>(o_.seconds / rounds * calls[n] / seconds), 3, 2000));
      }
    for (std::size_t n = 0; n < good.size(); ++n) {
      const auto [least, most] = std::minmax_element(samples[n].begin(), samples[n].end());
      append(o_, {{"class", size_},
                  {"kernel", good[n]->name},
                  {"status", "ok"},
                  {"deviation", deviations_.at(std::string(good[n]->name))},
                  {"microseconds", median(samples[n]) * 1e6},
                  {"spread", (*most - *least) / median(samples[n])}});
    }
  }

 private:
  const Kernel& find_by_name(const std::string& name) const {
    for (const Kernel& k : device_->kernels())
      if (k.name == name) return k;
    throw Error(fmt::format("{}: no module holds it; run the sweep again", name));
  }

  double time(Workload& work, const Kernel& kernel, int calls, bool graph) {
    int call = 0;
    const auto burst = [&] {
      for (int i = 0; i < calls; ++i) work.launch(kernel, call++);
    };
    return graph ? device_->time_graph(burst) : device_->time(burst);
  }

  bool agrees(const Kernel& kernel, Workload& small, const Workload::Result& expected) {
    const std::string name(kernel.name);
    if (deviations_.contains(name)) return true;
    append(o_, {{"class", size_}, {"kernel", name}, {"status", "started"}});
    const Workload::Result first = small.result(kernel);
    const double d = deviation(first, expected);
    const PrecisionInfo& p = find_precision(kernel.precision);
    const double limit = p.word_bytes == 8 ? 1e-13 : std::max(4 * std::ldexp(1.0, -p.bits), 3e-6);
    std::string status = d <= limit ? "" : "wrong";
    for (int repeat = 0; repeat < 20 && status.empty(); ++repeat)
      if (!same_bits(small.result(kernel), first)) status = "racy";
    if (status.empty()) {
      deviations_[name] = d;
      return true;
    }
    append(o_, {{"class", size_}, {"kernel", name}, {"status", status}, {"deviation", std::isfinite(d) ? d : -1}});
    return false;
  }

  SweepDescription& o_;
  std::string size_;
  int rhs_;
  std::shared_ptr<Device> device_;
  std::map<std::string, double>& deviations_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether a candidate is one for so many right-hand sides: some shapes are for batches alone, the others for one.
bool belongs(const Json& candidate, int rhs) {
  const auto& shape = candidate["shape"];
  const bool batch = std::find(shape.begin(), shape.end(), "kept") != shape.end();
  return batch == (rhs > 1);
}

/// Measures everything that has no end yet, or what the budget allows.
void measure(SweepDescription& o, Session& session) {
  const double start = now();
  const Json all = read_candidates(o);
  const auto device = session.open_device();
  device->forget_tuning();  // what candidates are compared with is the kernel itself, not what an earlier sweep chose
  write_text(o.folder / "device.json", Json(device->identity().evidence).dump());
  std::set<std::string> ended;
  std::map<std::string, double> proven;
  for (const Json& line : read_results(o)) {
    if (line["status"] != "started") ended.insert(key(line));
    if (line["status"] == "ok") proven[line["kernel"]] = line["deviation"];
  }
  const Lattice check_lattice({8, 8, 8, 8});
  const HostGauge check_gauge = hot_gauge(check_lattice, 1);
  Fields check(std::make_shared<Domain>(check_lattice, device), check_gauge);
  for (const auto& [size, launch] : all["sizes"].items()) {
    const Lattice lattice(launch["lattice"].get<Coordinates>());
    const int rhs = launch["rhs"];
    const HostGauge gauge = hot_gauge(lattice, 2);
    Fields fields(std::make_shared<Domain>(lattice, device), gauge);
    std::map<std::string, std::vector<const Json*>> groups;
    for (const Json& c : all["candidates"])
      if (belongs(c, rhs) && !ended.contains(key({{"class", size}, {"kernel", c["kernel"]}})))
        groups[c["base"]].push_back(&c);
    std::vector<std::pair<const Kernel*, std::vector<const Json*>>> ordered;
    for (const Kernel& k : device->kernels())
      if (groups.contains(std::string(k.name))) ordered.emplace_back(&k, groups[std::string(k.name)]);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& x, const auto& y) { return links_before(*x.first, *y.first); });
    Progress progress("sweep, " + size + " launches", double(ordered.size()), session);
    double done = 0;
    for (const auto& [kernel, candidates] : ordered) {
      if (o.budget > 0 && now() - start > o.budget) {
        session.info("the budget is spent; the same command goes on from here");
        return;
      }
      try {
        Group(o, size, rhs, device, proven).run(*kernel, candidates, check, fields);
      } catch (const UsageError& e) {  // the build lacks what brings its fields to the device, or it cannot be compared
        session.warn(fmt::format("{} is left out: {}", kernel->name, first_line(e.what())));
      }
      progress.show(++done, std::string(kernel->name));
    }
  }
}

/// Runs `measure` in a child: an error of the device is sticky, and a candidate may hang.
void supervise(SweepDescription& o, Session& session) {
  session.require_one_rank("sweep");
  const Json all = read_candidates(o);
  std::string modules;
  std::set<std::string> seen;
  for (const Json& c : all["candidates"])
    if (seen.insert(c["module"]).second)
      modules += (modules.empty() ? "" : ":") + std::filesystem::absolute(o.folder / std::string(c["module"])).string();
  setenv("QUARKSMITH_KERNELS", modules.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string seconds = fmt::format("{}", o.seconds), folder = o.folder.string();
  const double start = now();
  for (int crashes = 0; crashes < 100; ++crashes) {
    // A child that is started again has what is left of the budget; a last moment, so that 0 stays "no limit".
    const double left = o.budget > 0 ? std::max(o.budget - (now() - start), 1e-3) : 0;
    const std::string budget = fmt::format("{}", left);
    const pid_t child = fork();
    if (child == 0) {
      Communicator::forget_launcher();
      execl(self.c_str(), self.c_str(), "sweep", "--measure", folder.c_str(), "--child", "--seconds", seconds.c_str(),
            "--budget", budget.c_str(), "--device", session.device.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    std::uintmax_t size = 0;
    double last = now();
    bool killed = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::error_code ignored;
      const std::uintmax_t grown = std::filesystem::file_size(results_file(o), ignored);
      if (!ignored && grown != size) size = grown, last = now();
      if (!killed && now() - last > o.limit) {
        kill(child, SIGKILL);
        killed = true;
      }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const std::vector<Json> lines = read_results(o);
    if (lines.empty() || lines.back()["status"] != "started")
      throw Error(fmt::format(
          "the measuring process ended with status {} outside any candidate; its message stands above", status));
    append(o, {{"class", lines.back()["class"]},
               {"kernel", lines.back()["kernel"]},
               {"status", killed ? "timeout" : "crashed"}});
  }
  throw Error("100 candidates crashed; something else is wrong");
}

void run(SweepDescription& o, Session& session) { return o.child ? measure(o, session) : supervise(o, session); }

}  // namespace

namespace commands {
extern constinit const Command sweep = {.name = "sweep",
                                        .help = "Measure the candidates that `python -m generator sweep` packed",
                                        .place = 190,
                                        .uses = Session::computes,
                                        .make = task<SweepDescription>,
                                        .of_shell = true};
}

}  // namespace quarksmith::runs
