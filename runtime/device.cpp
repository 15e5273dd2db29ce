#include "runtime/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "runtime/tuning.hpp"

namespace quarksmith {

const Target* find_target(std::string_view name) {
  const auto all = targets();
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : *found;
}

const Target* accelerator() {
  for (const Target* t : targets().subspan(1))
    if (t->devices() > 0) return t;
  return nullptr;
}

std::string Device::choices() {
  std::string text(target_names().front());
  for (const std::string_view name : target_names().subspan(1)) text += fmt::format(", {0}, {0}:N", name);
  return text;
}

void* DeviceMemory::staging(std::size_t bytes) {
  if (staging_bytes_ < bytes) {
    staging_.reset();
    staging_ = allocate_host(bytes);
    staging_bytes_ = bytes;
  }
  return staging_.get();
}

std::shared_ptr<Device> Device::cpu() { return targets().front()->open(0); }

std::shared_ptr<Device> Device::select(const std::string& choice, int rank) {
  if (choice == "auto") {
    const Target* found = accelerator();
    return found == nullptr ? cpu() : found->open(rank % found->devices());
  }
  const auto names = target_names();
  const std::string name = choice.substr(0, choice.find(':'));
  int index = -1;
  if (name.size() < choice.size() && name != names.front()) {  // the host is one device
    const char *begin = choice.data() + name.size() + 1, *end = choice.data() + choice.size();
    const auto [rest, error] = std::from_chars(begin, end, index);
    if (error != std::errc() || rest != end) index = -1;
  }
  if (std::ranges::find(names, name) == names.end() || (name.size() < choice.size() && index < 0))
    throw UnknownName(fmt::format("device '{}' is unknown; {}use {} or auto", choice,
                                  suggestion(name, {names.begin(), names.end()}), choices()));
  const Target* target = find_target(name);
  if (target == nullptr)
    throw Error(
        fmt::format("{}: this library was built without {} kernels; build it again where their compiler is, or "
                    "use device {}",
                    choice, name, names.front()));
  return target->open(index >= 0 ? index : rank % std::max(target->devices(), 1));
}

std::span<const Kernel* const> Device::kernels_named(std::string_view operation) const {
  const std::span<const Kernel> all = kernels();
  if (all.data() != sorted_.data() || all.size() != sorted_.size()) {
    by_operation_.clear();
    for (const Kernel& kernel : all) by_operation_[kernel.operation].push_back(&kernel);
    sorted_ = all;
  }
  const auto found = by_operation_.find(operation);
  return found == by_operation_.end() ? std::span<const Kernel* const>() : found->second;
}

void Device::choose_variants(std::string_view device, std::string_view architecture) {
  const auto all = kernels();
  const auto named = [&](std::string_view name) {
    return std::find_if(all.begin(), all.end(), [&](const Kernel& k) { return k.name == name; });
  };
  sweeps_ = tuned_for(device, architecture);
  if (!sweeps_.empty()) variants_.resize(all.size());
  std::vector<const TunedDevice*> measured_on(all.size());
  std::ptrdiff_t most = 0;
  for (const TunedDevice& tuned : sweeps_) {
    for (const TunedKernel& t : tuned.kernels) {
      const auto kernel = named(t.kernel), variant = named(t.variant);
      if (kernel == all.end() || variant == all.end()) continue;  // of another profile
      const TunedDevice*& on = measured_on[kernel - all.begin()];
      if (on == nullptr) {
        on = &tuned;
        ++tuned_.kernels;
        tuned_.stale += t.stale;
      }
      if (on == &tuned) variants_[kernel - all.begin()][int(t.size)] = &*variant;
    }
    const std::ptrdiff_t count = std::ranges::count(measured_on, &tuned);
    if (count > most) most = count, tuned_.on = tuned.name;
  }
}

const Kernel& Device::variant(const Kernel& kernel, const Arguments& a) const {
  const auto place = place_in(kernels(), kernel);
  if (variants_.empty() || !place) return kernel;  // what was compiled when it was asked for has none
  const bool batch = kernel.family == "hopping" && a.rhs > kernel.tile && kernel.tile < register_tile;
  const long long blocks = std::max<long long>(a.count, a.geometry.half_sites);
  const long long sites = blocks * a.geometry.lanes * a.rhs;
  const LaunchSize size = !batch                                      ? launch_size_of(sites)
                          : a.rhs < most_sharing_groups * kernel.tile ? LaunchSize::few
                                                                      : LaunchSize::batch;
  const auto& known = variants_[*place];
  const Kernel* chosen = known[int(size)];
  if (chosen == nullptr && size == LaunchSize::tiny) chosen = known[int(LaunchSize::small)];
  if (chosen == nullptr && size == LaunchSize::few) chosen = known[int(LaunchSize::batch)];
  return chosen != nullptr ? *chosen : kernel;
}

std::vector<TunedDevice> tuned_for(std::string_view device, std::string_view architecture) {
  std::vector<TunedDevice> found;
  for (const TunedDevice& t : tuned_devices())
    if (t.name == device) found.push_back(t);
  for (const TunedDevice& t : tuned_devices())
    if (t.name != device && !architecture.empty() && t.architecture == architecture) found.push_back(t);
  return found;
}

void DeviceMemory::use(Allocator) {
  throw UsageError("memory of the host comes from the library itself; give a pool to contexts of GPUs");
}

std::unique_ptr<SymmetricMemory> DeviceMemory::allocate_symmetric(std::size_t, int, Communicator&) {
  throw UsageError("devices of this kind, or this build, put nothing into the memory of others; use other policies");
}

void DeviceMemory::follow(void*) {
  throw UsageError("the host's processors have no streams; give one to contexts of GPUs");
}

Memory::Memory(std::shared_ptr<DeviceMemory> device, std::size_t bytes)
    : device_(std::move(device)), data_(device_->allocate(bytes)), bytes_(bytes) {
  device_->held_ += bytes;
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  device_->release(data_);
  device_->held_ -= bytes_;
}

}  // namespace quarksmith
