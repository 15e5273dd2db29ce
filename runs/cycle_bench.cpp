#include "runs/cycle_bench.hpp"

#include "runs/print.hpp"

namespace quarksmith::runs {

Json time_cycle(Multigrid& multigrid, int rhs,
                const std::function<double(const std::function<void()>& call)>& seconds_of, Session& session) {
  Json rows;
  print(session, "  {:<5} {:<14} {:<9} {:>5} {:>12} {:>12} {:>9}\n", "level", "lattice", "part", "batch", "us",
        "us each", "GB/s");
  for (const CyclePart& part : multigrid.parts(rhs)) {
    const double seconds = seconds_of(part.run);
    const Lattice& lattice = multigrid.lattice(part.level);
    const std::string rate = part.bytes > 0 ? fmt::format("{:.0f}", 1e-9 * part.bytes / seconds) : "-";
    print(session, "  {:<5} {:<14} {:<9} {:>5} {:>12.1f} {:>12.2f} {:>9}\n", part.level, lattice.global_text(),
          part.what, rhs, 1e6 * seconds, 1e6 * seconds / rhs, rate);
    rows.push_back({{"level", part.level},
                    {"lattice", lattice.global_extent()},
                    {"part", part.what},
                    {"batch", rhs},
                    {"microseconds", 1e6 * seconds},
                    {"bytes", part.bytes}});
  }
  return rows;
}

}  // namespace quarksmith::runs
