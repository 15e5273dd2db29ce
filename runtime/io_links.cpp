// Links of a file to and from a field: byte order, precision, order of sites and directions.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io_gauge.hpp"

namespace quarksmith {
namespace {

std::size_t site_bytes(const LinkLayout& layout) {
  return static_cast<std::size_t>(directions) * layout.rows * 6 * layout.bits / 8;
}

bool must_swap(const LinkLayout& layout) { return layout.big_endian != (std::endian::native == std::endian::big); }

/// Lexicographic number of the site that stands at place `number` of the file.
long long lattice_site(const Lattice& lattice, const LinkLayout& layout, std::uint64_t number) {
  Coordinates x;
  for (const int mu : layout.site_order) {
    x[mu] = static_cast<int>(number % lattice.extent(mu));
    number /= lattice.extent(mu);
  }
  return lattice.index(x);
}

double get_real(const unsigned char* p, int bits) {
  if (bits == 64) return *reinterpret_cast<const double*>(p);
  return *reinterpret_cast<const float*>(p);
}

void decode_site(const unsigned char* data, const LinkLayout& layout, std::array<Matrix3, directions>& links) {
  const int bytes = layout.bits / 8;
  for (const int mu : layout.link_order) {
    Matrix3& u = links[mu];
    for (int n = 0; n < 3 * layout.rows; ++n, data += 2 * bytes)
      u[n] = {get_real(data, layout.bits), get_real(data + bytes, layout.bits)};
    if (layout.rows == 2)
      for (int j = 0; j < 3; ++j) {
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        u[6 + j] = std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
      }
  }
}

void encode_site(const std::array<Matrix3, directions>& links, const LinkLayout& layout, unsigned char* data) {
  for (const int mu : layout.link_order)
    for (int n = 0; n < 3 * layout.rows; ++n)
      for (const double part : {links[mu][n].real(), links[mu][n].imag()}) {
        if (layout.bits == 64) {
          std::memcpy(data, &part, 8);
        } else {
          const float single = static_cast<float>(part);
          std::memcpy(data, &single, 4);
        }
        data += layout.bits / 8;
      }
}

}  // namespace

std::uint64_t link_bytes(const Lattice& lattice, const LinkLayout& layout) {
  return lattice.sites() * site_bytes(layout);
}

void read_links(const InputFile& file, const LinkLayout& layout, HostGauge& gauge,
                const std::function<void(std::uint64_t, const void*, std::size_t)>& visit) {
  const std::size_t each = site_bytes(layout);
  const std::uint64_t sites = gauge.lattice.sites(), chunk = 4096;
  Bytes buffer(chunk * each);
  for (std::uint64_t first = 0; first < sites; first += chunk) {
    const std::uint64_t count = std::min(chunk, sites - first);
    file.read(layout.offset + first * each, buffer.data(), count * each, "the links");
    for (std::uint64_t i = 0; i < count; ++i)
      if (visit) visit(first + i, buffer.data() + i * each, each);
    if (must_swap(layout)) swap_bytes(buffer.data(), count * each, layout.bits / 8);
    for (std::uint64_t i = 0; i < count; ++i)
      decode_site(buffer.data() + i * each, layout, gauge.site[lattice_site(gauge.lattice, layout, first + i)]);
  }
}

void write_links(OutputFile& file, const LinkLayout& layout, const HostGauge& gauge,
                 const std::function<void(std::uint64_t, const void*, std::size_t)>& visit) {
  const std::size_t each = site_bytes(layout);
  const Lattice& lattice = gauge.lattice;
  const std::uint64_t sites = lattice.sites(), chunk = 4096;
  Bytes buffer(chunk * each);
  for (std::uint64_t first = 0; first < sites; first += chunk) {
    const std::uint64_t count = std::min(chunk, sites - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      const long long site = lattice_site(lattice, layout, first + i);
      std::array<Matrix3, directions> links = gauge.site[site];
      const Coordinates x = lattice.coordinates(site);
      for (int mu = 0; mu < directions; ++mu)
        if (gauge.phase[mu] != 1.0 && x[mu] == lattice.extent(mu) - 1)
          for (Complex64& z : links[mu]) z *= gauge.phase[mu];
      encode_site(links, layout, buffer.data() + i * each);
    }
    if (must_swap(layout)) swap_bytes(buffer.data(), count * each, layout.bits / 8);
    for (std::uint64_t i = 0; i < count; ++i)
      if (visit) visit(first + i, buffer.data() + i * each, each);
    file.write(buffer.data(), count * each);
  }
}

Lattice agreed_lattice(const InputFile& file, const Coordinates& found, const std::optional<Lattice>& expected) {
  for (const int n : found)
    if (n < 1 || n > 1 << 20)
      throw Error(fmt::format("{}: the header gives extents {}x{}x{}x{}: it is damaged; fetch the file again",
                              file.name(), found[0], found[1], found[2], found[3]));
  const Lattice lattice(found);
  if (expected && !(*expected == lattice))
    throw WrongLattice(
        fmt::format("{}: holds a {} lattice, but {} is asked for", file.name(), lattice.text(), expected->text()));
  return lattice;
}

}  // namespace quarksmith
