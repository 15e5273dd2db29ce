#include "runtime/fields/rows.hpp"

#include <algorithm>
#include <cstring>

namespace quarksmith {
namespace {

/// Bytes that a thread copies at a time, if rows are shorter: one call for many of them where they follow each other.
constexpr std::size_t least_copied = 1 << 16;

/// Calls visit(row of the host, its place in a piece, bytes) for the rows of a piece, several at once.
template <class Byte, class Visit>
void for_each_row(const Rows<Byte>& rows, std::size_t begin, std::size_t end, const Visit& visit) {
  const std::size_t together = rows.stride == rows.bytes ? std::max<std::size_t>(1, least_copied / rows.bytes) : 1;
#pragma omp parallel for schedule(static)
  for (std::size_t row = begin; row < end; row += together)
    visit(rows.first + row * rows.stride, (row - begin) * rows.bytes, std::min(together, end - row) * rows.bytes);
}

/// Two halves of the memory between, in turns.
class Pieces {
 public:
  Pieces(Device& device, std::size_t row_bytes, std::size_t count, std::size_t staged)
      : rows_(std::max<std::size_t>(1, staged / 2 / row_bytes)),
        bytes_(rows_ * row_bytes),
        memory_(static_cast<char*>(device.staging(2 * std::min(bytes_, count * row_bytes)))) {
    bytes_ = std::min(bytes_, count * row_bytes);
  }
  std::size_t rows() const { return rows_; }
  char* half(std::size_t piece) const { return memory_ + piece % 2 * bytes_; }

 private:
  std::size_t rows_, bytes_;
  char* memory_;
};

}  // namespace

void upload_rows(Device& device, void* to, const Rows<const char>& from, std::size_t staged) {
  const Pieces pieces(device, from.bytes, from.count, staged);
  device.fork();
  for (std::size_t begin = 0; begin < from.count; begin += pieces.rows()) {
    const std::size_t end = std::min(begin + pieces.rows(), from.count);
    char* const half = pieces.half(begin / pieces.rows());
    for_each_row(from, begin, end,
                 [&](const char* row, std::size_t place, std::size_t n) { std::memcpy(half + place, row, n); });
    device.wait_beside();
    device.upload_beside(static_cast<char*>(to) + begin * from.bytes, half, (end - begin) * from.bytes);
  }
  device.wait_beside();
  device.join();
}

void download_rows(Device& device, const Rows<char>& to, const void* from, std::size_t staged) {
  const Pieces pieces(device, to.bytes, to.count, staged);
  const auto begin_with = [&](std::size_t begin) {
    const std::size_t end = std::min(begin + pieces.rows(), to.count);
    if (begin < end)
      device.download_beside(pieces.half(begin / pieces.rows()), static_cast<const char*>(from) + begin * to.bytes,
                             (end - begin) * to.bytes);
    return end;
  };
  device.fork();
  std::size_t end = begin_with(0);
  for (std::size_t begin = 0; begin < to.count;) {
    device.wait_beside();
    const std::size_t next = begin_with(end);
    const char* const half = pieces.half(begin / pieces.rows());
    for_each_row(to, begin, end,
                 [&](char* row, std::size_t place, std::size_t n) { std::memcpy(row, half + place, n); });
    begin = end;
    end = next;
  }
  device.join();
}

}  // namespace quarksmith
