// Links of a file to and from a field: byte order, precision, order of sites and directions.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

std::size_t site_bytes(const LinkLayout& layout) {
  return static_cast<std::size_t>(directions) * layout.rows * 2 * layout.colours * layout.bits / 8;
}

Complex64 phase_of_link(const HostGauge& gauge, long long site, int mu) {
  return gauge.phase[mu] == 1.0 ? 1 : boundary_phase(gauge, gauge.lattice.coordinates(site), mu);
}

bool must_swap(const LinkLayout& layout) { return layout.big_endian != (std::endian::native == std::endian::big); }

double get_real(const unsigned char* p, int bits) {
  if (bits == 64) return *reinterpret_cast<const double*>(p);
  return *reinterpret_cast<const float*>(p);
}

/// \param links of a site, one after the other.
void decode_site(const unsigned char* data, const LinkLayout& layout, Complex64* links) {
  const int bytes = layout.bits / 8;
  for (const int mu : layout.link_order) {
    Complex64* u = links + mu * layout.colours * layout.colours;
    for (int n = 0; n < layout.colours * layout.rows; ++n, data += 2 * bytes)
      u[n] = {get_real(data, layout.bits), get_real(data + bytes, layout.bits)};
    if (layout.rows == 2 && layout.colours == 3)
      for (int j = 0; j < 3; ++j) {
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        u[6 + j] = std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
      }
  }
}

void encode_site(const HostGauge& gauge, long long i, const LinkLayout& layout, unsigned char* data) {
  for (const int mu : layout.link_order)
    for (int n = 0; n < layout.colours * layout.rows; ++n) {
      const Complex64 z = phase_of_link(gauge, i, mu) * gauge.link(i, mu)[n];
      for (const double part : {z.real(), z.imag()}) {
        if (layout.bits == 64) {
          std::memcpy(data, &part, 8);
        } else {
          const float single = static_cast<float>(part);
          std::memcpy(data, &single, 4);
        }
        data += layout.bits / 8;
      }
    }
}

}  // namespace

std::uint64_t link_bytes(const Coordinates& extent, const LinkLayout& layout) {
  return sites_of(extent) * site_bytes(layout);
}

void read_links(const InputFile& file, const LinkLayout& layout, HostGauge& gauge, SiteChecksum* checksum,
                Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  const std::size_t each = site_bytes(layout);
  const long long slice = lattice.space_sites();
  const FileBox box = box_in_file(lattice, layout.offset, each);
  const auto shared = SharedFile::reader(file, communicator);
  Bytes buffer(slice * each);
  for (int t = 0; t < lattice.extent(3); ++t) {
    shared->read(box.slice(t), buffer.data());
    if (checksum != nullptr) add_sites(*checksum, lattice, t * slice, slice, buffer.data(), each);
#pragma omp parallel for schedule(static)
    for (long long i = 0; i < slice; ++i) {
      unsigned char* site = buffer.data() + i * each;
      if (must_swap(layout)) swap_bytes(site, each, layout.bits / 8);
      decode_site(site, layout, gauge.site.at(t * slice + i));
    }
  }
  if (checksum != nullptr) checksum->combine(communicator);
}

Matrix3 link_with_phase(const HostGauge& gauge, long long site, int mu) {
  Matrix3 u = gauge.site[site][mu];
  for (Complex64& z : u) z *= phase_of_link(gauge, site, mu);
  return u;
}

void write_links(NewFile& file, const LinkLayout& layout, const HostGauge& gauge, SiteChecksum* checksum) {
  const Lattice& lattice = gauge.lattice;
  const std::size_t each = site_bytes(layout);
  const long long slice = lattice.space_sites();
  const FileBox box = box_in_file(lattice, layout.offset, each);
  Bytes buffer(slice * each);
  for (int t = 0; t < lattice.extent(3); ++t) {
#pragma omp parallel for schedule(static)
    for (long long i = 0; i < slice; ++i) {
      unsigned char* site = buffer.data() + i * each;
      encode_site(gauge, t * slice + i, layout, site);
      if (must_swap(layout)) swap_bytes(site, each, layout.bits / 8);
    }
    if (checksum != nullptr) add_sites(*checksum, lattice, t * slice, slice, buffer.data(), each);
    file.write(box.slice(t), buffer.data());
  }
  if (checksum != nullptr) checksum->combine(file.communicator());
}

std::uint64_t sites_of(const Coordinates& extent) {
  std::uint64_t sites = 1;
  for (const int n : extent) sites *= static_cast<std::uint64_t>(n);
  return sites;
}

std::string extent_text(const Coordinates& x) { return fmt::format("{}x{}x{}x{}", x[0], x[1], x[2], x[3]); }

void contradiction(const InputFile& file, const std::string& what, const std::string& value, const std::string& where,
                   const std::string& other, const std::string& elsewhere) {
  const auto quoted = [](const std::string& text) { return printable(text.substr(0, 60)); };
  throw Error(
      fmt::format("{}: contradicts itself: {} is {} by {} but {} by {}; correct the one that is wrong, or fetch "
                  "the file again",
                  file.name(), what, quoted(value), quoted(where), quoted(other), quoted(elsewhere)));
}

Coordinates checked_extent(const InputFile& file, const Coordinates& found,
                           const std::optional<Coordinates>& expected) {
  for (const int n : found)
    if (n < 1 || n > 1 << 14)  // so that no product overflows
      throw Error(fmt::format("{}: the header gives extents {}: it is damaged; fetch the file again", file.name(),
                              extent_text(found)));
  for (const int n : found)
    if (n % 2 != 0)
      throw WrongLattice(fmt::format("{}: holds a {} lattice: extent {} is not an even number; use even extents",
                                     file.name(), extent_text(found), n));
  if (expected && *expected != found)
    throw WrongLattice(fmt::format("{}: holds a {} lattice, but {} is asked for", file.name(), extent_text(found),
                                   extent_text(*expected)));
  return found;
}

}  // namespace quarksmith
