// Opening of contexts of quarksmith.h, on this process or on ranks of the calling program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "interface/arrays.hpp"
#include "interface/options.hpp"
#include "runs/ranks.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// The ranks of a grid, those of neighbouring x consecutive: their numbers in the caller's communicator.
std::vector<int> order_of(const quarksmith_ranks& r) {
  const std::array<int, directions> axes = permutation(r.axes, "axes");
  std::array<int, directions> stride{};
  int count = 1;
  for (const int mu : axes) {
    if (r.grid[mu] < 1)
      refuse(fmt::format("a grid of {} ranks; use at least 1 in each direction", fmt::join(r.grid, "x")));
    stride[mu] = count;
    count *= r.grid[mu];
  }
  std::vector<int> order;
  for (int n = 0; n < count; ++n) {
    Coordinates at{};
    int rest = n, number = 0;
    for (int mu = 0; mu < directions; ++mu) {
      at[mu] = rest % r.grid[mu];
      rest /= r.grid[mu];
      number += stride[mu] * at[mu];
    }
    order.push_back(r.rank_of == nullptr ? number : r.rank_of(at.data(), r.data));
  }
  return order;
}

/// Opens a device for a lattice that is divided among ranks as the partition says.
void open(const char* device, const Coordinates& global, const Partition& partition, quarksmith_context** context) {
  const Lattice lattice = partition.local_lattice(global);
  CallSession session;
  session.ranks_given = partition.communicator;
  session.device = device;
  session.quiet = true;
  std::shared_ptr<Device> opened;
  try {
    partition.communicator->together([&] { opened = session.open_device(); });
  } catch (const UsageError&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& e) {
    throw StatusError(QUARKSMITH_DEVICE_ERROR, e.what());
  }
  give<Context>(context, std::make_shared<SharedDomain>(
                             std::make_shared<Domain>(lattice, std::move(opened), partition.communicator)));
}

}  // namespace

quarksmith_status quarksmith_ranks_init(quarksmith_ranks* ranks) {
  return init(__func__, ranks, [](auto& r) {
    r.communicator = -1;
    std::iota(r.axes, r.axes + directions, 0);
  });
}

quarksmith_status quarksmith_open(const char* device, const int extent[4], quarksmith_context** context) {
  return guarded(__func__, [&] {
    require(device, "device");
    require(extent, "extent");
    require(context, "context");
    open(device, {extent[0], extent[1], extent[2], extent[3]}, {}, context);
  });
}

quarksmith_status quarksmith_open_ranks(const char* device, const int extent[4], const quarksmith_ranks* ranks,
                                        quarksmith_context** context) {
  return guarded(__func__, [&] {
    require(device, "device");
    require(extent, "extent");
    require(context, "context");
    const auto& r = require_struct(ranks, "quarksmith_ranks");
    const Coordinates grid = {r.grid[0], r.grid[1], r.grid[2], r.grid[3]};
    Coordinates global;
    for (int mu = 0; mu < directions; ++mu) global[mu] = extent[mu] * grid[mu];
    const auto communicator = Communicator::of(r.communicator, order_of(r));
    const std::string_view target = std::string_view(device).substr(0, std::string_view(device).find(':'));
    runs::require_same(*communicator,
                       fmt::format("{}, {} on {}", target, fmt::join(extent, extent + 4, "x"), fmt::join(grid, "x")),
                       "device, local lattice or grid", "pass the same on all");
    open(device, global, {communicator, grid}, context);
  });
}

quarksmith_status quarksmith_split(quarksmith_context* context, const int groups[4], quarksmith_context** part) {
  return call<Context>(__func__, "context", context, [&](Context& c, Agreement& agree) {
    require(groups, "groups");
    require(part, "part");
    agree(std::vector(groups, groups + directions));
    const Coordinates counts = {groups[0], groups[1], groups[2], groups[3]};
    const auto made = std::make_shared<RankGroups>(c.lattice(), c.shared->domain->communicator_pointer(), counts);
    std::shared_ptr<Device> device;  // of its own: contexts run concurrently
    c.ranks().together([&] { device = Device::select(c.device().name()); });
    const auto shared =
        std::make_shared<SharedDomain>(std::make_shared<Domain>(made->lattice(), std::move(device), made->ranks()));
    shared->groups = made;
    give<Context>(part, shared);
  });
}

quarksmith_status quarksmith_gauge_split(quarksmith_gauge* gauge, quarksmith_context* part, quarksmith_gauge** split) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    const auto to = operand<Context>(part, "part");
    require(split, "split");
    const auto& groups = to->shared->groups;
    if (groups == nullptr || groups->all_ranks() != g.shared->domain->communicator_pointer() ||
        groups->of_all() != g.lattice())
      refuse("part is no context that quarksmith_split made of that of gauge; make it so");
    if (!g.fields.empty()) refuse("gauge has fields of actions; give them to the links of part instead");
    agree();
    const HostGauge& whole = g.given.host();
    HostGauge links(groups->lattice(), whole.colours());
    const std::vector<const Complex64*> to_all(std::size_t(groups->count()), whole.site.at(0));
    groups->hand_out(whole.site.each(), to_all, links.site.at(0));
    links.phase = g.given.phase();
    give<Gauge>(split, to->shared, std::move(links), g.spread);
  });
}

quarksmith_status quarksmith_use_stream(quarksmith_context* context, void* stream) {
  return call<Context>(__func__, "context", context, [&](Context& c) { c.device().follow(stream); });
}

quarksmith_status quarksmith_pool_init(quarksmith_pool* pool) { return init(__func__, pool); }

quarksmith_status quarksmith_use_pool(quarksmith_context* context, const quarksmith_pool* pool) {
  return call<Context>(__func__, "context", context, [&](Context& c) {
    const quarksmith_pool p = require_struct(pool, "quarksmith_pool");
    require(p.allocate, "allocate");
    require(p.release, "release");
    c.device().use({[p](std::size_t bytes, void* stream) { return p.allocate(bytes, stream, p.data); },
                    [p](void* memory, void* stream) { p.release(memory, stream, p.data); }});
  });
}
