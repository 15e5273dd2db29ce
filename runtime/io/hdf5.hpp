/// \file
/// HDF5 objects, created with attributes that other tools understand, and checked before they are read.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/propagator.hpp"

namespace quarksmith::hdf5 {

/// Turns off messages and the exit handler of libhdf5: our messages name file and remedy, and the handler, which
/// flushes files once more, crashes after a write that failed because the disk is full.
void quiet();

/// \throws Error `status` is negative; the message is `what` and that of the system.
void check(herr_t status, const std::string& what);

/// Owner of an HDF5 identifier.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what) : id_(id), close_(close) {
    if (id < 0) check(-1, what);
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

using Extent = std::vector<hsize_t>;

/// {r, i} of doubles: what h5py reads as complex128.
Handle complex_type();
/// A type with a name in the file: other libraries (netCDF) know compounds only by name.
Handle named_complex_type(hid_t file);

/// A dataset whose space on the disk is reserved at once, so that later writes change no structure of the file.
/// \param axes names of the dimension scales (create_axis) of its dimensions.
void create_dataset(hid_t file, const std::string& name, hid_t type, const Extent& extent,
                    const std::vector<std::string>& axes, bool zero);
/// A dimension scale: coordinates 0 ... extent - 1.
void create_axis(hid_t file, const std::string& name, hsize_t extent);

/// Opens a dataset, which must have these extents, and this type up to byte order and padding.
/// \throws Error `path` has no such dataset, or one of another type or other extents.
Handle open_dataset(hid_t file, const std::string& name, hid_t type, const Extent& extent, const std::string& path);

/// Offset of the numbers of a dataset in the file; 0 if they are not contiguous, or not exactly of this type.
std::uint64_t place_of(hid_t set, hid_t type);

void put_attribute(hid_t file, const std::string& key, const ProvenanceValue& value, hid_t complex);
/// All attributes of the root group whose type is one of those that put_attribute writes; others are skipped.
Provenance attributes(hid_t file, const std::string& path);

}  // namespace quarksmith::hdf5
