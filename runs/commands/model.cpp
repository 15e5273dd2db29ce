// quarksmith model: what hopping terms and iterations take on machines that are not at hand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/scaling_model.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

struct ModelDescription : Description {
  std::vector<std::string> lattices, grids, files;
  std::string ranks, precisions, links = "12", link, network, schwarz, target{target_names()[1]};
  int batch = 1, ranks_per_host = 0;
  double launch = 2;
  bool local = false, calibrate = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("lattice", lattices, "extents X,Y,Z,T of the whole lattice; several may follow").required().open();
    add("local", local, "--lattice gives the extents of the local lattice");
    add("grid", grids, "ranks along x,y,z,t; several may follow").open();
    add("ranks", ranks, "instead: numbers of ranks, separated by commas, in the grid that suits them");
    add("measured", files, "JSON of `bench` or `scaling`; several may follow").required().open();
    add("link", link, "GB/s,us of a rank in one direction, and latency, within a host").required();
    add("network", network, "the same between hosts");
    add("ranks_per_host", ranks_per_host, "ranks on each host (default: all are on one)").open();
    add("precision", precisions, "separated by commas (default: all that were measured)");
    add("reconstruct", links, "link storage: 18, 12, 8");
    add("batch", batch, "right-hand sides");
    add("schwarz", schwarz, "also GCR with STEPS[:PRECISION] local steps of MR as preconditioner");
    add("launch", launch, "us that a kernel takes even on few sites");
    add("calibrate", calibrate, "scale kernels of several ranks to the times of these in the files");
    add("target", target, "how faces are stored, and the policy")
        .among(std::vector<std::string>(target_names().begin(), target_names().end()));
  }
};

/// `GB/s,us`
Link link_of(const std::string& text, const std::string& option) {
  const auto parts = split(text, ',');
  if (parts.size() != 2) throw UsageError(fmt::format("{}: '{}' is not GB/s,us, for example 390,1.7", option, text));
  const Link link{1e9 * number(parts[0], option), 1e-6 * number(parts[1], option)};
  if (!(link.bytes_per_second > 0) || !(link.latency >= 0))
    throw UsageError(
        fmt::format("{}: {} GB/s, {} us; a rate must be above 0, a latency not below", option, parts[0], parts[1]));
  return link;
}

std::string commas(const Coordinates& x) { return fmt::format("{},{},{},{}", x[0], x[1], x[2], x[3]); }

class Model {
 public:
  Model(ModelDescription& o, Session& session) : o_(o), session_(session), measured_(o.links, 1e-6 * o.launch) {
    session_.require_one_rank("model");
    if (o.grids.empty() == o.ranks.empty())
      throw UsageError("model: give the ranks along x,y,z,t with --grid, or their numbers with --ranks 1,2,4");
    if (!(o.launch >= 0)) throw UsageError(fmt::format("--launch {}: a time is not below 0", o.launch));
    if (o.ranks_per_host < 0 || o.batch < 1)
      throw UsageError(
          fmt::format("--ranks-per-host {}, --batch {}: these are numbers of ranks and of right-hand "
                      "sides",
                      o.ranks_per_host, o.batch));
    for (const std::string& file : o.files) measured_.read(file);
    machine_.link = link_of(o.link, "--link");
    if (!o.network.empty()) machine_.network = link_of(o.network, "--network");
    machine_.ranks_per_host = o.ranks_per_host;
    machine_.gpu = o.target != "cpu";
    precisions_ = o.precisions.empty() ? measured_.precisions() : split(o.precisions, ',');
    if (precisions_.empty()) (void)measured_.seconds("double", o.batch, 1);  // throws: there are no times
    for (const std::string& p : precisions_) find_precision(p);
    if (!o.schwarz.empty() && split(o.schwarz, ':').size() > 2)
      throw UsageError(fmt::format("--schwarz: '{}' is not STEPS or STEPS:PRECISION, for example 4:half", o.schwarz));
  }

  void operator()() {
    print(session_, "times of {}; link {:.4g} GB/s, {:.3g} us", measured_.device(),
          1e-9 * machine_.link.bytes_per_second, 1e6 * machine_.link.latency);
    if (machine_.network)
      print(session_, "; network {:.4g} GB/s, {:.3g} us", 1e-9 * machine_.network->bytes_per_second,
            1e6 * machine_.network->latency);
    print(session_, "\n");
    for (const std::string& precision : precisions_) slower_.push_back(slower(precision));
    head();
    for (const std::string& lattice : o_.lattices)
      for (const Coordinates& grid : grids_of(four_integers(lattice, "--lattice"))) {
        const Lattice local(whole(lattice, grid), grid, {});
        for (std::size_t n = 0; n < precisions_.size(); ++n) predict(local, precisions_[n], slower_[n]);
      }
    write();
  }

 private:
  std::vector<Coordinates> grids_of(const Coordinates& lattice) const {
    std::vector<Coordinates> all;
    for (const std::string& grid : o_.grids) all.push_back(four_integers(grid, "--grid"));
    if (o_.ranks.empty()) return all;
    if (o_.local) throw UsageError("--local gives the extents of the local lattice; give --grid instead of --ranks");
    for (const std::string& n : split(o_.ranks, ',')) {
      const long long ranks = integer(n, "--ranks");
      if (ranks < 1 || ranks > (1 << 20)) throw UsageError(fmt::format("--ranks {}: use 1 to 2^20", ranks));
      all.push_back(choose_grid(lattice, static_cast<int>(ranks)));
    }
    return all;
  }

  Coordinates whole(const std::string& lattice, const Coordinates& grid) const {
    Coordinates extent = four_integers(lattice, "--lattice");
    if (o_.local)
      for (int mu = 0; mu < directions; ++mu) extent[mu] *= grid[mu];
    return extent;
  }

  Work work(const std::string& precision) const { return {.precision = precision, .links = o_.links, .rhs = o_.batch}; }

  double slower(const std::string& precision) const {
    if (!o_.calibrate) return 1;
    const double factor = slowness(measured_, machine_, work(precision));
    print(session_, "{}: kernels of several ranks take {:.3f} times those of one\n", precision, factor);
    return factor;
  }

  void head() const {
    print(session_, "{:<13} {:<9} {:<15} {:<9} {:<8} {:>9} {:>10} {:>6} {:>9} {:>9} {:>9} {:>9}{}{}\n", "lattice",
          "grid", "on each", "precision", "policy", "us", "GFLOP/s", "eff.", "kB sent", "sent us", "cg us", "bicg us",
          o_.schwarz.empty() ? "" : "   gcr us", measured_.shared().empty() ? "" : " measured  model/m.");
  }

  void predict(const Lattice& local, const std::string& precision, double slower) {
    const ScalingModel model(measured_, machine_, local, work(precision), slower);
    const HopTime t = model.hop();
    const double efficiency = model.efficiency(t.total());
    std::vector<IterationTime> iterations = {model.iteration("cg"), model.iteration("bicgstab")};
    if (!o_.schwarz.empty()) iterations.push_back(model.schwarz_iteration(schwarz_of(precision)));
    print(session_, "{:<13} {:<9} {:<15} {:<9} {:<8} {:>9.2f} {:>10.0f} {:>5.0f}% {:>9.1f} {:>9.2f}",
          local.global_text(), commas(local.grid()), local.text(), precision, t.policy, 1e6 * t.total(),
          model.gflops(t.total()), 100 * efficiency, 1e-3 * double(t.bytes), 1e6 * t.transfer);
    for (const IterationTime& i : iterations) print(session_, " {:>9.2f}", 1e6 * i.seconds);
    Json row = {{"lattice", local.global_extent()},
                {"grid", local.grid()},
                {"local", local.extent()},
                {"ranks", local.ranks()},
                {"precision", precision},
                {"rhs", o_.batch},
                {"policy", t.policy},
                {"microseconds", 1e6 * t.total()},
                {"parts", parts_of(t)},
                {"bytes_sent", t.bytes},
                {"bytes_to_other_hosts", t.network_bytes},
                {"gflops", model.gflops(t.total())},
                {"efficiency", efficiency},
                {"all_reduce_us", 1e6 * model.all_reduce()}};
    for (const IterationTime& i : iterations)
      row["iterations"].push_back({{"method", i.method},
                                   {"microseconds", 1e6 * i.seconds},
                                   {"hopping_terms", i.hops},
                                   {"exchanges", i.exchanges},
                                   {"all_reduces", i.sums},
                                   {"bytes_sent", i.bytes},
                                   {"gflops", model.gflops(i.seconds, i.hops)}});
    for (const HoppingTimes::Shared& s : measured_.shared())
      if (s.lattice == local.global_extent() && s.grid == local.grid() && s.precision == precision &&
          s.rhs == o_.batch && s.policy == t.policy) {
        print(session_, " {:>9.2f} {:>9.2f}", 1e6 * s.seconds, t.total() / s.seconds);
        row["measured_us"] = 1e6 * s.seconds;
      }
    print(session_, "\n");
    rows_.push_back(std::move(row));
  }

  static Json parts_of(const HopTime& t) {
    return {{"stages_us", 1e6 * t.stages * t.launch},
            {"pack_us", 1e6 * t.pack},
            {"interior_us", 1e6 * t.interior},
            {"transfer_us", 1e6 * t.transfer},
            {"boundary_us", 1e6 * t.boundary}};
  }

  SchwarzSteps schwarz_of(const std::string& precision) const {
    const auto parts = split(o_.schwarz, ':');
    const long long steps = integer(parts[0], "--schwarz");
    if (steps < 1 || steps > 1000) throw UsageError(fmt::format("--schwarz {}: use 1 to 1000 steps", steps));
    return {static_cast<int>(steps), parts.size() > 1 ? parts[1] : precision};
  }

  void write() const {
    Json j = {{"device", measured_.device()},
              {"links", o_.links},
              {"launch_us", o_.launch},
              {"link",
               {{"gbytes_per_second", 1e-9 * machine_.link.bytes_per_second},
                {"microseconds", 1e6 * machine_.link.latency}}}};
    if (machine_.network)
      j["network"] = {{"gbytes_per_second", 1e-9 * machine_.network->bytes_per_second},
                      {"microseconds", 1e6 * machine_.network->latency}};
    if (machine_.ranks_per_host > 0) j["ranks_per_host"] = machine_.ranks_per_host;
    for (std::size_t n = 0; n < precisions_.size(); ++n) j["kernel_factor"][precisions_[n]] = slower_[n];
    j["rows"] = rows_;
    report(session_, j);
  }

  ModelDescription& o_;
  Session& session_;
  HoppingTimes measured_;
  Machine machine_{};
  std::vector<std::string> precisions_;
  std::vector<double> slower_;
  std::vector<Json> rows_;
};

void run(ModelDescription& o, Session& session) {
  session.claim({});
  Model(o, session)();
}

}  // namespace

namespace commands {
extern constinit const Command model = {.name = "model",
                                        .help = "Predict times on many ranks from those of one device",
                                        .place = 210,
                                        .uses = Session::reports,
                                        .make = task<ModelDescription>};
}

}  // namespace quarksmith::runs
