// openQCD: links of odd sites, double precision, little-endian.
#include <algorithm>
#include <cstring>

#include "runtime/lattice/face.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

/// Order of the axes, the slowest first, which is that of the directions too.
constexpr std::array<int, 4> openqcd_axes = {3, 0, 1, 2};

/// The eight links of an odd site: of each direction that which leaves it and that which arrives at it.
using SiteLinks = std::array<std::array<Matrix3, 2>, directions>;
static_assert(sizeof(SiteLinks) == 8 * 9 * 16);

/// Every second site of a row stands in the file. Parts begin at even coordinates.
FileBox odd_sites(const Lattice& local, std::uint64_t offset) {
  FileBox box = box_in_file(local, offset, sizeof(SiteLinks), openqcd_axes);
  for (auto* numbers : {&box.whole, &box.first, &box.extent}) (*numbers)[3] /= 2;
  return box;
}

/// Calls visit(odd site, its coordinates) for those of slice t in the order of the file.
template <class Visit>
void for_each_odd_site(const Lattice& local, int t, const Visit& visit) {
  for (int x = 0; x < local.extent(0); ++x)
    for (int y = 0; y < local.extent(1); ++y)
      for (int z = (x + y + t + 1) % 2; z < local.extent(2); z += 2) {
        const Coordinates site = {x, y, z, t};
        visit(local.index(site), site);
      }
}

void read_openqcd_links(const InputFile& file, HostGauge& gauge, Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  const FileBox box = odd_sites(lattice, plain_header_bytes);
  const auto shared = SharedFile::reader(file, communicator);
  std::vector<SiteLinks> slice(lattice.space_sites() / 2);
  // Links that arrive at the first slices start from the part before.
  std::array<std::vector<Matrix3>, directions> arriving;
  for (int mu = 0; mu < directions; ++mu) arriving[mu].resize(lattice.sites() / lattice.extent(mu));
  for (int t = 0; t < lattice.extent(3); ++t) {
    shared->read(box.slice(t), slice.data());
    const SiteLinks* at = slice.data();
    for_each_odd_site(lattice, t, [&](long long site, const Coordinates& x) {
      for (int n = 0; n < directions; ++n) {
        const int mu = openqcd_axes[n];
        const auto& [leaving, arrives] = (*at)[n];
        gauge.site[site][mu] = leaving;
        if (x[mu] > 0)
          gauge.site[lattice.neighbour(site, mu, -1)][mu] = arrives;
        else
          arriving[mu][number_in_slice(lattice, mu, x)] = arrives;
      }
      ++at;
    });
  }
  for (int mu = 0; mu < directions; ++mu) {
    const auto links = from_neighbour(lattice, mu, 1, std::move(arriving[mu]), communicator);
    std::size_t n = 0;
    for (const long long site : slice_of(lattice, mu, lattice.extent(mu) - 1, [](long long i) { return i; })) {
      if (Lattice::parity(lattice.coordinates(site)) == Parity::even) gauge.site[site][mu] = links[n];
      ++n;
    }
  }
}

std::vector<GaugeHead> openqcd_heads(const InputFile& file, const std::optional<Coordinates>&) {
  GaugeHead head = plain_head(file, "openQCD", openqcd_axes);
  head.read_links = read_openqcd_links;
  return {std::move(head)};
}

void write_openqcd(Output& output, const HostGauge& gauge, int, const std::vector<ExtraRecord>&) {
  const Lattice& lattice = gauge.lattice;
  const Coordinates& n = lattice.global_extent();
  const std::int32_t extent[] = {n[3], n[0], n[1], n[2]};
  const double plaquette = 3 * host_averages(gauge, output.communicator()).plaquette;
  std::string header(reinterpret_cast<const char*>(extent), sizeof extent);
  header.append(reinterpret_cast<const char*>(&plaquette), sizeof plaquette);
  std::array<std::vector<Matrix3>, directions> arriving;
  for (int mu = 0; mu < directions; ++mu) {
    const auto last = [&](long long i) { return link_with_phase(gauge, i, mu); };
    arriving[mu] =
        from_neighbour(lattice, mu, -1, slice_of(lattice, mu, lattice.extent(mu) - 1, last), output.communicator());
  }
  const FileBox box = odd_sites(lattice, header.size());
  NewFile file(output, box.end());
  file.put(0, header);
  std::vector<SiteLinks> slice(lattice.space_sites() / 2);
  for (int t = 0; t < lattice.extent(3); ++t) {
    SiteLinks* at = slice.data();
    for_each_odd_site(lattice, t, [&](long long site, const Coordinates& x) {
      for (int k = 0; k < directions; ++k) {
        const int mu = openqcd_axes[k];
        (*at)[k] = {link_with_phase(gauge, site, mu), x[mu] > 0
                                                          ? link_with_phase(gauge, lattice.neighbour(site, mu, -1), mu)
                                                          : arriving[mu][number_in_slice(lattice, mu, x)]};
      }
      ++at;
    });
    file.write(box.slice(t), slice.data());
  }
  file.commit();
}

}  // namespace

namespace formats {
extern constinit const GaugeFormat openqcd = {
    {.title = "openQCD", .name = "openqcd", .endings = {".openqcd"}, .bits = 64},
    looks_like_plain_binary,
    openqcd_heads,
    write_openqcd};
}

}  // namespace quarksmith
