// Files of several ranks, by MPI-IO. Part of builds with MPI.
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <fmt/format.h>
#include <mpi.h>
#include <zlib.h>

#include <cstring>
#include <utility>

#include "runtime/communicator_mpi.hpp"
#include "runtime/error.hpp"
#include "runtime/io/parallel.hpp"

namespace quarksmith {
namespace {

/// Owner of a type of MPI.
class Type {
 public:
  explicit Type(std::size_t bytes) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  /// The elements of a box within the whole array.
  Type(const FileBox& b, const Type& element) {
    MPI_Type_create_subarray(4, b.whole.data(), b.extent.data(), b.first.data(), MPI_ORDER_C, element, &type_);
    MPI_Type_commit(&type_);
  }
  ~Type() { MPI_Type_free(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A file of the ranks of a communicator.
class RanksFile final : public SharedFile {
 public:
  RanksFile(const std::filesystem::path& path, bool writable, const FileMessages& messages, Communicator& communicator)
      : messages_(messages), communicator_(communicator) {
    communicator.together([&] {
      check(MPI_File_open(handle_of(communicator), path.c_str(), writable ? MPI_MODE_RDWR : MPI_MODE_RDONLY,
                          MPI_INFO_NULL, &file_),
            "open");
    });
  }
  ~RanksFile() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }
  void read(const FileBox& box, void* to) override {
    // Not every implementation reports a read that fails on another rank: what is missing shall not look like numbers.
    std::memset(to, 0xff, box.elements() * box.element_bytes);
    transfer(box, "read", [&](int count, MPI_Datatype element, MPI_Status* status) {
      return MPI_File_read_all(file_, to, count, element, status);
    });
  }
  void write(const FileBox& box, const void* from) override {
    transfer(box, "write", [&](int count, MPI_Datatype element, MPI_Status* status) {
      return MPI_File_write_all(file_, from, count, element, status);
    });
    unproved_.push_back({box, crc32_z(0, static_cast<const Bytef*>(from), box.elements() * box.element_bytes)});
  }
  void put(std::uint64_t offset, const void* from, std::size_t bytes) override {
    const Type byte(1);
    communicator_.together([&] {
      view({0, 1, {1, 1, 1, 1}, {}, {1, 1, 1, 1}}, byte, byte);
      if (communicator_.rank() != 0) return;
      MPI_Status status;
      int put = 0;
      check(MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), from, static_cast<int>(bytes), MPI_BYTE, &status),
            "write");
      MPI_Get_count(&status, MPI_BYTE, &put);
      if (put != static_cast<int>(bytes)) fail("write", "the disk is full");
    });
  }
  void sync() override {
    communicator_.together([&] { check(MPI_File_sync(file_), "write"); });
    const auto written = std::exchange(unproved_, {});
    for (const auto& [box, sum] : written) {
      Bytes data(box.elements() * box.element_bytes);
      read(box, data.data());
      communicator_.together([&, expected = sum] {
        if (crc32_z(0, data.data(), data.size()) != expected) fail("write", "the disk is full or fails");
      });
    }
  }

 private:
  void check(int status, const char* doing) const {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(status, text, &length);
    fail(doing, std::string(text, length));
  }
  [[noreturn]] void fail(const char* doing, const std::string& reason) const {
    throw Error(fmt::format("{}: cannot {}: {}{}", messages_.name, doing, reason, messages_.remark));
  }
  void view(const FileBox& box, MPI_Datatype element, MPI_Datatype part) {
    check(MPI_File_set_view(file_, static_cast<MPI_Offset>(box.offset), element, part, "native", MPI_INFO_NULL),
          "access");
  }
  template <class Call>
  void transfer(const FileBox& box, const char* doing, const Call& call) {
    const Type element(box.element_bytes), part(box, element);
    const int count = static_cast<int>(box.elements());
    communicator_.together([&] {
      MPI_Status status;
      int done = 0;
      view(box, element, part);
      check(call(count, element, &status), doing);
      MPI_Get_count(&status, element, &done);
      if (done != count) fail(doing, fmt::format("{} of {} blocks were moved", done, count));
    });
  }

  struct Written {
    FileBox box;
    uLong sum;
  };
  FileMessages messages_;
  Communicator& communicator_;
  MPI_File file_ = MPI_FILE_NULL;
  /// Not every implementation (OMPIO of Open MPI 4) reports collective writes that fail: sync reads them again.
  std::vector<Written> unproved_;
};

}  // namespace

std::unique_ptr<SharedFile> SharedFile::of_ranks(const std::filesystem::path& path, bool writable,
                                                 const FileMessages& messages, Communicator& communicator) {
  return std::make_unique<RanksFile>(path, writable, messages, communicator);
}

}  // namespace quarksmith
