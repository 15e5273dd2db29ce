#include "runtime/io/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/error.hpp"

namespace quarksmith::hdf5 {
namespace {

/// More than any attribute of ours holds; a crafted file must not make us allocate more.
constexpr hssize_t most_numbers = 1 << 16;
constexpr std::size_t most_characters = 1 << 20;

template <class... Cases>
struct Visitor : Cases... {
  using Cases::operator()...;
};

void write_attribute(hid_t file, const std::string& key, hid_t type, std::optional<hsize_t> count, const void* data) {
  const Handle space(count ? H5Screate_simple(1, &*count, nullptr) : H5Screate(H5S_SCALAR), H5Sclose, key);
  const Handle attribute(H5Acreate2(file, key.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, key);
  check(H5Awrite(attribute, type, data), key);
}

/// UTF-8 of any length: what other tools read as text, not as bytes.
Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 type");
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

std::string read_text(hid_t attribute, hid_t type, const std::string& what) {
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    check(H5Aread(attribute, type, static_cast<void*>(&text)), what);
    std::string value = text == nullptr ? "" : text;
    H5free_memory(text);
    return value;
  }
  const std::size_t size = H5Tget_size(type);
  if (size > most_characters) throw Error(fmt::format("{}: {} characters are no attribute of ours", what, size));
  std::string value(size, '\0');
  check(H5Aread(attribute, type, value.data()), what);
  value.resize(std::strlen(value.c_str()));
  return value;
}

template <class Number>
ProvenanceValue read_numbers(hid_t attribute, hid_t type, bool scalar, std::size_t count, const std::string& what) {
  std::vector<Number> values(count);
  check(H5Aread(attribute, type, values.data()), what);
  if constexpr (!std::is_same_v<Number, Complex64>)
    if (scalar) return values[0];
  return values;
}

std::optional<ProvenanceValue> read_attribute(hid_t file, const std::string& key, const std::string& what) {
  const Handle attribute(H5Aopen(file, key.c_str(), H5P_DEFAULT), H5Aclose, what);
  const Handle type(H5Aget_type(attribute), H5Tclose, what), space(H5Aget_space(attribute), H5Sclose, what);
  const H5S_class_t shape = H5Sget_simple_extent_type(space);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (shape == H5S_NULL || count < 1 || count > most_numbers) return std::nullopt;
  const bool scalar = shape == H5S_SCALAR;
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (count != 1) return std::nullopt;
      return read_text(attribute, type, what);
    case H5T_FLOAT:
      return read_numbers<double>(attribute, H5T_NATIVE_DOUBLE, scalar, count, what);
    case H5T_INTEGER:
      return read_numbers<long long>(attribute, H5T_NATIVE_LLONG, scalar, count, what);
    case H5T_COMPOUND:
      if (H5Tequal(type, complex_type()) <= 0) return std::nullopt;
      return read_numbers<Complex64>(attribute, complex_type(), scalar, count, what);
    default:
      return std::nullopt;
  }
}

/// Whether libhdf5 makes one of the other without loss: byte order and padding may differ, as other tools like them.
bool fits(hid_t stored, hid_t type) {
  if (H5Tget_class(stored) != H5Tget_class(type) || H5Tis_variable_str(stored) > 0) return false;
  if (H5Tget_class(type) != H5T_COMPOUND) return H5Tget_size(stored) == H5Tget_size(type);
  const int members = H5Tget_nmembers(type);
  if (H5Tget_nmembers(stored) != members) return false;
  for (int n = 0; n < members; ++n) {
    char* name = H5Tget_member_name(type, n);
    const int there = name == nullptr ? -1 : H5Tget_member_index(stored, name);
    H5free_memory(name);
    if (there < 0) return false;
    const Handle wanted(H5Tget_member_type(type, n), H5Tclose, "HDF5 type");
    const Handle found(H5Tget_member_type(stored, there), H5Tclose, "HDF5 type");
    if (!fits(found, wanted)) return false;
  }
  return true;
}

std::string extent_text(const Extent& extent) { return fmt::format("{}", fmt::join(extent, "x")); }

}  // namespace

void quiet() {
  static const bool once = H5dont_atexit() >= 0;
  (void)once;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void check(herr_t status, const std::string& what) {
  if (status < 0) throw Error(fmt::format("{}: {}", what, errno != 0 ? std::strerror(errno) : "HDF5 error"));
}

Handle complex_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Complex64)), H5Tclose, "HDF5 type");
  H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE);
  return type;
}

Handle named_complex_type(hid_t file) {
  Handle type = complex_type();
  check(H5Tcommit2(file, "complex", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "HDF5 type");
  return type;
}

void create_axis(hid_t file, const std::string& name, hsize_t extent) {
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose, name);
  const Handle set(H5Dcreate2(file, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Dclose, name);
  std::vector<int> coordinates(extent);
  for (hsize_t n = 0; n < extent; ++n) coordinates[n] = static_cast<int>(n);
  check(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, coordinates.data()), name);
  check(H5DSset_scale(set, name.c_str()), name);
}

void create_dataset(hid_t file, const std::string& name, hid_t type, const Extent& extent,
                    const std::vector<std::string>& axes, bool zero) {
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, name);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, name);
  H5Pset_create_intermediate_group(links, 1);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, zero ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space, links, layout, H5P_DEFAULT), H5Dclose, name);
  for (unsigned n = 0; n < axes.size(); ++n) {
    const Handle axis(H5Dopen2(file, axes[n].c_str(), H5P_DEFAULT), H5Dclose, name);
    check(H5DSattach_scale(set, axis, n), name);
    check(H5DSset_label(set, n, axes[n].c_str()), name);
  }
}

Handle open_dataset(hid_t file, const std::string& name, hid_t type, const Extent& extent, const std::string& path) {
  const std::string what = fmt::format("{}: {}", path, name);
  Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what + " is missing");
  const Handle space(H5Dget_space(set), H5Sclose, what), stored(H5Dget_type(set), H5Tclose, what);
  Extent found(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space, found.data(), nullptr);
  found.resize(rank > 0 ? rank : 0);
  if (found != extent)
    throw Error(fmt::format("{} has extents {}, not {}: it is damaged or not one of ours", what, extent_text(found),
                            extent_text(extent)));
  if (!fits(stored, type))
    throw Error(fmt::format("{} holds numbers of another type: the file is damaged or not one of ours", what));
  return set;
}

std::uint64_t place_of(hid_t set, hid_t type) {
  const Handle stored(H5Dget_type(set), H5Tclose, "HDF5 type");
  const haddr_t place = H5Dget_offset(set);
  return place == HADDR_UNDEF || H5Tequal(stored, type) <= 0 ? 0 : place;
}

void put_attribute(hid_t file, const std::string& key, const ProvenanceValue& value, hid_t complex) {
  const auto all = [&](hid_t type, const auto& list) { write_attribute(file, key, type, list.size(), list.data()); };
  std::visit(Visitor{[&](const std::string& text) {
                       const char* first = text.c_str();
                       write_attribute(file, key, text_type(), std::nullopt, static_cast<const void*>(&first));
                     },
                     [&](double x) { write_attribute(file, key, H5T_NATIVE_DOUBLE, std::nullopt, &x); },
                     [&](long long n) { write_attribute(file, key, H5T_NATIVE_LLONG, std::nullopt, &n); },
                     [&](const std::vector<double>& list) { all(H5T_NATIVE_DOUBLE, list); },
                     [&](const std::vector<long long>& list) { all(H5T_NATIVE_LLONG, list); },
                     [&](const std::vector<Complex64>& list) { all(complex, list); }},
             value);
}

Provenance attributes(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), path);
  Provenance found;
  for (const std::string& name : names)
    if (auto value = read_attribute(file, name, fmt::format("{}: attribute {}", path, name)))
      found.emplace(name, std::move(*value));
  return found;
}

}  // namespace quarksmith::hdf5
