// quarksmith scaling: hopping terms on several ranks, by every policy, and what their parts take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/rank_times.hpp"
#include "runs/workload.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"

namespace quarksmith::runs {
namespace {

struct ScalingDescription : Description {
  std::string lattice = "32,32,32,64", precisions = "double,single,half", batches = "1", links = "12", hop = "wilson";
  double seconds = 0.2;
  bool local = false, parts = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("lattice", lattice, "extents X,Y,Z,T of the whole lattice");
    add("local", local, "--lattice gives the extents of the local lattice");
    add("precision", precisions, "separated by commas");
    add("operator", hop,
        "hopping term, as names of kernels begin: wilson, wilson_tinv, improved_staggered; of several, separated "
        "by commas, which are applied in turn as solvers do, the mean");
    add("reconstruct", links, "link storage: 18, 12, 8, 12t, 13");
    add("batch", batches, "right-hand sides, separated by commas");
    add("seconds", seconds, "time spent on each");
    add("parts", parts, "also time packing, interior and boundary alone");
  }
};

/// One measured combination.
struct TimedExchange {
  std::string precision;
  std::string_view policy;
  int rhs = 1;
  double seconds = 0, gflops = 0;
  std::uint64_t bytes = 0;                            ///< that each rank sends
  bool chosen = false;                                ///< whether that policy is used where none is asked for
  double pack = NAN, interior = NAN, exterior = NAN;  ///< seconds of parts, where they were timed
};

class Scaling {
 public:
  Scaling(ScalingDescription& o, Session& session)
      : o_(o),
        session_(session),
        partition_(session.partition()),
        domain_(make_domain()),
        gauge_(hot_gauge(domain_->lattice(), 1)) {}

  void operator()() {
    const Lattice& lattice = domain_->lattice();
    const auto& grid = lattice.grid();
    print_line(fmt::format("{}; {} rank(s), grid {},{},{},{}, {} on each, {} in all", domain_->device().description(),
                           lattice.ranks(), grid[0], grid[1], grid[2], grid[3], lattice.text(), lattice.global_text()));
    if (lattice.ranks() > 1) measure_sums();
    print_line(fmt::format("{:<8} {:<8} {:>4} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9}", "kernel", "policy", "rhs", "us",
                           "GFLOP/s", "kB sent", "pack us", "inner us", "outer us"));
    for (const std::string& precision : split(o_.precisions, ','))
      for (const std::string& rhs : split(o_.batches, ','))
        measure(precision, static_cast<int>(integer(rhs, "--batch")));
    write();
  }

 private:
  DomainPointer make_domain() const {
    Coordinates extent = four_integers(o_.lattice, "--lattice");
    if (o_.local) {
      if (!partition_.grid) throw UsageError("--local gives the extents of the local lattice; give --grid too");
      for (int mu = 0; mu < directions; ++mu) extent[mu] *= (*partition_.grid)[mu];
    }
    return std::make_shared<Domain>(partition_.local_lattice(extent), session_.open_device(), partition_.communicator);
  }

  void print_line(const std::string& line) const {
    if (partition_.communicator->rank() == 0) session_.print(line + "\n");
  }

  double time_of(const std::function<void()>& apply, bool recorded) const {
    return time_on_ranks(*domain_, apply, recorded, o_.seconds);
  }

  void measure_sums() const {
    const AllReduceTime t = time_all_reduce(domain_, o_.seconds);
    print_line(fmt::format("all-reduce of {} number(s): {:.2f} us beyond the {:.2f} us of the kernel", t.numbers,
                           1e6 * t.seconds, 1e6 * t.kernel));
  }

  /// The hopping term whose name begins so.
  const Kernel& hop_in(const std::string& precision, const std::string& name) const {
    const auto kernels = domain_->device().kernels();
    for (const Kernel& k : kernels)
      if (k.family == "hopping" && k.name.starts_with(fmt::format("{}_{}_{}_", name, k.precision, k.links)) &&
          (k.basis.empty() || k.basis == "non_relativistic"))
        return find(kernels, {.operation = k.operation,
                              .precision = precision,
                              .links = "r" + o_.links,
                              .basis = k.basis,
                              .dagger = k.dagger,
                              .epilogue = k.epilogue,
                              .spins = k.spins});
    std::set<std::string> known;
    for (const Kernel& k : kernels)
      if (k.family == "hopping" && !k.dagger)
        known.emplace(k.name.substr(0, k.name.find(fmt::format("_{}_", k.precision))));
    throw UsageError(fmt::format("--operator {}: this build has no such hopping term; it has {}", name,
                                 one_of(std::vector<std::string_view>(known.begin(), known.end()))));
  }

  /// One of the hopping terms that are applied in turn.
  struct Hop {
    const Kernel& kernel;
    Fields fields;
    Workload work;
    HoppingLinks links;
    Arguments arguments;
    Hop(const Scaling& s, const Kernel& k, int rhs)
        : kernel(k),
          fields(s.domain_, s.gauge_),
          work(k, fields, rhs, false),
          links(fields.links_of(k)),
          arguments(work.hop()) {}
  };

  void measure(const std::string& precision_name, int rhs) {
    std::vector<std::unique_ptr<Hop>> hops;
    for (const std::string& name : split(o_.hop, ','))
      hops.push_back(std::make_unique<Hop>(*this, hop_in(precision_name, name), rhs));
    const bool gpu = domain_->device().asynchronous();
    const auto mean = [&](const auto& apply, bool recorded) {
      const auto all = [&] { std::for_each(hops.begin(), hops.end(), [&](const auto& h) { apply(*h); }); };
      return time_of(all, recorded) / double(hops.size());
    };
    // Each rank on its part as if there were no others, all at the same time.
    report(hops, "alone", mean([&](const Hop& h) { domain_->device().run(h.kernel, h.arguments); }, gpu), {});
    if (domain_->lattice().ranks() == 1) return;
    Halos& halos = domain_->halos();
    halos.use({});
    const std::vector<Policy> asked = policies();
    const Policy chosen = asked.size() == 1 ? asked.front() : halos.policy_for(precision_name, rhs);
    for (const Policy policy : asked) {
      halos.use(policy);
      const bool recorded = gpu && (policy == Policy::peer || policy == Policy::fused);
      const double seconds =
          mean([&](const Hop& h) { halos.apply(h.kernel, h.arguments, h.links.ghosts()); }, recorded);
      TimedExchange parts;
      parts.chosen = policy == chosen;
      if (o_.parts && (policy == Policy::overlap || policy == Policy::first)) {
        const auto part = [&](const HaloWork& work) {
          return mean([&](const Hop& h) { halos.apply_part(h.kernel, h.arguments, h.links.ghosts(), work); }, gpu);
        };
        parts.pack = part({.pack = true});
        parts.interior = part({.interior = true});
        parts.exterior = part({.exterior = true});
      }
      for (const auto& h : hops) parts.bytes += halos.bytes_of(h->kernel, rhs) / hops.size();
      report(hops, name_of(policy), seconds, parts);
    }
  }

  std::vector<Policy> policies() const {
    if (session_.policy.empty()) return domain_->halos().possible();
    std::vector<Policy> all;
    for (const std::string& name : split(session_.policy, ',')) all.push_back(policy_of(name));
    return all;
  }

  void report(const std::vector<std::unique_ptr<Hop>>& hops, std::string_view policy, double seconds,
              TimedExchange row) {
    row.precision = hops.front()->kernel.precision;
    row.policy = policy;
    row.rhs = hops.front()->work.rhs();
    row.seconds = seconds;
    double flops = 0;
    for (const auto& h : hops) flops += double(h->kernel.flops) / double(hops.size());
    row.gflops = flops * double(domain_->lattice().global_sites() / 2) * row.rhs / seconds * 1e-9;
    const auto text = [](double time) { return std::isnan(time) ? "-" : fmt::format("{:.2f}", 1e6 * time); };
    print_line(fmt::format("{:<8} {:<8} {:>4} {:>10.2f} {:>10.0f} {:>10.1f} {:>9} {:>9} {:>9}", row.precision,
                           row.policy, row.rhs, 1e6 * seconds, row.gflops, 1e-3 * double(row.bytes), text(row.pack),
                           text(row.interior), text(row.exterior)));
    rows_.push_back(row);
  }

  void write() const {
    const Lattice& lattice = domain_->lattice();
    Json j = {{"device", domain_->device().description()},
              {"device_name", domain_->device().identity().evidence.at("device")},
              {"link", lattice.ranks() > 1 ? domain_->halos().link() : "none"},
              {"half_sites", lattice.half_sites()},
              {"grid", lattice.grid()},
              {"lattice", lattice.global_extent()},
              {"operator", o_.hop},
              {"links", o_.links}};
    for (const TimedExchange& r : rows_) {
      j["rows"].push_back({{"precision", r.precision},
                           {"policy", r.policy},
                           {"rhs", r.rhs},
                           {"microseconds", 1e6 * r.seconds},
                           {"gflops", r.gflops},
                           {"bytes_sent", r.bytes},
                           {"chosen", r.chosen}});
      if (!std::isnan(r.pack)) {
        j["rows"].back()["pack_us"] = 1e6 * r.pack;
        j["rows"].back()["interior_us"] = 1e6 * r.interior;
        j["rows"].back()["exterior_us"] = 1e6 * r.exterior;
      }
    }
    runs::report(session_, j);
  }

  ScalingDescription& o_;
  Session& session_;
  Partition partition_;
  DomainPointer domain_;
  HostGauge gauge_;
  std::vector<TimedExchange> rows_;
};

void run(ScalingDescription& o, Session& session) {
  session.claim({});
  Scaling(o, session)();
}

}  // namespace

namespace commands {
extern constinit const Command scaling = {
    .name = "scaling",
    .help = "Time hopping terms on several ranks by every policy",
    .place = 180,
    .uses = Session::computes | Session::shares | Session::crosses | Session::reports,
    .make = task<ScalingDescription>};
}

}  // namespace quarksmith::runs
