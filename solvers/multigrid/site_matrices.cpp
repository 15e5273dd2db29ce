#include "solvers/multigrid/site_matrices.hpp"

#include "runtime/fields/order.hpp"

namespace quarksmith {

SiteMatrices::SiteMatrices(const SpinorField& like, Subset to, Subset from, int points,
                           const std::function<long long(long long site, int point)>& other,
                           std::unique_ptr<CoarseBorder> border)
    : domain_(like.domain_pointer()),
      precision_(&like.precision()),
      to_(to),
      from_(from),
      rows_(like.slices() * spinor_numbers),
      stored_rows_(padded_rows(rows_)),
      points_(points),
      apply_(&kernel("coarse_apply")),
      border_(std::move(border)) {
  const DomainPointer& source = border_ ? border_->domain() : domain_;
  const SpinorField here(domain_, *precision_, to, 1, {}, like.slices()),
      there(source, *precision_, from, 1, {}, like.slices());
  places_ = places_of(here);
  std::vector<int> first, other_first, other_number, from_first,
      number(static_cast<std::size_t>(source->lattice().sites()));
  sites_ = sites_in_memory(here);
  for (const long long i : sites_) {
    first.push_back(first_word(here, domain_->lattice().coordinates(i)));
    for (int p = 0; p < points; ++p) number[other(i, p)] = 1;
  }
  for (const long long i : sites_in_memory(there)) {
    if (number[i] == 0) continue;  // a border has sites that none couples to
    number[i] = static_cast<int>(from_first.size());
    from_first.push_back(first_word(there, source->lattice().coordinates(i)));
  }
  for (const long long i : sites_)
    for (int p = 0; p < points; ++p) {
      other_number.push_back(number[other(i, p)]);
      other_first.push_back(from_first[other_number.back()]);
    }
  other_first.push_back(0);  // kernels look one further
  const auto& device = domain_->device_pointer();
  first_ = on_device(device, first);
  other_first_ = on_device(device, other_first);
  other_ = on_device(device, other_number);
  order_ = SiteOrder(there, from_first);
  panel_ = zeros(device, (sites_.size() * points * rows_ * 2 * stored_rows_ + panel_slack) * precision_->word_bytes);
  failed_ = zeros(device, sizeof(int));
  make_record();
}

const Kernel& SiteMatrices::kernel(const char* name) const {
  return find(domain_->device().kernels(), {.operation = name, .precision = precision_->name});
}

void SiteMatrices::make_record() {
  const Stencil record{.places = places_,
                       .points = points_,
                       .rows = stored_rows_,
                       .first = static_cast<const int*>(first_.data()),
                       .other_first = static_cast<const int*>(other_first_.data()),
                       .other = static_cast<const int*>(other_.data()),
                       .panel = panel_.data(),
                       .packed = static_cast<short*>(packed_.data()),
                       .scale = static_cast<float*>(scale_.data()),
                       .failed = static_cast<int*>(failed_.data())};
  record_ = on_device(domain_->device_pointer(), &record, sizeof record);
}

void SiteMatrices::run(const Kernel& kernel, long long items, int groups,
                       const std::function<void(Arguments&)>& set) const {
  Arguments args = arguments_for(*domain_, 1, groups);
  args.count = items;
  args.matrix = record_.data();
  set(args);
  domain_->device().run(kernel, args);
}

void SiteMatrices::add(int point, int first, double b, const SpinorField& in) {
  Arguments args = arguments_for(*domain_, 1, 1);
  args.direction = point * rows_ + first;
  args.b.re = b;
  add(args, in);
}

void SiteMatrices::add(const int* points, int first, const SpinorField& in) {
  Arguments args = arguments_for(*domain_, 1, 1);
  args.direction = first;
  args.b.re = 1;
  args.y.data = const_cast<int*>(points);
  add(args, in);
}

void SiteMatrices::add(Arguments args, const SpinorField& in) {
  args.count = static_cast<long long>(sites_.size()) * (rows_apart(domain_->device()) ? rows_ : 1);
  args.columns = in.rhs();
  args.matrix = record_.data();
  args.in = operand_on(in, to_);
  domain_->device().run(kernel("add_columns"), args);
}

void SiteMatrices::probe(const LinearOperator& a) {
  const Kernel& units = kernel("set_units");
  SpinorField in = a.field(spinor_numbers), out = in.like();
  for (int p = 0; p < points_; ++p)
    for (int first = 0; first < rows_; first += spinor_numbers) {
      in.fill(0);
      Arguments args = arguments_for(*domain_, 1, 1);
      args.count = spinor_numbers;
      args.direction = first;
      args.skip = p;
      args.matrix = record_.data();
      args.out = operand_on(in, from_);
      domain_->device().run(units, args);
      a.apply(out, in, Dagger::no);
      add(p, first, 1, out);
    }
}

void SiteMatrices::copy(const SiteMatrices& other) {
  domain_->device().copy(panel_.data(), other.panel_.data(), panel_.bytes());
}

/// Gauss-Jordan elimination by blocks; pivots are searched for within a block.
void SiteMatrices::eliminate() {
  Device& device = domain_->device();
  Memory scratch(domain_->device_pointer(), panel_.bytes() / points_ * 2);
  const long long items = rows_apart(device) ? static_cast<long long>(rows_) * stored_rows_ / item_rows : 1;
  const Kernel &invert = kernel("inverse_matrices"), &take = kernel("take_pivots"), &rest = kernel("eliminate_pivots");
  for (int k = 0; k < points_; ++k) {
    const auto step = [&](const Kernel& kernel, long long count, int pivot) {
      run(kernel, count, 1, [&](Arguments& args) {
        args.direction = pivot;
        args.out.data = scratch.data();
      });
    };
    step(invert, column_items(device), k * points_ + k);
    step(take, points_ * items, k);
    step(rest, points_ * points_ * items, k);
  }
  device.synchronize();
}

bool SiteMatrices::invert() {
  if (points_ > 1)
    eliminate();
  else
    run(kernel("inverse_matrices"), static_cast<long long>(sites_.size()) * column_items(domain_->device()), 1,
        [](Arguments&) {});
  int failed = 0;
  domain_->device().download(&failed, failed_.data(), sizeof failed);
  return domain_->communicator().largest(double(failed)) == 0;
}

void SiteMatrices::pack() {
  const auto& device = domain_->device_pointer();
  packed_ = zeros(device, (sites_.size() * points_ * stored_rows_ * 2 * stored_rows_ + panel_slack) * sizeof(short));
  scale_ = zeros(device, (sites_.size() * stored_rows_ + panel_slack) * sizeof(float));
  make_record();
  const auto sites = static_cast<long long>(sites_.size());
  run(kernel("pack_matrices"), rows_apart(*device) ? sites * stored_rows_ : sites, 1, [](Arguments&) {});
  device->synchronize();
  panel_ = {};
  make_record();
  apply_ = &kernel("coarse_apply_packed");
}

/// Whether kernels read vectors in the order of sites, not tile by tile.
bool SiteMatrices::reads_copies() const { return packed_.data() == nullptr || !rows_apart(domain_->device()); }

void SiteMatrices::apply(SpinorField& out, double a, const SpinorField* x, double b, const SpinorField& in) const {
  border_ ? multiply(out, a, x, b, border_->read(in)) : multiply(out, a, x, b, in);
}

/// \param in has the sites of the border.
void SiteMatrices::multiply(SpinorField& out, double a, const SpinorField* x, double b, const SpinorField& in) const {
  const auto sites = static_cast<long long>(sites_.size());
  const bool packed = packed_.data() != nullptr;
  const Operand copy = reads_copies() ? order_.gather(operand_on(in, from_), in.rhs()) : Operand{};
  const int items = packed ? tile_items(out.device(), stored_rows_) : row_items(out.device(), stored_rows_);
  const int groups = packed ? tile_groups(out.device(), out.rhs()) : column_groups(out.device(), out.rhs());
  run(*apply_, sites * items, groups, [&](Arguments& args) {
    args.columns = out.rhs();
    args.a.re = a;
    args.b.re = b;
    args.in = operand_on(in, from_);
    args.y = copy;
    args.out = operand_on(out, to_);
    if (x != nullptr) args.x = operand_on(*x, to_);
  });
}

}  // namespace quarksmith
