// What does not depend on how ranks share a file, and files of a process that is alone.
#include "runtime/io/parallel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/communicator.hpp"
#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const FileMessages& m, const char* doing) {
  throw Error(fmt::format("{}: cannot {}: {}{}", m.name, doing, std::strerror(errno), m.remark));
}

/// Calls visit(offset in the file, offset in the box, bytes) for the runs of bytes that a box consists of.
template <class Visit>
void for_each_run(const FileBox& b, const Visit& visit) {
  int axis = 3;
  std::size_t run = b.extent[3] * b.element_bytes;
  for (; axis > 0 && b.extent[axis] == b.whole[axis]; --axis) run *= b.extent[axis - 1];
  const std::size_t all = b.elements() * b.element_bytes;
  for (std::size_t n = 0; n * run < all; ++n) {
    std::array<int, 4> x = b.first;
    std::size_t rest = n;
    for (int a = axis - 1; a >= 0; --a) {
      x[a] += static_cast<int>(rest % b.extent[a]);
      rest /= b.extent[a];
    }
    std::uint64_t number = 0;
    for (int a = 0; a < 4; ++a) number = number * b.whole[a] + x[a];
    visit(b.offset + number * b.element_bytes, n * run, run);
  }
}

/// One rank, and a file that it only reads.
class OwnInput final : public SharedFile {
 public:
  explicit OwnInput(const InputFile& file) : file_(file) {}
  void read(const FileBox& box, void* to) override {
    for_each_run(box, [&](std::uint64_t offset, std::size_t at, std::size_t bytes) {
      file_.read(offset, static_cast<char*>(to) + at, bytes, "the data");
    });
  }
  void write(const FileBox&, const void*) override { throw Error(file_.name() + ": is open for reading"); }
  void put(std::uint64_t, const void*, std::size_t) override { write({}, nullptr); }
  void sync() override {}

 private:
  const InputFile& file_;
};

/// One rank, and a file that it changes.
class OwnFile final : public SharedFile {
 public:
  OwnFile(const std::filesystem::path& path, const FileMessages& messages)
      : messages_(messages), file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_ < 0) fail(messages_, "open");
  }
  void read(const FileBox& box, void* to) override {
    for_each_run(box, [&](std::uint64_t offset, std::size_t at, std::size_t bytes) {
      for (std::size_t done = 0; done < bytes;) {
        const ssize_t got =
            ::pread(file_, static_cast<char*>(to) + at + done, bytes - done, static_cast<off_t>(offset + done));
        if (got < 0) fail(messages_, "read");
        if (got == 0) throw Error(fmt::format("{}: truncated at byte {}", messages_.name, offset + done));
        done += static_cast<std::size_t>(got);
      }
    });
  }
  void write(const FileBox& box, const void* from) override {
    for_each_run(box, [&](std::uint64_t offset, std::size_t at, std::size_t bytes) {
      put(offset, static_cast<const char*>(from) + at, bytes);
    });
  }
  void put(std::uint64_t offset, const void* from, std::size_t bytes) override {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t written =
          ::pwrite(file_, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
      if (written < 0) fail(messages_, "write");
      done += static_cast<std::size_t>(written);
    }
  }
  void start() override { (void)::sync_file_range(file_, 0, 0, SYNC_FILE_RANGE_WRITE); }  // sync says what fails
  void sync() override {
    if (::fsync(file_) != 0 && errno != EINVAL) fail(messages_, "write");
  }

 private:
  FileMessages messages_;
  Descriptor file_;
};

}  // namespace

FileBox FileBox::slice(int n) const {
  FileBox result = *this;
  result.first[0] += n;
  result.extent[0] = 1;
  return result;
}

std::size_t FileBox::elements() const {
  std::size_t count = 1;
  for (const int n : extent) count *= n;
  return count;
}

std::uint64_t FileBox::end() const {
  std::uint64_t bytes = element_bytes;
  for (const int n : whole) bytes *= n;
  return offset + bytes;
}

FileBox box_in_file(const Lattice& local, std::uint64_t offset, std::size_t element_bytes,
                    const std::array<int, 4>& axes) {
  FileBox box{offset, element_bytes, {}, {}, {}};
  for (int a = 0; a < 4; ++a) {
    box.whole[a] = local.global_extent(axes[a]);
    box.first[a] = local.origin(axes[a]);
    box.extent[a] = local.extent(axes[a]);
  }
  return box;
}

std::unique_ptr<SharedFile> SharedFile::update(const std::filesystem::path& path, const FileMessages& messages,
                                               Communicator& communicator) {
  if (communicator.size() == 1) return std::make_unique<OwnFile>(path, messages);
  return of_ranks(path, true, messages, communicator);
}

std::unique_ptr<SharedFile> SharedFile::reader(const InputFile& file, Communicator& communicator) {
  if (communicator.size() == 1 || file.unpacked()) return std::make_unique<OwnInput>(file);
  return of_ranks(file.name(), false, {file.name(), ""}, communicator);
}

#ifndef QUARKSMITH_MPI

std::unique_ptr<SharedFile> SharedFile::of_ranks(const std::filesystem::path&, bool, const FileMessages& messages,
                                                 Communicator&) {
  throw Error(fmt::format("{}: several ranks, but this library was built without MPI", messages.name));
}

#endif

void reserve_file(int descriptor, std::uint64_t bytes, const FileMessages& messages) {
  const auto length = static_cast<off_t>(bytes);
  if (::ftruncate(descriptor, length) != 0) fail(messages, "write");
  int status = 0;
  do status = ::fallocate(descriptor, 0, 0, length);
  while (status != 0 && errno == EINTR);
  if (status != 0 && errno != EOPNOTSUPP && errno != ENOSYS) fail(messages, "write");
}

void reserve_file(const std::filesystem::path& path, std::uint64_t bytes, const FileMessages& messages) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (file < 0) fail(messages, "open");
  reserve_file(file, bytes, messages);
}

NewFile::NewFile(Output& output, std::uint64_t bytes) : output_(output) {
  const FileMessages messages{output.path().string(), "; an earlier file of that name is unchanged"};
  communicator().together([&] {
    if (communicator().rank() != 0) return;
    const Descriptor file(output.create());
    try {
      reserve_file(file, bytes, messages);
    } catch (...) {
      output.discard();
      throw;
    }
  });
  try {
    file_ = SharedFile::update(output.temporary(), messages, communicator());
  } catch (...) {
    discard();
    throw;
  }
}

NewFile::~NewFile() {
  if (file_) discard();
}

void NewFile::discard() {
  file_.reset();
  output_.discard();
}

void NewFile::commit() {
  file_->sync();
  file_.reset();
  output_.publish();
}

}  // namespace quarksmith
