// quarksmith bench: every kernel of the build against the roofline.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runs/bounds.hpp"
#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/workload.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

struct BenchDescription : Description {
  std::string lattice = "16,16,16,16", filter, family;
  std::filesystem::path csv;
  int rhs = 0;
  double seconds = 0.5;
  bool rotate = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("lattice", lattice, "extents X,Y,Z,T");
    add("only", filter, "kernels with this text in their name");
    add("family", family, one_of(timed_families())).offers(timed_families());
    add("rhs", rhs, "right-hand sides (default: the tile of each kernel, 16 slices)").open();
    add("seconds", seconds, "time spent on each kernel");
    add("rotate", rotate, "rotate over buffers larger than any cache");
    add("csv", csv, "write the table to this file");
  }
};

/// One measured kernel.
struct TimedKernel {
  const Kernel* kernel;
  int rhs = 1;
  double seconds = 0;  ///< a launch
  double gflops = 0, gbytes = 0, fraction = 0;
};

Json to_json(const std::vector<TimedKernel>& rows, const Skipped& skipped, const Bounds& bounds, BenchDescription& o,
             const Device& device) {
  Json j = {{"device", device.description()},
            {"lattice", four_integers(o.lattice, "--lattice")},
            {"rotating_buffers", o.rotate}};
  j.update(bounds.json());
  for (const TimedKernel& r : rows) {
    j["kernels"].push_back({{"name", r.kernel->name},
                            {"family", r.kernel->family},
                            {"precision", r.kernel->precision},
                            {"rhs", r.rhs},
                            {"flop_per_site", r.kernel->flops},
                            {"bytes_per_site", r.kernel->bytes},
                            {"microseconds", r.seconds * 1e6},
                            {"gflops", r.gflops},
                            {"gbytes_per_second", r.gbytes},
                            {"fraction_of_copy", r.fraction}});
  }
  if (!skipped.empty()) j["skipped"] = skipped.json();
  return j;
}

std::string to_csv(const std::vector<TimedKernel>& rows) {
  std::string text = "kernel,rhs,microseconds,gflops,gbytes_per_second,fraction_of_copy\n";
  for (const TimedKernel& r : rows)
    text += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", r.kernel->name, r.rhs, r.seconds * 1e6, r.gflops,
                        r.gbytes, r.fraction);
  return text;
}

/// Whether a kernel is one that solvers ask for, and not a variant of it, which the device puts in its place.
bool found_by_name(std::span<const Kernel> kernels, const Kernel& k) {
  return &k == try_find(kernels, {k.operation, k.precision, k.links, k.basis, k.dagger, k.epilogue,
                                  k.complex_coefficients, k.tile, k.spins});
}

TimedKernel measure(Workload& work, const Kernel& kernel, Device& device, double budget, double copy,
                    const Lattice& lattice) {
  TimedKernel row{&kernel, work.rhs()};
  const auto launch = [&](int call) { work.launch(kernel, call); };
  row.seconds = time_of(device, launch, budget, [&](int calls) { return work.whole_rounds(calls); });
  const double sites = double(lattice.half_sites()) * kernel.parities * row.rhs;
  row.gflops = kernel.flops * sites / row.seconds * 1e-9;
  row.gbytes = kernel.bytes * sites / row.seconds * 1e-9;
  row.fraction = row.gbytes * 1e9 / copy;
  return row;
}

void run(BenchDescription& o, Session& session) {
  session.require_one_rank("bench");
  session.claim({{"csv", o.csv}});
  const Lattice lattice(four_integers(o.lattice, "--lattice"));
  const auto device = session.open_device();
  const auto domain = std::make_shared<Domain>(lattice, device);
  std::vector<const Kernel*> chosen;
  for (const Kernel& k : device->kernels())
    if (k.name.find(o.filter) != std::string_view::npos && k.family.find(o.family) != std::string_view::npos &&
        k.colours == 3 && std::ranges::count(timed_families(), k.family) > 0 && (o.rhs <= 0 || o.rhs % k.tile == 0) &&
        found_by_name(device->kernels(), k))
      chosen.push_back(&k);
  if (chosen.empty())
    throw UsageError(o.family.empty()
                         ? fmt::format("--only {}: no kernel of this build has that in its name", o.filter)
                         : fmt::format("--family {}{}: this build has no such kernel; {}use {}", o.family,
                                       o.filter.empty() ? "" : " --only " + o.filter,
                                       suggestion(o.family, {timed_families().begin(), timed_families().end()}),
                                       one_of(timed_families())));
  const HostGauge gauge = hot_gauge(lattice, 1);
  Fields fields(domain, gauge);
  const Bounds bounds = bounds_of(device, o.seconds);
  print(session, "{}; {}; {}; {}\n", device->description(), lattice.text(), bounds.text(),
        o.rotate ? "rotating buffers" : "same buffers");
  print(session, "{:<46} {:>3} {:>11} {:>9} {:>9} {:>7}\n", "kernel", "rhs", "us", "GFLOP/s", "GB/s", "of copy");
  std::stable_sort(chosen.begin(), chosen.end(), [](const Kernel* a, const Kernel* b) { return links_before(*a, *b); });
  std::vector<TimedKernel> rows;
  Skipped skipped;
  for (const Kernel* k : chosen) {
    std::optional<Workload> work;
    try {
      work.emplace(*k, fields, o.rhs, o.rotate);
    } catch (const MissingKernel& missing) {
      skipped.add(*k, missing);
      continue;
    }
    rows.push_back(measure(*work, *k, *device, o.seconds, bounds.copy, lattice));
    const TimedKernel& row = rows.back();
    print(session, "{:<46} {:>3} {:>11.2f} {:>9.1f} {:>9.1f} {:>6.1f}%\n", k->name, row.rhs, row.seconds * 1e6,
          row.gflops, row.gbytes, 100 * row.fraction);
  }
  if (!skipped.empty()) print(session, "{}\n", skipped.text());
  if (rows.empty()) throw Error("no kernel could be timed; " + skipped.text());
  report(session, to_json(rows, skipped, bounds, o, *device));
  if (!o.csv.empty()) session.write(o.csv, to_csv(rows));
}

}  // namespace

std::span<const std::string_view> timed_families() {
  static constexpr std::string_view all[] = {"hopping", "slices", "update", "gauge", "links", "term", "expression"};
  return all;
}

namespace commands {
extern constinit const Command bench = {.name = "bench",
                                        .help = "Time the kernels of this build against the copy bandwidth",
                                        .place = 160,
                                        .uses = Session::computes | Session::reports | Session::replaces,
                                        .make = task<BenchDescription>};
}

}  // namespace quarksmith::runs
