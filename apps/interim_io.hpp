/// \file
/// Parts of configurations by way of the whole on every rank, until files are read and written in parallel.
#pragma once

#include "runtime/io_gauge.hpp"
#include "runtime/partition.hpp"

namespace quarksmith::apps {

inline GaugeFile read_gauge(const std::filesystem::path& path, const std::optional<Lattice>& lattice, bool verify,
                            const Partition& partition) {
  GaugeFile file = quarksmith::read_gauge(path, lattice, verify);
  HostGauge part(partition.part(file.gauge.lattice.extent()));
  for (long long i = 0; i < part.lattice.sites(); ++i) part.site[i] = file.gauge.site[part.lattice.global_index(i)];
  part.phase = file.gauge.phase;
  file.gauge = std::move(part);
  return file;
}

inline void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits,
                        const std::vector<ExtraRecord>& extra, Communicator& ranks) {
  const Lattice& part = gauge.lattice;
  HostGauge whole{Lattice(part.global_extent())};
  std::vector<std::array<Matrix3, directions>> all(gauge.site.size() * ranks.size());
  ranks.all_gather(gauge.site.data(), gauge.site.size() * sizeof(all[0]), all.data());
  std::vector<long long> mine(gauge.site.size()), numbers(all.size());
  for (long long i = 0; i < part.sites(); ++i) mine[i] = part.global_index(i);
  ranks.all_gather(mine.data(), mine.size() * sizeof(long long), numbers.data());
  for (std::size_t n = 0; n < all.size(); ++n) whole.site[numbers[n]] = all[n];
  whole.phase = gauge.phase;
  ranks.together([&] {
    if (ranks.rank() == 0) quarksmith::write_gauge(path, whole, format, bits, extra);
  });
}

}  // namespace quarksmith::apps
