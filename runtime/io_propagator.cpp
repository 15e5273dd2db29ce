#include "runtime/io_propagator.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

constexpr int columns = 12;

/// Why the last call failed, as far as the system knows.
std::string reason() { return errno != 0 ? std::strerror(errno) : "HDF5 error"; }

void check(herr_t status, const std::string& what) {
  if (status < 0) throw Error(fmt::format("{}: {}", what, reason()));
}

/// Our own messages name file and remedy; and the library's exit handler, which would flush files once more, crashes
/// after a write that failed because the disk is full.
void quiet_hdf5() {
  static const bool once = H5dont_atexit() >= 0;
  (void)once;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// Owner of an HDF5 identifier.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    if (id < 0) throw Error(fmt::format("{}: {}", what, reason()));
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    swap(other);
    return *this;
  }
  operator hid_t() const { return id_; }
  /// Closes now and reports what the destructor could not.
  void close(const std::string& what) {
    if (id_ >= 0) check(close_(std::exchange(id_, -1)), what);
  }

 private:
  void swap(Handle& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
  }
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

Handle complex_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Complex64)), H5Tclose, "HDF5 type");
  H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE);
  return type;
}

/// A dataset whose space on the disk is reserved at once, so that later writes change no structure of the file.
void create_dataset(hid_t file, const std::string& name, hid_t type, const std::vector<hsize_t>& extent) {
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, name);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, name);
  H5Pset_create_intermediate_group(links, 1);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, extent.size() > 2 ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space, links, layout, H5P_DEFAULT), H5Dclose, name);
}

void transfer(hid_t file, const std::string& name, hid_t type, void* data, bool write, const std::string& what) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what);
  errno = 0;
  check(write ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data)
              : H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data),
        what);
}

void put_attribute(hid_t file, const std::string& key, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, key);
  H5Tset_size(type, std::max<std::size_t>(value.size(), 1));
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, key);
  const Handle attribute(H5Acreate2(file, key.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, key);
  check(H5Awrite(attribute, type, value.empty() ? " " : value.data()), key);
}

std::string get_attribute(hid_t file, const std::string& key) {
  if (H5Aexists(file, key.c_str()) <= 0) return "";
  const Handle attribute(H5Aopen(file, key.c_str(), H5P_DEFAULT), H5Aclose, key);
  const Handle type(H5Aget_type(attribute), H5Tclose, key);
  std::string value(H5Tget_size(type), '\0');
  check(H5Aread(attribute, type, value.data()), key);
  return value;
}

std::string column_name(int spin, int colour) { return fmt::format("/column/{}/{}", spin, colour); }

std::vector<hsize_t> column_extent(const Lattice& l) {
  return {hsize_t(l.extent(3)), hsize_t(l.extent(2)), hsize_t(l.extent(1)), hsize_t(l.extent(0)), 4, 3};
}

void check_extent(hid_t file, const std::string& name, const Lattice& lattice, const std::string& path) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path + ", " + name);
  const Handle space(H5Dget_space(set), H5Sclose, path);
  const std::vector<hsize_t> expected = column_extent(lattice);
  std::vector<hsize_t> found(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space, found.data(), nullptr);
  found.resize(rank > 0 ? rank : 0);
  if (found != expected)
    throw Error(fmt::format("{}: {} does not hold spinors of a {} lattice", path, name, lattice.text()));
}

}  // namespace

struct PropagatorFile::Parts {
  std::filesystem::path path, temporary;
  Handle type = complex_type(), file;
  std::array<int, columns> done{};
  std::array<ColumnReport, columns> reports{};

  std::string what(const char* doing) const { return fmt::format("{}: cannot {}", temporary.string(), doing); }

  void create(const Lattice& lattice, const Provenance& provenance) {
    errno = 0;
    file = Handle(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, what("create"));
    for (const auto& [key, value] : provenance) put_attribute(file, key, value);
    for (int n = 0; n < columns; ++n) create_dataset(file, column_name(n / 3, n % 3), type, column_extent(lattice));
    create_dataset(file, "/done", H5T_NATIVE_INT, {columns});
    create_dataset(file, "/report", H5T_NATIVE_DOUBLE, {columns, 4});
    check(H5Fflush(file, H5F_SCOPE_GLOBAL), what("write"));
  }

  void resume(const Lattice& lattice, const Provenance& provenance) {
    errno = 0;
    const std::string damaged = temporary.string() + ": an earlier run left a damaged file; --overwrite discards it";
    file = Handle(H5Fopen(temporary.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, damaged);
    for (const auto& [key, value] : provenance)
      if (const std::string found = get_attribute(file, key); found != (value.empty() ? " " : value))
        throw UsageError(
            fmt::format("{}: an unfinished file of another calculation ({} is '{}', now '{}'); finish that one, "
                        "choose another --out, or discard it with --overwrite",
                        temporary.string(), key, found, value));
    check_extent(file, column_name(0, 0), lattice, temporary.string());
    transfer(file, "/done", H5T_NATIVE_INT, done.data(), false, damaged);
    transfer(file, "/report", H5T_NATIVE_DOUBLE, reports.data(), false, damaged);
  }
};

PropagatorFile::PropagatorFile(const std::filesystem::path& path, const Lattice& lattice, const Provenance& provenance,
                               bool overwrite)
    : parts_((quiet_hdf5(), std::make_unique<Parts>())) {
  parts_->path = path;
  parts_->temporary = path.string() + ".part";
  if (std::filesystem::exists(path) && !overwrite)
    throw UsageError(fmt::format("{}: exists; choose another --out or replace it with --overwrite", path.string()));
  if (std::filesystem::exists(parts_->temporary) && !overwrite)
    parts_->resume(lattice, provenance);
  else
    parts_->create(lattice, provenance);
}

PropagatorFile::~PropagatorFile() = default;

bool PropagatorFile::has(int spin, int colour) const { return parts_->done[3 * spin + colour] != 0; }
ColumnReport PropagatorFile::report(int spin, int colour) const { return parts_->reports[3 * spin + colour]; }

void PropagatorFile::read(int spin, int colour, HostSpinor& column) const {
  transfer(parts_->file, column_name(spin, colour), parts_->type, column.site.data(), false, parts_->what("read"));
}

void PropagatorFile::write(int spin, int colour, const HostSpinor& column, const ColumnReport& report) {
  const std::string what = parts_->what("write");
  transfer(parts_->file, column_name(spin, colour), parts_->type, const_cast<HostSite*>(column.site.data()), true,
           what);
  check(H5Fflush(parts_->file, H5F_SCOPE_GLOBAL), what);
  // Only now is the column marked as done: a run killed in between solves it again.
  parts_->done[3 * spin + colour] = 1;
  parts_->reports[3 * spin + colour] = report;
  transfer(parts_->file, "/report", H5T_NATIVE_DOUBLE, parts_->reports.data(), true, what);
  transfer(parts_->file, "/done", H5T_NATIVE_INT, parts_->done.data(), true, what);
  check(H5Fflush(parts_->file, H5F_SCOPE_GLOBAL), what);
}

void PropagatorFile::finish() {
  parts_->file.close(parts_->what("close"));
  std::error_code ec;
  std::filesystem::rename(parts_->temporary, parts_->path, ec);
  if (ec)
    throw Error(
        fmt::format("{}: cannot rename it to {}: {}", parts_->temporary.string(), parts_->path.string(), ec.message()));
}

void read_propagator_column(const std::filesystem::path& path, int spin, int colour, HostSpinor& column) {
  quiet_hdf5();
  errno = 0;
  const std::string what = path.string() + ": cannot read a propagator";
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, what);
  check_extent(file, column_name(spin, colour), column.lattice, path.string());
  const Handle type = complex_type();
  transfer(file, column_name(spin, colour), type, column.site.data(), false, what);
}

}  // namespace quarksmith
