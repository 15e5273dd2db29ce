#include "solvers/multigrid/coarse_stencil.hpp"

#include <algorithm>
#include <numeric>

#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

constexpr int probes = 12;  ///< right-hand sides of a probe
constexpr int block_corners = 1 << directions;

/// The displacement along the directions of these bits: forward where a hop arrives in the upper half of a block.
Coordinates displacement(unsigned along, int corner) {
  Coordinates step{};
  for (int mu = 0; mu < directions; ++mu)
    if ((along >> mu & 1) != 0) step[mu] = (corner >> mu & 1) != 0 ? 1 : -1;
  return step;
}

/// Directions in which the coordinates of blocks are odd that a field does not vanish on: a set of bits of such sets of
/// bits.
unsigned colours_of(const SpinorField& f) {
  const Lattice& lattice = f.domain().lattice();
  std::array<double, block_colours> sum{};
  for (int n = 0; n < f.rhs(); ++n) {
    const std::vector<Complex64> numbers = numbers_of(f, n);
    const std::size_t each = numbers.size() / static_cast<std::size_t>(lattice.sites());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      sum[odd_directions(lattice.coordinates(static_cast<long long>(i / each)))] += std::norm(numbers[i]);
  }
  unsigned found = 0;
  for (unsigned colour = 0; colour < block_colours; ++colour)
    if (f.domain().communicator().largest(sum[colour]) > 0) found |= 1u << colour;
  return found;
}

/// For each colour of the blocks from which hops come, each corner at which they arrive, and each site: the point of
/// its matrix, or -1.
std::vector<int> points_of(const SiteMatrices& to, const Lattice& lattice, const CoarseStencil& points) {
  std::vector<int> table;
  for (unsigned colour = 0; colour < block_colours; ++colour)
    for (int corner = 0; corner < block_corners; ++corner)
      for (const long long site : to.sites()) {
        const Coordinates step = displacement(odd_directions(lattice.coordinates(site)) ^ colour, corner);
        const auto found = std::ranges::find(points, step);
        table.push_back(found != points.end() ? static_cast<int>(found - points.begin()) : -1);
      }
  return table;
}

}  // namespace

CoarseStencil nearest_neighbours() {
  CoarseStencil all;
  for (int mu = 0; mu < directions; ++mu)
    for (const int step : {+1, -1}) all.emplace_back()[mu] = step;
  return all;
}

bool has_corners(const CoarseStencil& stencil) {
  return std::ranges::any_of(stencil, [](const Coordinates& step) { return directions_of(step) > 1; });
}

bool changes_parity(const CoarseStencil& stencil) {
  return std::ranges::all_of(stencil, [](const Coordinates& step) { return directions_of(step) % 2 == 1; });
}

int applications_of(const CoarseStencil& stencil) { return has_corners(stencil) ? block_colours : 1 + directions; }

CoarseStencil stencil_of(const Transfer& transfer, const LinearOperator& m) {
  constexpr int both = 2;  // a vector of either chirality
  Transfer::Blocks image(transfer, both);
  SpinorField in = transfer.fine_field(both), out = in.like(), coarse = transfer.coarse_field(both);
  transfer.spread(image, chiral_numbers - 1, one_colour);
  transfer.from_blocks(in, image);
  m.apply(out, in, Dagger::no);
  transfer.to_blocks(image, out);
  transfer.restrict_to(coarse, image);
  const auto set = [](unsigned bits, unsigned n) { return (bits >> n & 1) != 0; };
  const unsigned coupled = colours_of(coarse);
  bool far = false;
  for (unsigned along = 1; along < block_colours; ++along)
    far = far || (set(coupled, along) && directions_of(displacement(along, 0)) > 1);
  if (!far) return nearest_neighbours();
  CoarseStencil found;
  for (int corner = 0; corner < block_corners; ++corner) {
    transfer.restrict_corner(coarse, image, corner);
    const unsigned here = colours_of(coarse);
    for (unsigned along = 1; along < block_colours; ++along)
      if (const Coordinates step = displacement(along, corner); set(here, along) && !std::ranges::count(found, step))
        found.push_back(step);
  }
  return found;
}

CoarseProbe::CoarseProbe(const Transfer& transfer, const LinearOperator& m)
    : transfer_(&transfer),
      m_(&m),
      in_(transfer.fine_field(probes)),
      out_(in_.like()),
      coarse_(transfer.coarse_field(probes)),
      image_(transfer, probes) {}

void CoarseProbe::take_units(int first, int pattern) {
  transfer_->spread(image_, first, pattern);
  transfer_->from_blocks(in_, image_);
}

void CoarseProbe::apply(Transfer::Blocks& image) {
  m_->apply(out_, in_, Dagger::no);
  transfer_->to_blocks(image, out_);
}

bool CoarseProbe::comes_to_outermost(const Transfer::Blocks& other, int mu, int step) const {
  SpinorField layer = coarse_.like();
  transfer_->restrict_difference(layer, image_, other, mu, step, true);
  const Blas blas(layer);
  const auto all = [](const std::vector<double>& norms) { return std::accumulate(norms.begin(), norms.end(), 0.0); };
  const double whole = all(blas.norms2(coarse_));
  return all(blas.residuals(coarse_, layer)) < 1e-6 * whole;
}

void CoarseProbe::by_signs(const std::vector<CoupledBlocks*>& to) {
  Transfer::Blocks other(*transfer_, probes);
  std::array<bool, 2 * directions> outermost{};  // of the faces, from what the first of the vectors show
  for (int first = 0; first < 2 * transfer_->vectors(); first += probes) {
    take_units(first, 0);
    apply(image_);
    transfer_->restrict_to(coarse_, image_);
    for (CoupledBlocks* part : to) part->own.add(0, first, 1, coarse_);
    for (int mu = 0; mu < directions; ++mu) {
      transfer_->alternate(in_, mu == 0 ? 1 : 3 << (mu - 1));  // in direction mu, and not in the one before any more
      apply(other);
      for (const int step : {+1, -1}) {
        bool& near = outermost[static_cast<std::size_t>(2 * mu + (step < 0))];
        transfer_->restrict_difference(coarse_, image_, other, mu, step, near);
        if (first == 0) near = comes_to_outermost(other, mu, step);
        for (CoupledBlocks* part : to) {
          part->hops.add(2 * mu + (step < 0), first, 0.5, coarse_);
          part->own.add(0, first, -0.5, coarse_);
        }
      }
    }
  }
}

void CoarseProbe::by_colours(const std::vector<CoupledBlocks*>& to, const CoarseStencil& stencil) {
  struct Target {
    SiteMatrices* matrices;
    Memory points;
  };
  std::vector<Target> targets;
  const Domain& domain = *transfer_->coarse_domain();
  const auto add_target = [&](SiteMatrices& matrices, const CoarseStencil& points) {
    targets.push_back({&matrices, on_device(domain.device_pointer(), points_of(matrices, domain.lattice(), points))});
  };
  for (CoupledBlocks* part : to) {
    add_target(part->own, {Coordinates{}});
    add_target(part->hops, stencil);
  }
  for (int first = 0; first < 2 * transfer_->vectors(); first += probes)
    for (int colour = 0; colour < block_colours; ++colour) {
      take_units(first, one_colour + colour);
      apply(image_);
      for (int corner = 0; corner < block_corners; ++corner) {
        transfer_->restrict_corner(coarse_, image_, corner);
        for (const Target& t : targets)
          t.matrices->add(
              static_cast<const int*>(t.points.data()) + (colour * block_corners + corner) * t.matrices->sites().size(),
              first, coarse_);
      }
    }
}

}  // namespace quarksmith
