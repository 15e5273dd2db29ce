#include "runtime/io/file.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/error.hpp"

namespace quarksmith {

void InputFile::CloseStream::operator()(gzFile_s* stream) const { gzclose(stream); }

/// Unpacks a gzipped file to the end to find its size and damage, and keeps the start of the content in memory.
void InputFile::unpack(std::uint64_t most) {
  stream_.reset(gzopen(name_.c_str(), "rb"));
  if (!stream_) throw Error(fmt::format("{}: cannot be opened", name_));
  gzbuffer(stream_.get(), 1 << 17);
  Bytes chunk(1 << 20);
  int got;
  size_ = 0;
  while ((got = gzread(stream_.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0 && size_ <= most) {
    const auto kept = std::min<std::uint64_t>(got, in_memory_most - start_.size());
    start_.insert(start_.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(kept));
    size_ += static_cast<std::uint64_t>(got);
  }
  if (size_ > most)
    throw Error(fmt::format(
        "{}: unpacks to more than {} bytes, more than what is expected there can have; if it is right, unpack "
        "it with gunzip first",
        name_, most));
  int code = Z_OK;
  const std::string message = gzerror(stream_.get(), &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
    throw Error(fmt::format("{}: the gzip stream is damaged ({}); fetch the file again", name_, message));
  if (size_ == start_.size()) stream_.reset();
}

InputFile::InputFile(const std::filesystem::path& path, std::uint64_t most) : name_(path.string()) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) throw Error(fmt::format("{}: is a folder, not a file", name_));
  if (const auto type = std::filesystem::status(path, ec).type();
      type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found)
    throw Error(fmt::format("{}: is a device, pipe or socket, not a file; copy what it gives into a file", name_));
  file_.reset(std::fopen(name_.c_str(), "rb"));
  if (!file_) throw Error(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  size_ = std::filesystem::file_size(path, ec);
  if (ec) throw Error(fmt::format("{}: cannot be read: {}", name_, ec.message()));
  if (head(2) == "\x1f\x8b") {
    unpack(most);
    file_.reset();
  }
}

void InputFile::read(std::uint64_t offset, void* to, std::size_t bytes, const char* what) const {
  if (offset > size_ || bytes > size_ - offset)
    throw Error(fmt::format("{}: truncated: {} needs bytes {} to {}, the file has {}; fetch it again", name_, what,
                            offset, offset + bytes, size_));
  if (!file_) return read_unpacked(offset, static_cast<unsigned char*>(to), bytes);
  if (fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0 || std::fread(to, 1, bytes, file_.get()) != bytes)
    throw Error(fmt::format("{}: cannot read {}: {}", name_, what, std::strerror(errno)));
}

void InputFile::read_unpacked(std::uint64_t offset, unsigned char* to, std::size_t bytes) const {
  if (offset < start_.size()) {
    const std::size_t held = std::min<std::uint64_t>(bytes, start_.size() - offset);
    std::memcpy(to, start_.data() + offset, held);
    offset += held, to += held, bytes -= held;
  }
  if (bytes == 0) return;
  const auto at = static_cast<z_off_t>(offset);
  if (gztell(stream_.get()) != at && gzseek(stream_.get(), at, SEEK_SET) != at)
    throw Error(fmt::format("{}: cannot be unpacked at byte {}; has it changed?", name_, offset));
  while (bytes > 0) {
    const int got = gzread(stream_.get(), to, static_cast<unsigned>(std::min<std::size_t>(bytes, 1 << 30)));
    if (got <= 0) throw Error(fmt::format("{}: cannot be unpacked at byte {}; has it changed?", name_, offset));
    to += got, bytes -= static_cast<std::size_t>(got);
  }
}

Bytes InputFile::read(std::uint64_t offset, std::size_t bytes, const char* what) const {
  if (offset > size_ || bytes > size_ - offset) read(offset, nullptr, bytes, what);  // throws before allocating
  Bytes data(bytes);
  read(offset, data.data(), bytes, what);
  return data;
}

std::string InputFile::head(std::size_t bytes) const {
  std::string text(std::min<std::uint64_t>(bytes, size_), '\0');
  read(0, text.data(), text.size(), "the head");
  return text;
}

void swap_bytes(void* data, std::size_t bytes, int word_bytes) {
  auto* p = static_cast<unsigned char*>(data);
  for (std::size_t i = 0; i + word_bytes <= bytes; i += word_bytes) std::reverse(p + i, p + i + word_bytes);
}

}  // namespace quarksmith
