#include "runtime/fields/padded_fields.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace quarksmith {
namespace {

struct Scratch {
  std::vector<std::unique_ptr<SpinorField>> fields;
};

struct KeptPhases {
  struct Of {
    std::array<Complex64, directions> boundary;
    std::unique_ptr<LinkField> links;
  };
  std::vector<Of> all;
};

}  // namespace

SpinorField& scratch_in(const PaddedLattice& padded, std::size_t n, const SpinorField& like) {
  auto& fields = padded.kept<Scratch>().fields;
  if (fields.size() <= n) fields.resize(n + 1);
  auto& field = fields[n];
  if (field == nullptr || &field->precision() != &like.precision() || field->components() != like.components() ||
      field->rhs() != like.rhs()) {
    field.reset();
    field =
        std::make_unique<SpinorField>(padded.domain(), like.precision(), Subset::full, like.rhs(), like.components());
    field->fill(0xff);
  }
  return *field;
}

const LinkField* border_phases(const PaddedLattice& padded, const std::array<Complex64, directions>& boundary,
                               const PrecisionInfo& precision, int colours) {
  const Lattice &here = padded.local().lattice(), &around = padded.domain()->lattice();
  bool any = false;
  for (int mu = 0; mu < directions; ++mu)
    any = any || (here.split(mu) && padded.depth().sites[mu] > 0 && boundary[mu] != 1.0 &&
                  (here.origin(mu) == 0 || here.origin(mu) + here.extent(mu) == here.global_extent(mu)));
  if (!any) return nullptr;
  auto& known = padded.kept<KeptPhases>().all;
  for (const KeptPhases::Of& p : known)
    if (p.boundary == boundary && &p.links->precision() == &precision && p.links->colours() == colours)
      return p.links.get();
  LinkField links(padded.domain(), find_precision("double"), full_storage(colours));
  upload_each(links, [&](long long i, Complex64* site) {
    const Coordinates x = around.coordinates(i);
    Complex64 phase = 1;
    for (int mu = 0; mu < directions; ++mu) {
      if (!here.split(mu)) continue;
      const int global = x[mu] - padded.offset()[mu] + here.origin(mu);
      if (global < 0) phase *= std::conj(boundary[mu]);
      if (global >= here.global_extent(mu)) phase *= boundary[mu];
    }
    std::fill_n(site, directions * colours * colours, Complex64(0));
    for (int n = 0; n < directions * colours; ++n) site[n * colours + n % colours] = phase;
  });
  if (precision.name != links.precision().name) links = encode_links(links, precision, links.storage());
  known.push_back({boundary, std::make_unique<LinkField>(std::move(links))});
  return known.back().links.get();
}

}  // namespace quarksmith
