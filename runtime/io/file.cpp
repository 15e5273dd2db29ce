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
namespace {

/// Whole content of a gzipped file.
Bytes unpack(const std::string& name, std::uint64_t most) {
  const gzFile file = gzopen(name.c_str(), "rb");
  if (file == nullptr) throw Error(fmt::format("{}: cannot be opened", name));
  Bytes content;
  Bytes chunk(1 << 20);
  int got;
  while ((got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0 && content.size() <= most)
    content.insert(content.end(), chunk.begin(), chunk.begin() + got);
  int code = Z_OK;
  const std::string message = gzerror(file, &code);
  gzclose(file);
  if (content.size() > most)
    throw Error(fmt::format(
        "{}: unpacks to more than {} bytes, more than what is expected there can have; if it is right, unpack "
        "it with gunzip first",
        name, most));
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
    throw Error(fmt::format("{}: the gzip stream is damaged ({}); fetch the file again", name, message));
  return content;
}

}  // namespace

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
    unpacked_ = unpack(name_, most);
    size_ = unpacked_.size();
    file_.reset();
  }
}

void InputFile::read(std::uint64_t offset, void* to, std::size_t bytes, const char* what) const {
  if (offset > size_ || bytes > size_ - offset)
    throw Error(fmt::format("{}: truncated: {} needs bytes {} to {}, the file has {}; fetch it again", name_, what,
                            offset, offset + bytes, size_));
  if (!file_) {
    std::memcpy(to, unpacked_.data() + offset, bytes);
    return;
  }
  if (fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0 || std::fread(to, 1, bytes, file_.get()) != bytes)
    throw Error(fmt::format("{}: cannot read {}: {}", name_, what, std::strerror(errno)));
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
