#include "runtime/io/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/io/file.hpp"
#include "runtime/io/hdf5.hpp"
#include "runtime/io/sha256.hpp"

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

/// The bytes before the seal. \throws Error they do not match it.
std::string unsealed(const std::filesystem::path& path) {
  const InputFile file(path);
  const auto damaged = [&] {
    return Error(
        fmt::format("{}: does not match its seal: it is damaged, or no file of `quarksmith measure`", path.string()));
  };
  if (file.size() < record_seal) throw damaged();
  const Bytes all = file.read(0, file.size(), "the records");
  std::string text(all.begin(), all.end());
  const std::string seal = text.substr(text.size() - record_seal);
  text.resize(text.size() - record_seal);
  if (seal != sha256(text) + std::string(record_mark)) throw damaged();
  return text;
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

Records read_records(const std::filesystem::path& path) {
  hdf5::quiet();
  std::string image = unsealed(path);
  const std::string name = path.string();
  const Handle access = in_memory();
  check(H5Pset_file_image(access, image.data(), image.size()), name);
  // An image is opened under a name of which there is no file.
  const Handle file(H5Fopen((name + ": image").c_str(), H5F_ACC_RDONLY, access), H5Fclose, name);
  Records all{hdf5::attributes(file, name), {}};
  for (const std::string& member : members_of(file, name)) {
    const Handle group(H5Gopen2(file, member.c_str(), H5P_DEFAULT), H5Gclose, name);
    Record& record = all.records.emplace_back(Record{member, hdf5::attributes(group, name), {}});
    for (const std::string& array : members_of(group, name)) record.arrays.push_back(read_array(group, array, name));
  }
  return all;
}

bool is_record_file(const std::filesystem::path& path) {
  const InputFile file(path);
  if (file.size() < record_seal) return false;
  const Bytes last = file.read(file.size() - record_mark.size(), record_mark.size(), "the seal");
  return std::equal(last.begin(), last.end(), record_mark.begin(), record_mark.end(),
                    [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
}

}  // namespace quarksmith
