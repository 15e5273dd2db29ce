#include "runtime/io/hdf5_part.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "runtime/error.hpp"
#include "runtime/io/file.hpp"
#include "runtime/io/isolated.hpp"

namespace quarksmith::hdf5 {

std::string unreadable(const std::string& path) {
  return fmt::format("{}: cannot be read as HDF5: libhdf5 crashed on it or took too long: its structure is damaged",
                     path);
}

Handle open_for_reading(const std::string& path) {
  errno = 0;
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
          path + ": cannot open it as HDF5 (damaged, or in use by another program)"};
}

namespace {

bool is_real(hid_t file, const std::string& name, const std::string& what) {
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) return false;  // open_dataset says so
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Handle type(H5Dget_type(set), H5Tclose, what);
  return H5Tget_class(type) == H5T_FLOAT;
}

}  // namespace

std::vector<Complex64> load_local(const std::string& path, const LatticeArray& array, const Lattice& local) {
  Extent whole = array.before, here = array.before, first(array.before.size());
  for (int mu = directions - 1; mu >= 0; --mu) {
    whole.push_back(local.global_extent(mu));
    here.push_back(local.extent(mu));
    first.push_back(local.origin(mu));
  }
  for (Extent* all : {&whole, &here}) all->insert(all->end(), array.after.begin(), array.after.end());
  first.resize(whole.size());
  const std::size_t count = std::accumulate(here.begin(), here.end(), std::size_t(1), std::multiplies<>());
  InputFile{path};  // says why a file cannot be opened at all
  const std::string reply = isolated(
      [&] {
        const std::string what = fmt::format("{}: cannot read {}", path, array.name);
        const Handle file = open_for_reading(path), complex = complex_type();
        const bool real = array.real_too && is_real(file, array.name, what);
        const hid_t type = real ? H5T_NATIVE_DOUBLE : hid_t(complex);
        const Handle set = open_dataset(file, array.name, type, whole, path);
        const Handle memory(H5Screate_simple(static_cast<int>(here.size()), here.data(), nullptr), H5Sclose, what),
            space(H5Dget_space(set), H5Sclose, what);
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, here.data(), nullptr), what);
        std::string numbers(count * sizeof(Complex64), '\0');
        errno = 0;
        check(H5Dread(set, type, memory, space, H5P_DEFAULT, numbers.data()), what);
        if (!real) return numbers;
        std::string pairs(numbers.size(), '\0');  // the first half are the real parts
        for (std::size_t n = 0; n < count; ++n)
          std::memcpy(&pairs[n * sizeof(Complex64)], &numbers[n * sizeof(double)], sizeof(double));
        return pairs;
      },
      count * sizeof(Complex64), unreadable(path));
  if (reply.size() != count * sizeof(Complex64)) throw Error(unreadable(path));
  std::vector<Complex64> numbers(count);
  std::memcpy(static_cast<void*>(numbers.data()), reply.data(), reply.size());
  return numbers;
}

bool holds(const std::string& path, const std::string& name) {
  InputFile{path};  // says why a file cannot be opened at all
  const std::string reply = isolated(
      [&] {
        const Handle file = open_for_reading(path);
        // Every group on the way has to be there.
        for (std::size_t at = name.find('/', 1);; at = name.find('/', at + 1)) {
          if (H5Lexists(file, name.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return std::string("no");
          if (at == std::string::npos) return std::string("yes");
        }
      },
      8, unreadable(path));
  return reply == "yes";
}

}  // namespace quarksmith::hdf5
