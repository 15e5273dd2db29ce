/// \file
/// Files: reading at any offset with errors that say what is missing; writing through a temporary name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarksmith {

using Bytes = std::vector<unsigned char>;

/// A file opened for reading; a gzipped one is unpacked in memory.
class InputFile {
 public:
  /// \throws Error it cannot be opened, or its gzip stream is damaged.
  explicit InputFile(const std::filesystem::path& path);
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  /// Whether it was unpacked.
  bool in_memory() const { return !file_; }
  /// \throws Error the file is shorter than offset + bytes; `what` names the part that is missing.
  void read(std::uint64_t offset, void* to, std::size_t bytes, const char* what) const;
  Bytes read(std::uint64_t offset, std::size_t bytes, const char* what) const;
  /// The first bytes, at most `bytes`.
  std::string head(std::size_t bytes) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  Bytes unpacked_;
  std::uint64_t size_ = 0;
};

/// A file written as `<path>.part` and renamed by commit(); without commit nothing remains and an older file is kept.
class OutputFile {
 public:
  /// \throws Error it cannot be created.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// \throws Error the disk is full or fails.
  void write(const void* data, std::size_t bytes);
  void write(const std::string& text) { write(text.data(), text.size()); }
  /// Flushes to the disk and takes the place of the file of the final name.
  void commit();

 private:
  [[noreturn]] void fail(const char* doing) const;
  std::filesystem::path path_, temporary_;
  std::FILE* file_ = nullptr;
};

/// Writes a whole text through a temporary name.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Reverses the bytes of each word of `word_bytes` (4 or 8).
void swap_bytes(void* data, std::size_t bytes, int word_bytes);

}  // namespace quarksmith
