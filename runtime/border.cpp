#include "runtime/border.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "runtime/face.hpp"
#include "runtime/order.hpp"
#include "runtime/partition.hpp"

namespace quarksmith {
namespace {

using Links = std::array<Matrix3, directions>;

/// Unused sites at the end of a direction that is split give the box the lanes of the part: kernels of other lanes
/// round in another way.
Lattice box_of(const Lattice& part) {
  Coordinates extent = part.extent();
  int last = -1;
  for (int mu = 0; mu < directions; ++mu)
    if (part.split(mu)) extent[last = mu] += 2 * Border::width;
  if (last < 0) return Lattice(extent);
  for (int lanes = 2; lanes <= max_lanes && LaneLayout::possible(part, lanes); lanes *= 2)
    while (!LaneLayout::possible(Lattice(extent), lanes)) extent[last] += 2;
  return Lattice(extent);
}

/// Fills the border in direction mu, a slice at a time. Slices reach over the borders of the other directions: after
/// the last direction the corners are right.
void exchange(HostGauge& box, const Lattice& part, int mu, Communicator& communicator) {
  const int w = Border::width, length = part.extent(mu);
  const auto move = [&](int from, int to, int step) {
    std::vector<Links> mine = slice_of(box.lattice, mu, from, [&](long long i) { return box.site[i]; });
    const std::vector<Links> theirs = from_neighbour(part, mu, step, std::move(mine), communicator);
    std::size_t n = 0;
    for (const long long i : slice_of(box.lattice, mu, to, [](long long i) { return i; })) box.site[i] = theirs[n++];
  };
  for (int n = 0; n < w; ++n) {
    move(length + n, n, -1);         // the last slices of the part behind
    move(w + n, length + w + n, 1);  // the first slices of the part ahead
  }
}

}  // namespace

Border::Border(const Lattice& part) : part_(part), box_(box_of(part)) {}

Coordinates Border::inside(Coordinates x) const {
  for (int mu = 0; mu < directions; ++mu) x[mu] += offset(mu);
  return x;
}

HostGauge with_border(const HostGauge& gauge, Communicator& communicator) {
  const Lattice& part = gauge.lattice;
  require_spread(part, communicator);
  const Border border(part);
  HostGauge result(border.box());
  result.phase = gauge.phase;
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < part.sites(); ++i) result.site[border.inside(i)] = gauge.site[i];
  for (int mu = 0; mu < directions; ++mu)
    if (part.split(mu)) exchange(result, part, mu, communicator);
  return result;
}

HostGauge without_border(const HostGauge& box, const Lattice& part) {
  const Border border(part);
  HostGauge result(part);
  result.phase = box.phase;
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < part.sites(); ++i) result.site[i] = box.site[border.inside(i)];
  return result;
}

TermField without_border(const TermField& from, const DomainPointer& domain) {
  const Lattice& part = domain->lattice();
  const Border border(part);
  TermField to(domain, from.precision());
  const MemoryOrder there = order_of(from), here = order_of(to);
  std::vector<double> in(static_cast<std::size_t>(there.words())), out(static_cast<std::size_t>(here.words()));
  std::vector<float> largest(static_cast<std::size_t>(part.sites()));
  from.domain().device().download(in.data(), from.operand().data, in.size() * sizeof(double));
  const LaneLayout &box_layout = from.domain().layout(from.lanes()), &layout = domain->layout(to.lanes());
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < part.sites(); ++i) {
    const Coordinates x = part.coordinates(i);
    const int parity = int(Lattice::parity(x));
    const auto [box_block, box_lane] = box_layout.position(border.inside(x));
    const auto [block, lane] = layout.position(x);
    double most = 0;
    for (int n = 0; n < here.site_words(); ++n) {
      const double word = in[there.word(box_block + parity * there.blocks, box_lane, n)];
      out[here.word(block + parity * here.blocks, lane, n)] = word;
      most = std::max(most, std::abs(word));
    }
    largest[parity * part.half_sites() + block * to.lanes() + lane] = static_cast<float>(most);
  }
  domain->device().upload(to.operand().data, out.data(), out.size() * sizeof(double));
  domain->device().upload(to.operand().norm, largest.data(), largest.size() * sizeof(float));
  return to;
}

}  // namespace quarksmith
