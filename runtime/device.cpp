#include "runtime/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/error.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

std::shared_ptr<Device> Device::select(const std::string& choice) {
  if (choice == "cpu") return cpu();
  if (choice == "auto") return cuda_devices() > 0 ? cuda(0) : cpu();
  if (choice == "cuda") return cuda(0);
  if (choice.starts_with("cuda:")) {
    int index = -1;
    const char* end = choice.data() + choice.size();
    const auto [rest, error] = std::from_chars(choice.data() + 5, end, index);
    if (error == std::errc() && rest == end && index >= 0) return cuda(index);
  }
  throw UnknownName(fmt::format("device '{}' is unknown; use cpu, cuda, cuda:N or auto", choice));
}

void Device::choose_variants(const std::string& device) {
  const auto all = kernels();
  const auto named = [&](std::string_view name) {
    return std::find_if(all.begin(), all.end(), [&](const Kernel& k) { return k.name == name; });
  };
  for (const TunedDevice& tuned : tuned_devices()) {
    if (tuned.name != device) continue;
    variants_.resize(all.size());
    for (const TunedKernel& t : tuned.kernels) {
      const auto kernel = named(t.kernel), variant = named(t.variant);
      if (kernel == all.end() || variant == all.end()) continue;  // of another profile
      auto& known = variants_[kernel - all.begin()];
      if (std::all_of(known.begin(), known.end(), [](const Kernel* k) { return k == nullptr; })) {
        ++tuned_.first;
        tuned_.second += t.stale;
      }
      known[int(t.size)] = &*variant;
    }
  }
}

const Kernel& Device::variant(const Kernel& kernel, const Arguments& a) const {
  const auto place = place_in(kernels(), kernel);
  if (variants_.empty() || !place) return kernel;  // what was compiled when it was asked for has none
  const bool batch = kernel.family == "hopping" && a.rhs > kernel.tile;
  const long long blocks = std::max<long long>(a.count, a.geometry.half_sites);
  const long long sites = blocks * a.geometry.lanes * a.rhs;
  const LaunchSize size = batch ? LaunchSize::batch : launch_size_of(sites);
  const auto& known = variants_[*place];
  const Kernel* chosen = known[int(size)];
  if (chosen == nullptr && size == LaunchSize::tiny) chosen = known[int(LaunchSize::small)];
  return chosen != nullptr ? *chosen : kernel;
}

Memory::Memory(std::shared_ptr<Device> device, std::size_t bytes)
    : device_(std::move(device)), data_(device_->allocate(bytes)), bytes_(bytes) {
  device_->held_ += bytes;
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  device_->release(data_);
  device_->held_ -= bytes_;
}

}  // namespace quarksmith
