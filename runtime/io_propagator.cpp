#include "runtime/io_propagator.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/io_parallel.hpp"
#include "runtime/partition.hpp"

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

void read_whole(hid_t file, const std::string& name, hid_t type, void* to, const std::string& what) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what);
  check(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), what);
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

/// Axes t, z, y, x, spin, colour.
std::vector<hsize_t> column_extent(const Coordinates& n) {
  return {hsize_t(n[3]), hsize_t(n[2]), hsize_t(n[1]), hsize_t(n[0]), 4, 3};
}

void check_extent(hid_t set, const std::string& name, const Lattice& lattice, const std::string& path) {
  const Handle space(H5Dget_space(set), H5Sclose, path);
  std::vector<hsize_t> found(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space, found.data(), nullptr);
  found.resize(rank > 0 ? rank : 0);
  if (found != column_extent(lattice.global_extent()))
    throw Error(fmt::format("{}: {} does not hold spinors of a {} lattice", path, name, lattice.global_text()));
}

/// Where the numbers of a dataset stand in the file.
std::uint64_t place_of(hid_t file, const std::string& name, hid_t type, const std::string& what) {
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Handle stored(H5Dget_type(set), H5Tclose, what);
  const haddr_t place = H5Dget_offset(set);
  if (place == HADDR_UNDEF || H5Tequal(stored, type) <= 0) throw Error(what);
  return place;
}

/// What all ranks know of a partial file.
struct State {
  std::array<std::uint64_t, columns> column;
  std::uint64_t done_place, reports_place;
  std::array<int, columns> done;
  std::array<ColumnReport, columns> reports;
};

}  // namespace

/// The library sees the file on rank 0 alone, and only its structure: numbers go to where they stand, as those of any
/// other file.
struct PropagatorFile::Parts {
  Communicator& communicator;
  Lattice lattice;
  std::filesystem::path path, temporary;
  Output output;
  Handle type = complex_type(), file;
  std::unique_ptr<SharedFile> numbers;
  State state{};

  Parts(Communicator& c, const Lattice& l, const std::filesystem::path& p, bool overwrite)
      : communicator(c),
        lattice(l),
        path(p),
        temporary(p.string() + ".part"),
        output(p, overwrite ? Existing::replace : Existing::resume, c) {}

  std::string what(const char* doing) const { return fmt::format("{}: cannot {}", temporary.string(), doing); }
  FileBox box(int spin, int colour) const {
    return box_in_file(lattice, state.column[3 * spin + colour], sizeof(HostSite));
  }

  void locate(const std::string& failure) {
    for (int n = 0; n < columns; ++n) state.column[n] = place_of(file, column_name(n / 3, n % 3), type, failure);
    state.done_place = place_of(file, "/done", H5T_NATIVE_INT, failure);
    state.reports_place = place_of(file, "/report", H5T_NATIVE_DOUBLE, failure);
  }

  void create(const Provenance& provenance) {
    close(output.create());
    errno = 0;
    file = Handle(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, what("create"));
    for (const auto& [key, value] : provenance) put_attribute(file, key, value);
    for (int n = 0; n < columns; ++n)
      create_dataset(file, column_name(n / 3, n % 3), type, column_extent(lattice.global_extent()));
    create_dataset(file, "/done", H5T_NATIVE_INT, {columns});
    create_dataset(file, "/report", H5T_NATIVE_DOUBLE, {columns, 4});
    check(H5Fflush(file, H5F_SCOPE_GLOBAL), what("write"));
    locate(what("create"));
    reserve_file(temporary, std::filesystem::file_size(temporary), {temporary.string(), ""});
  }

  void resume(const Provenance& provenance) {
    errno = 0;
    const std::string damaged = temporary.string() + ": an earlier run left a damaged file; --overwrite discards it";
    file = Handle(H5Fopen(temporary.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, damaged);
    for (const auto& [key, value] : provenance)
      if (const std::string found = get_attribute(file, key); found != (value.empty() ? " " : value))
        throw UsageError(
            fmt::format("{}: an unfinished file of another calculation ({} is '{}', now '{}'); finish that one, "
                        "choose another --out, or discard it with --overwrite",
                        temporary.string(), key, found, value));
    const std::string first = column_name(0, 0);
    check_extent(Handle(H5Dopen2(file, first.c_str(), H5P_DEFAULT), H5Dclose, damaged), first, lattice,
                 temporary.string());
    locate(damaged);
    read_whole(file, "/done", H5T_NATIVE_INT, state.done.data(), damaged);
    read_whole(file, "/report", H5T_NATIVE_DOUBLE, state.reports.data(), damaged);
  }

  void open(const Provenance& provenance, bool overwrite) {
    if (std::filesystem::exists(temporary) && !overwrite)
      resume(provenance);
    else
      create(provenance);
    // The library locks the file while it is open, which keeps other runs away; but on some file systems other ranks
    // too.
    if (communicator.size() > 1) file.close(what("write"));
  }
};

PropagatorFile::PropagatorFile(const std::filesystem::path& path, const Lattice& lattice, const Provenance& provenance,
                               bool overwrite, Communicator& communicator)
    : parts_((quiet_hdf5(), std::make_unique<Parts>(communicator, lattice, path, overwrite))) {
  require_spread(lattice, communicator);
  communicator.together([&] {
    if (communicator.rank() == 0) parts_->open(provenance, overwrite);
  });
  communicator.broadcast(&parts_->state, sizeof(State), 0);
  parts_->numbers = SharedFile::update(parts_->temporary, {parts_->temporary.string(), ""}, communicator);
}

PropagatorFile::~PropagatorFile() = default;

bool PropagatorFile::has(int spin, int colour) const { return parts_->state.done[3 * spin + colour] != 0; }
ColumnReport PropagatorFile::report(int spin, int colour) const { return parts_->state.reports[3 * spin + colour]; }

void PropagatorFile::read(int spin, int colour, HostSpinor& column) const {
  const FileBox box = parts_->box(spin, colour);
  const long long slice = parts_->lattice.space_sites();
  for (int t = 0; t < box.extent[0]; ++t) parts_->numbers->read(box.slice(t), &column.site[t * slice]);
}

void PropagatorFile::write(int spin, int colour, const HostSpinor& column, const ColumnReport& report) {
  const FileBox box = parts_->box(spin, colour);
  const long long slice = parts_->lattice.space_sites();
  for (int t = 0; t < box.extent[0]; ++t) parts_->numbers->write(box.slice(t), &column.site[t * slice]);
  parts_->numbers->sync();
  // Only now is the column marked as done: a run killed in between solves it again.
  State& state = parts_->state;
  state.done[3 * spin + colour] = 1;
  state.reports[3 * spin + colour] = report;
  parts_->numbers->put(state.reports_place, state.reports.data(), sizeof state.reports);
  parts_->numbers->put(state.done_place, state.done.data(), sizeof state.done);
  parts_->numbers->sync();
}

void PropagatorFile::finish() {
  parts_->numbers.reset();
  parts_->communicator.together([&] {
    if (parts_->communicator.rank() != 0) return;
    parts_->file.close(parts_->what("close"));
  });
  parts_->output.publish();
}

namespace {

/// A finished file may have been rearranged or compressed by tools: every rank reads its box through the library.
void read_box(const std::filesystem::path& path, const std::string& name, HostSpinor& column) {
  errno = 0;
  const Lattice& lattice = column.lattice;
  const std::string what = path.string() + ": cannot read a propagator";
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, what);
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path.string() + ", " + name);
  check_extent(set, name, lattice, path.string());
  const std::vector<hsize_t> extent = column_extent(lattice.extent());
  const std::vector<hsize_t> first = {hsize_t(lattice.origin(3)),
                                      hsize_t(lattice.origin(2)),
                                      hsize_t(lattice.origin(1)),
                                      hsize_t(lattice.origin(0)),
                                      0,
                                      0};
  const Handle here(H5Screate_simple(6, extent.data(), nullptr), H5Sclose, what),
      there(H5Dget_space(set), H5Sclose, what);
  check(H5Sselect_hyperslab(there, H5S_SELECT_SET, first.data(), nullptr, extent.data(), nullptr), what);
  check(H5Dread(set, complex_type(), here, there, H5P_DEFAULT, column.site.data()), what);
}

}  // namespace

void read_propagator_column(const std::filesystem::path& path, int spin, int colour, HostSpinor& column,
                            Communicator& communicator) {
  quiet_hdf5();
  communicator.together([&] { read_box(path, column_name(spin, colour), column); });
}

}  // namespace quarksmith
