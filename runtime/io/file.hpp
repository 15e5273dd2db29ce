/// \file
/// Files that are read at any offset, with errors that name what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct gzFile_s;

namespace quarksmith {

using Bytes = std::vector<unsigned char>;

/// A file opened for reading. A gzipped one is unpacked whole when it is opened, which checks it; what is beyond its
/// first `in_memory_most` bytes is unpacked again when it is read: in order, as readers do, or from the start.
class InputFile {
 public:
  /// \param most bytes that a gzipped file may unpack to.
  /// \throws Error it is no regular file or cannot be opened, its gzip stream is damaged or unpacks to more.
  explicit InputFile(const std::filesystem::path& path, std::uint64_t most = std::uint64_t(4) << 30);
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  /// Whether the file is gzipped, so that bytes read are not those on disk.
  bool unpacked() const { return !file_; }
  /// Most bytes of an unpacked file that are kept in memory.
  static constexpr std::uint64_t in_memory_most = std::uint64_t(64) << 20;
  /// \throws Error the file is shorter than offset + bytes; `what` names the part that is missing.
  void read(std::uint64_t offset, void* to, std::size_t bytes, const char* what) const;
  Bytes read(std::uint64_t offset, std::size_t bytes, const char* what) const;
  /// The first bytes, at most `bytes`.
  std::string head(std::size_t bytes) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct CloseStream {
    void operator()(gzFile_s* stream) const;
  };
  void unpack(std::uint64_t most);
  void read_unpacked(std::uint64_t offset, unsigned char* to, std::size_t bytes) const;
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<gzFile_s, CloseStream> stream_;  ///< if not all of it is held
  Bytes start_;                                    ///< of an unpacked file
  std::uint64_t size_ = 0;
};

/// Reverses the bytes of each word of `word_bytes` (4 or 8).
void swap_bytes(void* data, std::size_t bytes, int word_bytes);

}  // namespace quarksmith
