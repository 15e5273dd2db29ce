/// \file
/// Copies of rows of the host, which may lie apart, to and from memory of a device, where one follows the other.
#pragma once

#include <cstddef>

#include "runtime/device.hpp"

namespace quarksmith {

/// Rows of bytes in memory of the host.
template <class Byte>
struct Rows {
  Byte* first = nullptr;
  std::size_t bytes = 0, stride = 0;  ///< of a row; from one to the next
  std::size_t count = 0;
};

/// All threads copy by way of memory from which the device copies fastest, while it copies what they did before: the
/// driver has one thread for other memory, which also finds pages that nobody has touched. Done on return.
void upload_rows(Device& device, void* to, const Rows<const char>& from, std::size_t staged = 32 << 20);
void download_rows(Device& device, const Rows<char>& to, const void* from, std::size_t staged = 32 << 20);

}  // namespace quarksmith
