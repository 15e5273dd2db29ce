#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "runtime/clock.hpp"
#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/lattice/exact_sum.hpp"
#include "runtime/hop_times.hpp"
#include "runtime/kernels/site_draws.hpp"
#include "runtime/roofs.hpp"
#include "runtime/targets/cpu/peak.hpp"
#include "runtime/targets/cpu/pool.hpp"
#include "runtime/targets/cpu/processor.hpp"
#include "runtime/targets/cpu/slices.hpp"

namespace quarksmith {
namespace {

class CpuProgram final : public Program {
 public:
  explicit CpuProgram(std::function<void()> enqueue) : enqueue_(std::move(enqueue)) {}
  void launch() override { enqueue_(); }

 private:
  std::function<void()> enqueue_;
};

class CpuSnapshots final : public Snapshots {
 public:
  CpuSnapshots(const double* from, int count, int depth) : from_(from), count_(count), copies_(depth) {}
  void take() override { copies_[taken_++ % copies_.size()].assign(from_, from_ + count_); }
  const double* wait() override { return copies_[waited_++ % copies_.size()].data(); }

 private:
  const double* from_;
  int count_;
  std::vector<std::vector<double>> copies_;
  std::size_t taken_ = 0, waited_ = 0;
};

/// Bytes that the operating system says are available.
std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  return std::size_t(1) << 30;
}

/// Calls work(first byte, bytes) for parts of memory, large ones by all threads, which first touch the pages near them.
void in_parts(std::size_t bytes, const std::function<void(std::size_t, std::size_t)>& work) {
  constexpr std::size_t part = std::size_t(1) << 20;
  const std::size_t parts = (bytes + part - 1) / part;
#pragma omp parallel for schedule(static) if (parts > 4)
  for (std::size_t n = 0; n < parts; ++n) work(n * part, std::min(part, bytes - n * part));
}

template <class Word>
void move_words(const SiteMove& m) {
  for (int rhs = 0; rhs < m.to.rhs; ++rhs) {
    Word* const to = reinterpret_cast<Word*>(m.to.data + rhs * m.to.rhs_bytes);
    const Word* const from = reinterpret_cast<const Word*>(m.from.data + rhs * m.from.rhs_bytes);
#pragma omp parallel for schedule(static)
    for (int n = 0; n < m.count; ++n) {
      const SitePair pair = m.pairs[n];
      Word* const there = to + m.to.first_piece(pair.to);
      const Word* const here = from + m.from.first_piece(pair.from);
      for (int p = 0; p < m.to.pieces; ++p) there[p * m.to.row] = here[p * m.from.row];
      if (m.to.norm != nullptr)
        m.to.norm[rhs * m.to.norm_rhs_stride + pair.to] = m.from.norm[rhs * m.from.norm_rhs_stride + pair.from];
    }
  }
}

class ClockMark final : public TimeMark {
 public:
  double since(const TimeMark& earlier) const override { return at_ - static_cast<const ClockMark&>(earlier).at_; }

 private:
  double at_ = now();
};

class CpuDevice final : public Device, public HopTimes, public Roofs {
 public:
  CpuDevice() {
    if (const std::string why = lacks(chosen_instruction_set()); !why.empty()) throw Error(why);
    choose_variants(device_name());
  }

  std::string name() const override { return "cpu"; }
  DeviceIdentity identity() const override {
    const int threads = omp_get_max_threads();
    return {
        fmt::format("{}, {} thread{}, kernels for {}", processor_model(), threads, threads == 1 ? "" : "s", set_.name),
        {{"device", device_name()}, {"target", "cpu"}, {"toolkit", __VERSION__}}};
  }
  std::span<const Kernel> kernels() const override { return kernels_of("cpu"); }
  int full_lanes(int element_bytes) const override { return set_.register_bytes / element_bytes; }
  bool short_vectors() const override { return false; }
  std::size_t cache_bytes() const override { return cpu::last_cache_bytes(); }
  double peak(int real_bytes) const override { return cpu::peak(set_.register_bytes, real_bytes); }

  void* allocate(std::size_t bytes) override {
    void* memory = pool_->allocate(bytes);
    if (memory == nullptr && bytes > 0)
      throw OutOfMemory(
          fmt::format("cpu: no memory for {} MiB; use a smaller lattice or fewer right-hand sides", bytes >> 20));
    return memory;
  }
  void release(void* memory) noexcept override { pool_->release(memory); }
  void upload(void* device, const void* host, std::size_t bytes) override { copy(device, host, bytes); }
  void download(void* host, const void* device, std::size_t bytes) override { copy(host, device, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    in_parts(bytes, [&](std::size_t at, std::size_t size) {
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, size);
    });
  }
  void fill(void* memory, int byte, std::size_t bytes) override {
    in_parts(bytes,
             [&](std::size_t at, std::size_t size) { std::memset(static_cast<char*>(memory) + at, byte, size); });
  }
  void move_sites(const SiteMove& move) override {
    switch (move.to.piece_bytes) {
      case 8:
        return move_words<std::uint64_t>(move);
      case 4:
        return move_words<std::uint32_t>(move);
      case 2:
        return move_words<std::uint16_t>(move);
      default:
        return move_words<std::uint8_t>(move);
    }
  }
  void draw_sites(const SiteDraws& draws) override {
#pragma omp parallel for schedule(static)
    for (int slot = 0; slot < draws.slots; ++slot) draw_site(draws, slot);
  }
  double largest(const SiteNumbers& numbers) override {
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (long long n = 0; n < numbers.count(); ++n)
      if (const double size = std::abs(numbers.at(n)); size <= std::numeric_limits<double>::max())
        largest = std::max(largest, size);
    return largest;
  }
  ExactSum sum(const SiteNumbers& numbers, double largest) override {
    ExactSum sum(largest);
#pragma omp parallel
    {
      ExactSum mine(largest);
#pragma omp for schedule(static) nowait
      for (long long n = 0; n < numbers.count(); ++n) mine.add(numbers.at(n));
#pragma omp critical
      sum.add(mine);
    }
    return sum;
  }
  std::vector<double> largest_in_slices(const SliceNumbers& numbers) override {
    return cpu::largest_in_slices(numbers);
  }
  std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                       const double* phases, int momenta) override {
    return cpu::sums_over_slices(numbers, units, phases, momenta);
  }
  void synchronize() override {}

  void run(const Kernel& asked, const Arguments& arguments) override {
    const Kernel& kernel = variant(asked, arguments);
    if (kernel.sums == 0) return apply(kernel, arguments, {});
    sums_.assign(static_cast<std::size_t>(kernel.sums) * arguments.rhs, 0.0);
    const long long blocks = std::max<long long>(arguments.count, arguments.geometry.half_sites);
    partial_.resize(static_cast<std::size_t>(blocks + 1) * kernel.sums * 2);
    Arguments a = arguments;
    a.sums = sums_.data();
    a.partial = partial_.data();
    kernel.apply(a, {});
  }

  std::vector<double> reduce(const Kernel& kernel, const Arguments& arguments) override {
    run(kernel, arguments);
    return sums_;
  }

  std::unique_ptr<Program> program(std::function<void()> enqueue) override {
    return std::make_unique<CpuProgram>(std::move(enqueue));
  }
  std::unique_ptr<Snapshots> snapshots(const double* from, int count, int depth) override {
    return std::make_unique<CpuSnapshots>(from, count, depth);
  }
  bool asynchronous() const override { return false; }
  double hopping_seconds() const override { return hopping_seconds_; }
  std::unique_ptr<SharedMemory> allocate_shared(std::size_t bytes, Communicator& communicator) override {
    return communicator.shared_memory(bytes);
  }
  std::shared_ptr<void> allocate_host(std::size_t bytes) override {
    return {allocate(bytes), [pool = pool_](void* memory) { pool->release(memory); }};
  }
  void run_halo(const Kernel& kernel, const Arguments& a, const HaloWork& work, bool) override {
    apply(kernel, a, {.halo = &work});
  }
  void run_program(const Kernel&, const Arguments&, const std::vector<double>&) override {
    throw UsageError("kernels of the CPU sum over ranks themselves");
  }
  void download_beside(void* host, const void* device, std::size_t bytes) override { copy(host, device, bytes); }
  void upload_beside(void* device, const void* host, std::size_t bytes) override { copy(device, host, bytes); }
  std::size_t free_memory() override { return available_memory() + pool_->kept_bytes(); }

  std::unique_ptr<TimeMark> mark() override { return std::make_unique<ClockMark>(); }
  double time(const std::function<void()>& enqueue) override {
    const double start = now();
    enqueue();
    return now() - start;
  }
  double time_graph(const std::function<void()>& enqueue) override { return time(enqueue); }

 private:
  void apply(const Kernel& kernel, const Arguments& arguments, const Launch& launch) {
    const double start = now();
    kernel.apply(arguments, launch);
    if (kernel.family == "hopping") hopping_seconds_ += now() - start;
  }
  /// The name under which results of sweeps are kept: instruction sets are devices of their own.
  std::string device_name() const { return fmt::format("{} {}", processor_model(), set_.name); }
  InstructionSet set_ = all_instruction_sets[chosen_instruction_set()];
  std::shared_ptr<cpu::Pool> pool_ = std::make_shared<cpu::Pool>(available_memory() / 4);
  std::vector<double> partial_, sums_;
  double hopping_seconds_ = 0;
};

}  // namespace

namespace cpu {
extern const Target target;
const Target target{
    .name = "cpu",
    .devices = [] { return 1; },
    .open = [](int) -> std::shared_ptr<Device> { return std::make_shared<CpuDevice>(); },
    .table = [] { return all_instruction_sets[chosen_instruction_set()].name; },
};
}  // namespace cpu

}  // namespace quarksmith
