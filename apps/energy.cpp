#include "apps/energy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <vector>

#include "runtime/clock.hpp"

namespace quarksmith::apps {
namespace {

namespace fs = std::filesystem;

/// The counter of NVML (NVIDIA Management Library, nvmlDeviceGetTotalEnergyConsumption: millijoules since the driver
/// was loaded; Volta and later). Its header is not needed: the functions used have had these types since driver 410.
class NvmlMeter final : public EnergyMeter {
 public:
  NvmlMeter(const std::string& pci_address, std::string& why) {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      why = "libnvidia-ml.so.1 cannot be loaded; it comes with the driver";
      return;
    }
    const auto init = function<int()>("nvmlInit_v2");
    const auto find = function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    energy_ = function<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    shutdown_ = function<int()>("nvmlShutdown");
    const auto text = function<const char*(int)>("nvmlErrorString");
    if (!init || !find || !energy_ || !shutdown_ || !text) {
      why = "libnvidia-ml.so.1 has no energy counter; a newer driver has";
      return;
    }
    int status = init();
    started_ = status == 0;
    unsigned long long now = 0;
    if (status == 0) status = find(pci_address.c_str(), &device_);
    if (status == 0) status = energy_(device_, &now);
    ready_ = status == 0;
    if (!ready_) why = fmt::format("NVML, GPU at {}: {}", pci_address, text(status));
  }
  ~NvmlMeter() override {
    if (started_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  bool ready() const { return ready_; }
  double joules() override {
    unsigned long long millijoules = 0;
    return energy_(device_, &millijoules) == 0 ? 1e-3 * static_cast<double>(millijoules) : NAN;
  }
  std::string description() const override { return "the whole board, by NVML"; }

 private:
  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }
  void* library_ = nullptr;
  void* device_ = nullptr;
  bool started_ = false, ready_ = false;
  int (*energy_)(void*, unsigned long long*) = nullptr;
  int (*shutdown_)() = nullptr;
};

std::optional<double> read_number(const fs::path& file) {
  std::ifstream in(file);
  double number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

/// Zones of Linux powercap: microjoules of each processor package and, where they are counted apart, its memory.
class RaplMeter final : public EnergyMeter {
 public:
  RaplMeter(const fs::path& folder, std::string& why) {
    std::error_code none;
    bool unreadable = false;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      std::string name;
      std::ifstream(entry.path() / "name") >> name;
      if (!entry.path().filename().string().starts_with("intel-rapl:") ||
          !(name.starts_with("package") || name == "dram"))
        continue;
      const auto now = read_number(entry.path() / "energy_uj"),
                 range = read_number(entry.path() / "max_energy_range_uj");
      if (now && range) {
        zones_.push_back({entry.path() / "energy_uj", *now, *range});
      } else {
        unreadable = true;
      }
    }
    if (!zones_.empty() && !unreadable) return;
    zones_.clear();
    why = unreadable ? fmt::format("{}/intel-rapl:*/energy_uj cannot be read; ask for the permission", folder.string())
                     : fmt::format("{} has no intel-rapl zones; this machine does not report energy", folder.string());
  }
  bool ready() const { return !zones_.empty(); }
  double joules() override {
    for (Zone& zone : zones_) {
      const double now = read_number(zone.file).value_or(NAN);
      double step = now - zone.last;
      if (step < 0) step += zone.range;  // the counter began again
      total_ += 1e-6 * step;
      zone.last = now;
    }
    return total_;
  }
  std::string description() const override {
    return fmt::format("{} RAPL zone(s): processor packages and memory, all that runs on them", zones_.size());
  }

 private:
  struct Zone {
    fs::path file;
    double last, range;
  };
  std::vector<Zone> zones_;
  double total_ = 0;
};

template <class Meter, class Place>
std::unique_ptr<EnergyMeter> open_as(const Place& place, std::string& why) {
  auto meter = std::make_unique<Meter>(place, why);
  return meter->ready() ? std::move(meter) : nullptr;
}

}  // namespace

std::unique_ptr<EnergyMeter> EnergyMeter::open(const Device& device, const fs::path& powercap, std::string& why) {
  const std::string address = device.pci_address();
  return address.empty() ? open_as<RaplMeter>(powercap, why) : open_as<NvmlMeter>(address, why);
}

Energy energy_of(EnergyMeter& meter, Device& device, const std::function<void(int)>& work, double seconds) {
  const int each = std::clamp(static_cast<int>(0.005 / seconds), 1, 1 << 20);
  int call = 0;
  // Runs until the counter has moved, for `least` seconds more at any rate; returns where it stands then.
  const auto run_to_tick = [&](double least) {
    const double begin = now();
    double before = meter.joules(), last = before;
    do {
      before = last;
      for (int n = 0; n < each; ++n) work(call++);
      device.synchronize();
      last = meter.joules();
    } while ((last == before || now() - begin < least) && now() - begin < least + 2);
    return last == before ? NAN : last;
  };
  const double first = run_to_tick(0);
  if (std::isnan(first)) return {NAN, NAN};
  const int calls = call;
  const double begin = now(), drawn = run_to_tick(0.5) - first;
  return {drawn / (call - calls), drawn / (now() - begin)};
}

}  // namespace quarksmith::apps
