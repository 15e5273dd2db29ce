#include "runtime/io/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/io/file.hpp"
#include "runtime/io/hdf5.hpp"
#include "runtime/sha256.hpp"

// A seal: the SHA-256 of all bytes before it in hexadecimal digits, and `record_mark`.
namespace quarksmith {
namespace {

using hdf5::check;
using hdf5::Handle;

constexpr std::string_view record_mark = "quarksmith records 1\n";
constexpr std::size_t record_seal = 64 + record_mark.size();
constexpr std::size_t memory_step = 1 << 20;

/// Creation without times, which would differ from one run to the next.
Handle timeless(hid_t kind) {
  Handle list(H5Pcreate(kind), H5Pclose, "HDF5 properties");
  check(H5Pset_obj_track_times(list, 0), "HDF5 properties");
  return list;
}

Handle in_memory() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 properties");
  check(H5Pset_fapl_core(access, memory_step, 0), "HDF5 properties");
  return access;
}

Handle group_in(hid_t file, const std::string& name) {
  return {H5Gcreate2(file, name.c_str(), H5P_DEFAULT, timeless(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose, name};
}

void put_attributes(hid_t object, const Provenance& all) {
  const Handle complex = hdf5::complex_type();
  for (const auto& [key, value] : all) hdf5::put_attribute(object, key, value, complex);
}

void put_array(hid_t group, const RecordArray& array) {
  const std::vector<hsize_t> extent(array.extent.begin(), array.extent.end());
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, array.name);
  const bool complex = std::holds_alternative<std::vector<Complex64>>(array.numbers);
  const Handle type = complex ? hdf5::complex_type() : Handle(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose, array.name);
  const Handle set(
      H5Dcreate2(group, array.name.c_str(), type, space, H5P_DEFAULT, timeless(H5P_DATASET_CREATE), H5P_DEFAULT),
      H5Dclose, array.name);
  std::visit(
      [&](const auto& numbers) {
        check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), array.name);
      },
      array.numbers);
  put_attributes(set, array.attributes);
}

std::vector<std::string> members_of(hid_t group, const std::string& what) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), what);
  return names;
}

RecordArray read_array(hid_t group, const std::string& name, const std::string& path) {
  RecordArray array{name, {}, {}, {}};
  const std::string what = fmt::format("{}: {}", path, name);
  const Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Handle space(H5Dget_space(set), H5Sclose, what), type(H5Dget_type(set), H5Tclose, what);
  std::vector<hsize_t> extent(H5S_MAX_RANK);
  extent.resize(std::max(0, H5Sget_simple_extent_dims(space, extent.data(), nullptr)));
  array.extent.assign(extent.begin(), extent.end());
  const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
  const auto read = [&]<class Number>(std::vector<Number> numbers, hid_t as) {
    check(H5Dread(set, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), what);
    array.numbers = std::move(numbers);
  };
  if (H5Tget_class(type) == H5T_COMPOUND)
    read(std::vector<Complex64>(count), hdf5::complex_type());
  else
    read(std::vector<double>(count), H5T_NATIVE_DOUBLE);
  array.attributes = hdf5::attributes(set, what);
  return array;
}

/// The SHA-256 of a file's bytes up to some place.
std::string sum_of(const InputFile& file, std::uint64_t bytes) {
  Sha256 sum;
  for (std::uint64_t at = 0; at < bytes; at += memory_step) {
    const Bytes part = file.read(at, std::min<std::uint64_t>(memory_step, bytes - at), "the records");
    sum.add({reinterpret_cast<const char*>(part.data()), part.size()});
  }
  return sum.text();
}

/// \throws Error a file does not match its seal.
void check_seal(const std::filesystem::path& path) {
  const InputFile file(path);
  const bool sealed = file.size() >= record_seal && !file.unpacked();
  const Bytes seal = sealed ? file.read(file.size() - record_seal, record_seal, "the seal") : Bytes();
  if (!sealed ||
      std::string(seal.begin(), seal.end()) != sum_of(file, file.size() - record_seal) + std::string(record_mark))
    throw Error(
        fmt::format("{}: does not match its seal: it is damaged, or no file of `quarksmith measure`", path.string()));
}

/// Ends a file with its seal, all of it on the disk.
void append_seal(const std::string& path) {
  const std::string seal = [&] {
    const InputFile file(path);
    return sum_of(file, file.size()) + std::string(record_mark);
  }();
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const bool fine = file >= 0 && write(file, seal.data(), seal.size()) == static_cast<ssize_t>(seal.size()) &&
                    (fsync(file) == 0 || errno == EINVAL);
  const std::string why = std::strerror(errno);
  if ((file >= 0 && close(file) != 0) || !fine) throw Error(fmt::format("{}: cannot be written: {}", path, why));
}

}  // namespace

struct RecordFile::Parts {
  Handle file;
};

RecordFile::RecordFile(const Provenance& attributes) : parts_(std::make_unique<Parts>()) {
  hdf5::quiet();
  parts_->file = Handle(H5Fcreate("records", H5F_ACC_TRUNC, timeless(H5P_FILE_CREATE), in_memory()), H5Fclose, "HDF5");
  put_attributes(parts_->file, attributes);
}
RecordFile::~RecordFile() = default;
RecordFile::RecordFile(RecordFile&&) noexcept = default;

void RecordFile::add(const Record& record) {
  const Handle group = group_in(parts_->file, record.name);
  put_attributes(group, record.attributes);
  for (const RecordArray& array : record.arrays) put_array(group, array);
}

std::string RecordFile::bytes() && {
  check(H5Fflush(parts_->file, H5F_SCOPE_GLOBAL), "records");
  const ssize_t size = H5Fget_file_image(parts_->file, nullptr, 0);
  if (size < 0) check(-1, "records");
  std::string all(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(parts_->file, all.data(), all.size()) != size) check(-1, "records");
  parts_->file.close("records");
  return all + sha256(all) + std::string(record_mark);
}

struct RecordReader::Parts {
  std::string name;
  Handle file;
  Provenance attributes;
  std::vector<std::string> names;
};

RecordReader::RecordReader(const std::filesystem::path& path) : parts_(std::make_unique<Parts>()) {
  hdf5::quiet();
  check_seal(path);
  parts_->name = path.string();
  parts_->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, parts_->name);
  parts_->attributes = hdf5::attributes(parts_->file, parts_->name);
  parts_->names = members_of(parts_->file, parts_->name);
}
RecordReader::~RecordReader() = default;
RecordReader::RecordReader(RecordReader&&) noexcept = default;

const Provenance& RecordReader::attributes() const { return parts_->attributes; }
const std::vector<std::string>& RecordReader::names() const { return parts_->names; }

Provenance RecordReader::attributes(const std::string& name) const {
  const Handle group(H5Gopen2(parts_->file, name.c_str(), H5P_DEFAULT), H5Gclose, parts_->name);
  return hdf5::attributes(group, parts_->name);
}

Record RecordReader::read(const std::string& name) const {
  const Handle group(H5Gopen2(parts_->file, name.c_str(), H5P_DEFAULT), H5Gclose, parts_->name);
  Record record{name, hdf5::attributes(group, parts_->name), {}};
  for (const std::string& array : members_of(group, parts_->name))
    record.arrays.push_back(read_array(group, array, parts_->name));
  return record;
}

Records read_records(const std::filesystem::path& path) {
  const RecordReader file(path);
  Records all{file.attributes(), {}};
  for (const std::string& name : file.names()) all.records.push_back(file.read(name));
  return all;
}

void join_records(Output& output, const Provenance& attributes,
                  const std::map<std::string, std::filesystem::path>& where) {
  output.communicator().together([&] {
    if (output.communicator().rank() != 0) return;
    hdf5::quiet();
    close(output.create());
    const std::string path = output.temporary().string();
    try {
      Handle joined(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, timeless(H5P_FILE_CREATE), H5P_DEFAULT), H5Fclose, path);
      put_attributes(joined, attributes);
      std::filesystem::path opened;
      std::optional<RecordReader> from;
      for (const auto& [name, file] : where) {
        if (file != opened) from.emplace(opened = file);
        check(H5Ocopy(from->parts_->file, name.c_str(), joined, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), path);
      }
      check(H5Fflush(joined, H5F_SCOPE_GLOBAL), path);
      joined.close(path);
      append_seal(path);
    } catch (...) {
      output.discard();
      throw;
    }
  });
  output.publish();
}

bool is_record_file(const std::filesystem::path& path) {
  const InputFile file(path);
  if (file.size() < record_seal) return false;
  const Bytes last = file.read(file.size() - record_mark.size(), record_mark.size(), "the seal");
  return std::equal(last.begin(), last.end(), record_mark.begin(), record_mark.end(),
                    [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
}

}  // namespace quarksmith
