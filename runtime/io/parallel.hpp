/// \file
/// Files that ranks read and write together, each the sites of its local lattice.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/io/file.hpp"
#include "runtime/io/output.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

class Communicator;

/// A box of the elements of a four-dimensional array in a file. Axes from the slowest to the fastest.
struct FileBox {
  std::uint64_t offset = 0;       ///< of the whole array in the file
  std::size_t element_bytes = 0;  ///< of one element, at most 2^31 - 1
  std::array<int, 4> whole{}, first{}, extent{};

  /// Slice `n` of the box, counted along the slowest axis.
  FileBox slice(int n) const;
  std::size_t elements() const;
  /// Byte after the last of the whole array.
  std::uint64_t end() const;
};

/// The box of the local lattice in a file with one element per site. \param axes directions, the slowest first.
FileBox box_in_file(const Lattice& local, std::uint64_t offset, std::size_t element_bytes,
                    const std::array<int, 4>& axes = {3, 2, 1, 0});

/// Name of a file in errors, and the end of their messages.
struct FileMessages {
  std::string name, remark;
};

/// An open file. All calls are collective, and fail on all ranks or on none; boxes have the same size on all.
class SharedFile {
 public:
  virtual ~SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Opens an existing file for reading and writing.
  static std::unique_ptr<SharedFile> update(const std::filesystem::path& path, const FileMessages& messages,
                                            Communicator& communicator);
  /// Opens a file for reading. A single rank, and gzipped files, read through `file`, which must outlive this.
  static std::unique_ptr<SharedFile> reader(const InputFile& file, Communicator& communicator);

  /// \throws Error the file is truncated or cannot be read.
  virtual void read(const FileBox& box, void* to) = 0;
  /// \throws Error the disk is full or fails.
  virtual void write(const FileBox& box, const void* from) = 0;
  /// Writes bytes of rank 0; those of other ranks are ignored.
  virtual void put(std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  /// Starts to write cached data to the disk. Not collective.
  virtual void start() {}
  /// Waits until all that was written is on the disk, and visible to all ranks.
  virtual void sync() = 0;

 protected:
  SharedFile() = default;

 private:
  static std::unique_ptr<SharedFile> of_ranks(const std::filesystem::path& path, bool writable,
                                              const FileMessages& messages, Communicator& communicator);
};

/// Sets the size of an open file, and reserves its space if the file system can, so that a full disk is detected before
/// anything is written. For one rank.
void reserve_file(int descriptor, std::uint64_t bytes, const FileMessages& messages);
void reserve_file(const std::filesystem::path& path, std::uint64_t bytes, const FileMessages& messages);

/// A file that all ranks of an output write, and that commit() publishes; without commit() it is removed, and an older
/// file is kept. All calls, and the destructor, are collective.
class NewFile {
 public:
  /// \param bytes of the whole file. \throws Error it cannot be created, or the disk is too small.
  NewFile(Output& output, std::uint64_t bytes);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Communicator& communicator() const { return output_.communicator(); }
  void write(const FileBox& box, const void* from) { file_->write(box, from); }
  /// Writes the text of rank 0.
  void put(std::uint64_t offset, const std::string& text) { file_->put(offset, text.data(), text.size()); }
  void commit();

 private:
  void discard();
  Output& output_;
  std::unique_ptr<SharedFile> file_;
};

}  // namespace quarksmith
