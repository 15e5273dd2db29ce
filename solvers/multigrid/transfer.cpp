#include "solvers/multigrid/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {

Transfer::Transfer(const LinearOperator& fine, const BasisInfo& basis, const Coordinates& block, int vectors,
                   bool packed, Parts parts)
    : fine_(fine.domain()),
      precision_(&fine.precision()),
      block_(block),
      vectors_(vectors),
      slices_(fine.slices()),
      sites_(block),
      rows_(padded_rows(vectors)),
      packs_(packed) {
  if (vectors < chiral_numbers || vectors % chiral_numbers != 0 || vectors > most_vectors)
    throw UsageError(fmt::format("multigrid: {} near-null vectors; use a multiple of {} up to {}", vectors,
                                 chiral_numbers, most_vectors));
  if (2 * vectors > sites_.count() * slices_ * spinor_numbers)
    throw UsageError(fmt::format("multigrid: {} near-null vectors on blocks of {} sites with {} numbers; use fewer",
                                 vectors, sites_.count(), slices_ * spinor_numbers));
  const Lattice& lattice = fine_->lattice();
  const Lattice blocks = blocks_of(lattice, block, vectors, parts);
  coarse_ = std::make_shared<Domain>(blocks, fine_->device_pointer(),
                                     blocks.ranks() > 1 ? fine_->communicator_pointer() : Communicator::self());
  for (int mu = 0; mu < directions; ++mu) {
    extent_[mu] = lattice.extent(mu) / block[mu];
    if (block[mu] == 1 && blocks.global_extent(mu) > 2)
      throw UsageError(fmt::format("multigrid: blocks of one site in direction {}, where there are {}; use longer ones",
                                   mu, blocks.global_extent(mu)));
  }
  const auto order = [&](std::string_view name) {
    return &find(fine_->device().kernels(), {.operation = name, .precision = precision_->name, .basis = basis.name});
  };
  to_blocks_ = order("to_blocks");
  from_blocks_ = order("from_blocks");
  place_ = on_device(fine_->device_pointer(), places_in_blocks());
  faces_ = on_device(fine_->device_pointer(), sites_.faces());
  failed_ = zeros(fine_->device_pointer(), sizeof(int));
  number_blocks();
}

/// Finds the places of this rank's blocks in coarse fields, and of those of other ranks.
void Transfer::number_blocks() {
  const Lattice &lattice = fine_->lattice(), &coarse = coarse_->lattice();
  const SpinorField like = coarse_field(1);
  std::vector<int> first;
  std::vector<unsigned char> odd;
  std::vector<long long> sites;
  Coordinates y;
  for (y[3] = 0; y[3] < extent_[3]; ++y[3])
    for (y[2] = 0; y[2] < extent_[2]; ++y[2])
      for (y[1] = 0; y[1] < extent_[1]; ++y[1])
        for (y[0] = 0; y[0] < extent_[0]; ++y[0]) {
          Coordinates x;  // parts that are kept begin at even sites: parities are those of the whole
          for (int mu = 0; mu < directions; ++mu) x[mu] = y[mu] + lattice.origin(mu) / block_[mu] - coarse.origin(mu);
          first.push_back(first_word(like, x));
          odd.push_back(odd_directions(x));
          sites.push_back(coarse.index(x));
        }
  blocks_ = static_cast<long long>(sites.size());
  coarse_first_ = on_device(fine_->device_pointer(), first);
  odd_ = on_device(fine_->device_pointer(), odd);
  order_ = SiteOrder(like, first);
  if (lattice.ranks() > coarse.ranks()) gathering_.emplace(like, fine_->communicator_pointer(), sites);
}

/// For each lane of the blocks of lanes of a field, the number of its site in the order of blocks.
std::vector<int> Transfer::places_in_blocks() {
  const SpinorField like = fine_field(1);
  const Lattice& lattice = fine_->lattice();
  const LaneLayout& layout = fine_->layout(like.lanes());
  const int half = layout.geometry().half_sites, boxes = layout.boxes();
  lane_blocks_ = 2 * half;
  std::vector<int> place(static_cast<std::size_t>(lane_blocks_) * like.lanes());
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    int block_number = 0;
    Coordinates inside;
    for (int mu = directions - 1; mu >= 0; --mu) {
      block_number = block_number * extent_[mu] + x[mu] / block_[mu];
      inside[mu] = x[mu] % block_[mu];
    }
    const int number = block_number * sites_.count() + sites_.number(inside);
    const auto [block, lane] = layout.position(x);
    for (int copy = lane; copy < like.lanes(); copy += boxes)
      place[static_cast<std::size_t>(block + (Lattice::parity(x) == Parity::odd ? half : 0)) * like.lanes() + copy] =
          number;
  }
  return place;
}

/// Steps of tiles in which such sites are.
std::vector<int> Transfer::steps_of(const std::vector<int>& sites) const {
  const auto step = [](int column) { return column / tile_size; };
  std::vector<int> steps;
  for (const int s : sites)
    for (int n = step(s * slices_ * chiral_numbers); n <= step((s + 1) * slices_ * chiral_numbers - 1); ++n)
      if (steps.empty() || steps.back() < n) steps.push_back(n);
  return steps;
}

/// \param count the first of the sites of a block; \param face or those of a face.
/// \param lane_blocks of a slice of fields.
void Transfer::make_view(View& view, int count, int lane_blocks, std::optional<int> face) const {
  const auto& device = fine_->device_pointer();
  std::vector<int> sites;
  if (face) sites = sites_.at(*face);
  if (face && in_tiles()) sites = steps_of(sites);
  view.count = face ? static_cast<int>(sites.size()) : count;
  sites.push_back(0);  // kernels look one further
  if (face) view.sites = on_device(device, sites);
  const BlockVectors record{.coarse = places_of(coarse_field(1)),
                            .slices = slices_,
                            .block_sites = sites_.count(),
                            .rows = rows_,
                            .lane_blocks = lane_blocks,
                            .place = static_cast<const int*>(place_.data()),
                            .coarse_first = static_cast<const int*>(coarse_first_.data()),
                            .panel = panel_.data(),
                            .packed = static_cast<short*>(packed_.data()),
                            .scale = static_cast<float*>(scale_.data()),
                            .site = static_cast<const int*>(view.sites.data()),
                            .sites = view.count,
                            .faces = static_cast<const unsigned*>(face ? faces_.data() : nullptr),
                            .face = face.value_or(0),
                            .odd = static_cast<const unsigned char*>(odd_.data()),
                            .failed = static_cast<int*>(failed_.data())};
  view.record = on_device(device, &record, sizeof record);
}

void Transfer::make_views() {
  make_view(all_, sites_.count(), lane_blocks_);
  make_view(even_, sites_.even_first() ? sites_.count() / 2 : sites_.count(), lane_blocks_ / 2);
  some_ = {};
}

const Transfer::View& Transfer::view_of(const SpinorField& fine) const {
  return fine.subset() == Subset::full ? all_ : even_;
}

Transfer::Blocks::Blocks(const Transfer& t, int rhs) : rhs_(rhs) {
  const long long numbers = t.fine_->lattice().sites() * t.slices_ * 2 * spinor_numbers;
  memory_ = std::make_shared<Memory>(t.fine_->device_pointer(),
                                     static_cast<std::size_t>(numbers) * rhs * t.precision_->word_bytes);
  operand_.data = memory_->data();
  operand_.rhs_stride = numbers;
}

Transfer::Blocks Transfer::Blocks::columns(int count) const {
  Blocks some = *this;
  some.rhs_ = count;
  return some;
}

void Transfer::reserve(int rhs) const {
  if (!work_ || work_->rhs() < rhs) work_.emplace(*this, rhs);
  if (reads_copies()) order_.reserve(rhs);
  if (gathering_) gathering_->reserve(rhs);
}

const Kernel& Transfer::kernel(std::string_view name) const {
  return find(fine_->device().kernels(), {.operation = name, .precision = precision_->name});
}

/// Whether kernels read vectors tile by tile.
bool Transfer::in_tiles() const { return panel_.data() == nullptr && rows_apart(fine_->device()); }

/// Whether the prolongation reads coarse fields in the order of sites.
bool Transfer::reads_copies() const { return rows_apart(fine_->device()) && !in_tiles(); }

int Transfer::groups_of(int columns) const {
  return in_tiles() ? tile_groups(fine_->device(), columns) : column_groups(fine_->device(), columns);
}

void Transfer::look_up(bool packed) {
  spread_ = &kernel(packed ? "spread_vectors_packed" : "spread_vectors");
  restrict_ = &kernel(packed ? "restrict_packed" : "restrict");
  prolong_ = &kernel(packed ? "prolong_packed" : "prolong");
}

void Transfer::reorder(const Kernel& kernel, const View& view, const SpinorField& field, const Operand& in,
                       const Operand& out, int mask) const {
  Arguments a = field.arguments();
  a.skip = mask;
  a.matrix = view.record.data();
  a.in = in;
  a.out = out;
  fine_->device().run(kernel, a);
}

void Transfer::to_blocks(const View& view, Blocks& out, const SpinorField& in) const {
  reorder(*to_blocks_, view, in, in.operand(), out.operand());
}
void Transfer::from_blocks(const View& view, SpinorField& out, const Blocks& in) const {
  reorder(*from_blocks_, view, out, in.operand(), out.operand());
}

void Transfer::alternate(SpinorField& v, int mask) const {
  reorder(kernel("alternate_signs"), all_, v, v.operand(), v.operand(), mask);
}

void Transfer::run(const Kernel& kernel, const View& view, long long items, int columns,
                   const std::function<void(Arguments&)>& set, int groups) const {
  Arguments a = arguments_for(*fine_, 1, groups);
  a.count = items;
  a.columns = columns;
  a.matrix = view.record.data();
  set(a);
  fine_->device().run(kernel, a);
}

void Transfer::prolong(const View& view, Blocks& fine, const SpinorField& coarse) const {
  const Device& device = fine_->device();
  const Operand copy = reads_copies() ? order_.gather(coarse.operand(), coarse.rhs()) : Operand{};
  const long long numbers = (view.count + item_sites - 1) / item_sites * slices_ * spinor_numbers;
  run(
      *prolong_, view,
      blocks_ * (in_tiles()           ? 2 * tile_items(device, rows_)
                 : rows_apart(device) ? numbers
                                      : 1),
      fine.rhs(),
      [&](Arguments& a) {
        a.in = coarse.operand();
        a.y = copy;
        a.out = fine.operand();
      },
      groups_of(fine.rhs()));
}

void Transfer::prolong(SpinorField& fine, const SpinorField& coarse) const {
  reserve(fine.rhs());
  const View& view = view_of(fine);
  Blocks work = work_->columns(fine.rhs());
  prolong(view, work, coarse);
  from_blocks(view, fine, work);
}

void Transfer::restrict_seen(const View& view, SpinorField& coarse, const Blocks& fine, const Blocks* other,
                             int mask) const {
  const Device& device = fine_->device();
  const int items = in_tiles() ? 2 * tile_items(device, rows_) : row_items(device, 2 * rows_);
  run(
      *restrict_, view, blocks_ * items, fine.rhs(),
      [&](Arguments& a) {
        a.in = fine.operand();
        if (other != nullptr) a.x = other->operand();
        a.skip = mask;
        a.out = coarse.operand();
      },
      groups_of(fine.rhs()));
}

void Transfer::restrict_to(const View& view, SpinorField& coarse, const Blocks& fine) const {
  restrict_seen(view, coarse, fine, nullptr, 0);
  complete(coarse);
}

void Transfer::complete(SpinorField& coarse) const {
  if (gathering_) gathering_->complete(coarse);
}

void Transfer::restrict_to(SpinorField& coarse, const SpinorField& fine) const {
  reserve(fine.rhs());
  const View& view = view_of(fine);
  Blocks work = work_->columns(fine.rhs());
  if (fine.subset() != Subset::full && !sites_.even_first())
    fine_->device().fill(work.operand().data, 0,  // odd sites are among those that are read
                         static_cast<std::size_t>(work.operand().rhs_stride) * work.rhs() * precision_->word_bytes);
  to_blocks(view, work, fine);
  restrict_to(view, coarse, work);
}

const Transfer::View& Transfer::some(int face) const {
  std::optional<View>& view = some_[static_cast<std::size_t>(face)];
  if (!view) make_view(view.emplace(), 0, lane_blocks_, face);
  return *view;
}

void Transfer::restrict_difference(SpinorField& coarse, const Blocks& fine, const Blocks& other, int mu, int step,
                                   bool outermost) const {
  const int face = 2 * mu + (step < 0);
  restrict_seen(some(outermost ? BlockSites::whole_faces + face : face), coarse, fine, &other, 1 << mu);
  complete(coarse);
}

void Transfer::restrict_corner(SpinorField& coarse, const Blocks& fine, int corner) const {
  restrict_seen(some(2 * BlockSites::whole_faces + corner), coarse, fine, nullptr, 0);
  complete(coarse);
}

void Transfer::spread(Blocks& fine, int first, int pattern) const {
  run(*spread_, all_, fine_->lattice().sites() * (rows_apart(fine_->device()) ? spread_items : 1), fine.rhs(),
      [&](Arguments& a) {
        a.direction = first;
        a.skip = pattern;
        a.out = fine.operand();
      });
}

/// Near-null vectors number `first` and those that follow.
void Transfer::take(const Blocks& v, int first) {
  run(kernel("keep_vectors"), all_, fine_->lattice().sites() * (rows_apart(fine_->device()) ? v.rhs() : 1), v.rhs(),
      [&](Arguments& a) {
        a.in = v.operand();
        a.direction = first;
      });
}

void Transfer::keep(const SpinorField& v) {
  if (v.rhs() != vectors_) throw UsageError(fmt::format("multigrid: {} near-null vectors, not {}", vectors_, v.rhs()));
  const auto numbers = static_cast<std::size_t>(fine_->lattice().sites()) * slices_ * 2 * spinor_numbers * rows_;
  panel_ = zeros(fine_->device_pointer(), (numbers + panel_slack) * precision_->word_bytes);
  look_up(false);
  make_views();
  Blocks work(*this, vectors_);
  to_blocks(work, v);
  take(work, 0);
  bool again = true;
  for (int pass = 0; again || pass < 2; ++pass) {  // twice is enough where the first pass finds no dependence
    if (pass == 8) throw Error("multigrid: the near-null vectors depend on each other on a block; use fewer of them");
    again = !orthonormalise(work);
  }
  if (packs_) pack();
}

void Transfer::pack() {
  const auto& device = fine_->device_pointer();
  if (packed_.data() == nullptr) {
    const int columns = sites_.count() * slices_ * chiral_numbers;
    packed_ = zeros(device, (static_cast<std::size_t>(blocks_) * 2 * padded_rows(columns) * 2 * rows_ + panel_slack) *
                                sizeof(short));
    scale_ = zeros(device, (static_cast<std::size_t>(blocks_) * 2 * rows_ + panel_slack) * sizeof(float));
  }
  make_views();
  run(kernel("pack_vectors"), all_, rows_apart(*device) ? blocks_ * 2 * rows_ : blocks_ * 2, 1, [](Arguments&) {});
  device->synchronize();
  panel_ = {};
  look_up(true);
  make_views();
}

/// V becomes V T with the inverse T of the Cholesky factor of its Gram matrix on each block. \return whether there is
/// one on all of them, of all ranks.
bool Transfer::orthonormalise(Blocks& work) {
  const auto& device = fine_->device_pointer();
  SpinorField coarse = coarse_field(vectors_);
  restrict_seen(all_, coarse, work, nullptr, 0);
  device->fill(failed_.data(), 0, failed_.bytes());
  run(kernel("factor_gram"), all_, 2 * blocks_, vectors_, [&](Arguments& a) { a.out = coarse.operand(); });
  prolong(work, coarse);
  take(work, 0);
  int failed = 0;
  device->download(&failed, failed_.data(), sizeof failed);
  return fine_->communicator().largest(double(failed)) == 0;
}

double Transfer::bytes(int rhs, Subset fine) const {
  const double all = static_cast<double>(packed_.data() != nullptr ? packed_.bytes() + scale_.bytes() : panel_.bytes());
  const int sites = fine == Subset::full ? all_.count : even_.count;
  return all * sites / sites_.count() + rhs * (static_cast<double>(fine_field(1).bytes_per_rhs()) * parities(fine) / 2 +
                                               static_cast<double>(coarse_field(1).bytes_per_rhs()));
}

}  // namespace quarksmith
