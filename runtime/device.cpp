#include "runtime/device.hpp"

#include <fmt/format.h>

#include <charconv>

#include "runtime/error.hpp"

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
  throw UsageError(fmt::format("device '{}' is unknown; use cpu, cuda, cuda:N or auto", choice));
}

Memory::Memory(std::shared_ptr<Device> device, std::size_t bytes)
    : device_(std::move(device)), data_(device_->allocate(bytes)), bytes_(bytes) {}

Memory::~Memory() {
  if (data_ != nullptr) device_->release(data_);
}

}  // namespace quarksmith
