#include "runtime/io/propagator_format.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// More than any lattice, and any list of masses: extents of crafted files must not overflow.
constexpr long long most_extent = 1 << 16, most_columns = 3 << 12, most_sites = 1LL << 44;

template <std::size_t n>
void put(char (&to)[n], const std::string& text) {
  std::memset(to, 0, n);
  std::memcpy(to, text.data(), std::min(text.size(), n - 1));
}

template <std::size_t n>
std::string get(const char (&from)[n]) {
  return printable({from, strnlen(from, n)});
}

std::string text(double x) { return fmt::format("{:.17g}", x); }
std::string text(long long n) { return fmt::format("{}", n); }
std::string text(const Complex64& z) { return fmt::format("{:.17g}{:+.17g}i", z.real(), z.imag()); }
std::string text(const std::string& s) { return s; }
template <class Number>
std::string text(const std::vector<Number>& list) {
  std::string all;
  for (const Number& x : list) all += (all.empty() ? "" : ",") + text(x);
  return all;
}

}  // namespace

std::string text_of(const ProvenanceValue& value) {
  return std::visit([](const auto& x) { return text(x); }, value);
}

void PropagatorStructure::resize() {
  records.assign(form.columns(), {});
  midpoint.assign(form.midpoint ? std::size_t(form.columns()) * extent[3] : 0, 0.0);
  places.assign(form.columns() + 2, 0);
}

std::uint64_t PropagatorStructure::column_bytes() const {
  std::uint64_t bytes = form.components() * sizeof(Complex64);
  for (const int n : extent) bytes *= static_cast<std::uint64_t>(n);
  return bytes;
}

std::uint64_t PropagatorStructure::bytes_at(int n) const {
  const auto columns = static_cast<std::uint64_t>(form.columns());
  if (n < form.columns()) return column_bytes();
  if (n == form.columns()) return columns * sizeof(ColumnRecord);
  return form.midpoint ? columns * extent[3] * sizeof(double) : 0;
}

void PropagatorStructure::set(int n, const ColumnReport& r, const ScidacChecksum& sum) {
  if (form.midpoint && r.midpoint.size() != std::size_t(extent[3]))
    throw UsageError(fmt::format("a column of domain-wall quarks has {} midpoint sums for {} time slices",
                                 r.midpoint.size(), extent[3]));
  ColumnRecord& record = records[n];
  record = {1, sum.a, sum.b, 0, r.iterations, r.residual, r.seconds, r.gflops};
  put(record.solver, r.solver);
  put(record.precision, r.precision);
  put(record.even_odd, r.even_odd);
  put(record.links, r.links);
  if (form.midpoint) std::copy(r.midpoint.begin(), r.midpoint.end(), midpoint_of(n));
  record.crc = crc(n);
}

ColumnReport PropagatorStructure::report(int n) const {
  const ColumnRecord& r = records[n];
  ColumnReport report{r.iterations,     r.residual,      r.seconds,    r.gflops, get(r.solver),
                      get(r.precision), get(r.even_odd), get(r.links), {}};
  if (form.midpoint) report.midpoint.assign(midpoint_of(n), midpoint_of(n) + extent[3]);
  return report;
}

bool PropagatorStructure::has(int n) const { return records[n].done == 1 && records[n].crc == crc(n); }

bool PropagatorStructure::touched(int n) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&records[n]);
  return std::any_of(bytes, bytes + sizeof(ColumnRecord), [](unsigned char byte) { return byte != 0; });
}

std::uint32_t PropagatorStructure::crc(int n) const {
  ColumnRecord record = records[n];
  record.crc = 0;
  uLong sum = crc32(0, reinterpret_cast<const Bytef*>(&record), sizeof record);
  if (form.midpoint)
    sum = crc32(sum, reinterpret_cast<const Bytef*>(midpoint_of(n)), static_cast<uInt>(extent[3] * sizeof(double)));
  return static_cast<std::uint32_t>(sum);
}

namespace propagator_format {
namespace {

hdf5::Handle characters(std::size_t size) {
  hdf5::Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 type");
  H5Tset_size(type, size);
  return type;
}

std::vector<std::string> axes_of(const PropagatorForm& form) {
  return form.staggered ? std::vector<std::string>{"t", "z", "y", "x", "colour"}
                        : std::vector<std::string>{"t", "z", "y", "x", "spin", "colour"};
}

template <class T>
const T& require(const Provenance& attributes, const std::string& key, const std::string& path) {
  const auto found = attributes.find(key);
  const T* value = found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  if (value == nullptr)
    throw Error(fmt::format("{}: attribute {} is missing or of another type: damaged, or not one of ours", path, key));
  return *value;
}

/// Form and extents by the attributes.
void read_form(PropagatorStructure& s, hid_t file, const std::string& path) {
  const auto& kind = require<std::string>(s.attributes, "kind", path);
  const long long columns = require<long long>(s.attributes, "columns", path);
  if (s.form.vectors) {
    const long long each = require<long long>(s.attributes, "slices", path);
    s.form.each = static_cast<int>(std::clamp(each, 1LL, most_columns));
  }
  const auto& extent = require<std::vector<long long>>(s.attributes, "lattice", path);
  const bool sound = (kind == "dirac" || kind == "staggered") && columns > 0 && columns <= most_columns &&
                     columns % s.form.each == 0 && extent.size() == directions &&
                     std::all_of(extent.begin(), extent.end(), [](long long n) { return n > 0 && n <= most_extent; });
  if (!sound) throw Error(fmt::format("{}: attributes kind, columns and lattice do not fit: damaged", path));
  s.form.staggered = kind == "staggered";
  s.form.first = static_cast<int>(columns / s.form.each);
  s.form.midpoint = H5Lexists(file, "midpoint", H5P_DEFAULT) > 0;
  for (int mu = 0; mu < directions; ++mu) s.extent[mu] = static_cast<int>(extent[mu]);
  check_form(s, path);
}

}  // namespace

hdf5::Handle record_type() {
  hdf5::Handle type(H5Tcreate(H5T_COMPOUND, sizeof(ColumnRecord)), H5Tclose, "HDF5 type");
  H5Tinsert(type, "done", HOFFSET(ColumnRecord, done), H5T_NATIVE_INT32);
  H5Tinsert(type, "checksum_a", HOFFSET(ColumnRecord, a), H5T_NATIVE_UINT32);
  H5Tinsert(type, "checksum_b", HOFFSET(ColumnRecord, b), H5T_NATIVE_UINT32);
  H5Tinsert(type, "crc", HOFFSET(ColumnRecord, crc), H5T_NATIVE_UINT32);
  H5Tinsert(type, "iterations", HOFFSET(ColumnRecord, iterations), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "residual", HOFFSET(ColumnRecord, residual), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "seconds", HOFFSET(ColumnRecord, seconds), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "gflops", HOFFSET(ColumnRecord, gflops), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "solver", HOFFSET(ColumnRecord, solver), characters(sizeof(ColumnRecord::solver)));
  H5Tinsert(type, "precision", HOFFSET(ColumnRecord, precision), characters(sizeof(ColumnRecord::precision)));
  H5Tinsert(type, "even_odd", HOFFSET(ColumnRecord, even_odd), characters(sizeof(ColumnRecord::even_odd)));
  H5Tinsert(type, "links", HOFFSET(ColumnRecord, links), characters(sizeof(ColumnRecord::links)));
  return type;
}

const char* name_of(const PropagatorForm& form) {
  return form.vectors ? "quarksmith eigenvectors 1" : "quarksmith propagator 2";
}

std::string column_name(int n, const PropagatorForm& form) {
  return fmt::format("/column/{}/{}", n / form.each, n % form.each);
}

hdf5::Extent column_extent(const Coordinates& n, const PropagatorForm& form) {
  hdf5::Extent all = {hsize_t(n[3]), hsize_t(n[2]), hsize_t(n[1]), hsize_t(n[0])};
  if (!form.staggered) all.push_back(4);
  all.push_back(3);
  return all;
}

void create(hid_t file, const PropagatorHeader& header, const Coordinates& n) {
  const PropagatorForm& form = header.form;
  const hdf5::Handle complex = hdf5::named_complex_type(file);
  hdf5::put_attribute(file, "format", std::string(name_of(form)), complex);
  hdf5::put_attribute(file, "kind", std::string(form.staggered ? "staggered" : "dirac"), complex);
  hdf5::put_attribute(file, "columns", static_cast<long long>(form.columns()), complex);
  if (form.vectors) hdf5::put_attribute(file, "slices", static_cast<long long>(form.each), complex);
  hdf5::put_attribute(file, "lattice", std::vector<long long>(n.begin(), n.end()), complex);
  for (const Provenance* all : {&header.provenance, &header.remarks})
    for (const auto& [key, value] : *all) hdf5::put_attribute(file, key, value, complex);
  for (const int mu : {3, 2, 1, 0}) hdf5::create_axis(file, std::string(1, "xyzt"[mu]), n[mu]);
  if (!form.staggered) hdf5::create_axis(file, "spin", 4);
  hdf5::create_axis(file, "colour", 3);
  hdf5::create_axis(file, "number", form.columns());
  for (int k = 0; k < form.columns(); ++k)
    hdf5::create_dataset(file, column_name(k, form), complex, column_extent(n, form), axes_of(form), false);
  hdf5::create_dataset(file, "/report", record_type(), {hsize_t(form.columns())}, {"number"}, true);
  if (form.midpoint)
    hdf5::create_dataset(file, "/midpoint", H5T_NATIVE_DOUBLE, {hsize_t(form.columns()), hsize_t(n[3])},
                         {"number", "t"}, true);
}

void check_form(const PropagatorStructure& s, const std::string& path) {
  long long sites = 1;
  bool sound = s.form.first > 0 && s.form.each > 0 && s.form.first <= most_columns / s.form.each &&
               (s.form.vectors || (s.form.each == 3 && (s.form.staggered || s.form.first == 4))) &&
               !(s.form.staggered && s.form.midpoint);
  for (const int n : s.extent) {
    sound = sound && n > 0 && n <= most_extent && n % 2 == 0 && sites <= most_sites / n;
    if (sound) sites *= n;
  }
  if (!sound)
    throw Error(fmt::format("{}: {} columns of a {} lattice cannot be: damaged, or not one of ours", path,
                            1LL * s.form.each * s.form.first, fmt::join(s.extent, "x")));
}

PropagatorStructure read(hid_t file, const std::string& path) {
  PropagatorStructure s;
  s.attributes = hdf5::attributes(file, path);
  const auto format = s.attributes.find("format");
  const std::string found = format == s.attributes.end() ? "" : text_of(format->second);
  if (found == "quarksmith propagator 1")
    throw UsageError(
        fmt::format("{}: of the former format ({}), which has no checksums; finish or read it with the "
                    "version that wrote it, or discard it with --overwrite",
                    path, found));
  if (found.starts_with("quarksmith measurements"))
    throw Error(path + ": results of `measure` without the seal at their end: the file is truncated or damaged");
  s.form.vectors = found == name_of({.vectors = true});
  if (found != name_of(s.form))
    throw Error(fmt::format("{}: no propagator of ours: its attribute format is '{}', not '{}'", path, printable(found),
                            name_of(s.form)));
  read_form(s, file, path);
  s.resize();
  const hdf5::Handle complex = hdf5::complex_type(), record = record_type();
  const int columns = s.form.columns();
  const auto whole = [&](int n, const char* set, hid_t type, const hdf5::Extent& extent, void* to) {
    const hdf5::Handle open = hdf5::open_dataset(file, set, type, extent, path);
    hdf5::check(H5Dread(open, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), path + ": cannot read " + set);
    s.places[n] = hdf5::place_of(open, type);
  };
  whole(columns, "/report", record, {hsize_t(columns)}, s.records.data());
  if (s.form.midpoint)
    whole(columns + 1, "/midpoint", H5T_NATIVE_DOUBLE, {hsize_t(columns), hsize_t(s.extent[3])}, s.midpoint.data());
  for (int n = 0; n < columns; ++n)
    s.places[n] = hdf5::place_of(
        hdf5::open_dataset(file, column_name(n, s.form), complex, column_extent(s.extent, s.form), path), complex);
  return s;
}

std::string difference(const PropagatorStructure& found, const PropagatorHeader& header, const Coordinates& lattice) {
  if (found.extent != lattice)
    return fmt::format("lattice is {}, now {}", fmt::join(found.extent, "x"), fmt::join(lattice, "x"));
  for (const auto& [key, value] : wanted_of(header.provenance, found.attributes)) {
    const auto other = found.attributes.find(key);
    if (other == found.attributes.end()) return fmt::format("{} is not stated, now '{}'", key, text_of(value));
    if (other->second != value)
      return fmt::format("{} is '{}', now '{}'", key, printable(text_of(other->second)), printable(text_of(value)));
  }
  return found.form == header.form ? "" : "it has other columns";
}

std::vector<Complex64> pack(const HostSpinor& column, const PropagatorForm& form) {
  std::vector<Complex64> numbers;
  numbers.reserve(column.site.size() * form.components());
  for (const HostSite& site : column.site)
    numbers.insert(numbers.end(), site.begin(), site.begin() + form.components());
  return numbers;
}

void unpack(const std::vector<Complex64>& numbers, const PropagatorForm& form, HostSpinor& column) {
  const int each = form.components();
  for (std::size_t i = 0; i < column.site.size(); ++i)
    std::copy_n(numbers.begin() + i * each, each, column.site[i].begin());
}

ScidacChecksum checksum_of(const Complex64* numbers, const Lattice& lattice, const PropagatorForm& form,
                           Communicator& communicator) {
  const std::size_t each = form.components() * sizeof(Complex64);
  return quarksmith::checksum_of(lattice, numbers, each, communicator);
}

}  // namespace propagator_format
}  // namespace quarksmith
