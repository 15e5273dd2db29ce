#include "runs/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/slice_chain.hpp"
#include "solvers/krylov/scalars.hpp"

namespace quarksmith::runs {

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<long>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

bool links_before(const Kernel& a, const Kernel& b) {
  return std::pair(a.precision, a.links) < std::pair(b.precision, b.links);
}

void Skipped::add(const Kernel& kernel, const MissingKernel& missing) {
  // The message ends with the row of a profile that asks for what is missing: here in one line.
  std::string row = missing.what();
  row.erase(0, row.find("[[kernel]]\n") + 11);
  while (row.ends_with('\n')) row.pop_back();
  for (std::size_t at; (at = row.find('\n')) != std::string::npos;) row.replace(at, 1, ", ");
  kernels_.emplace_back(kernel.name, row);
}

std::string Skipped::text() const {
  std::map<std::string, std::string> names;
  for (const auto& [name, row] : kernels_) names[row] += (names[row].empty() ? "" : ", ") + name;
  std::string text;
  for (const auto& [row, list] : names)
    text += fmt::format("{}{}, for lack of {}", text.empty() ? "" : "; ", list, row);
  return "skipped: " + text;
}

Json Skipped::json() const {
  Json list = Json::array();
  for (const auto& [name, row] : kernels_) list.push_back({{"name", name}, {"lacks", row}});
  return list;
}

namespace {

/// A tile, or slices of a fifth dimension.
int usual_rhs(const Kernel& kernel) { return kernel.family == "slices" ? 16 : kernel.tile; }

}  // namespace

Workload::Workload(const Kernel& kernel, Fields& fields, int rhs, bool rotate)
    : kernel_(&kernel), fields_(&fields), rhs_(rhs > 0 ? rhs : usual_rhs(kernel)) {
  if (kernel.family == "hopping") {
    prepare_hopping(rotate);
  } else if (kernel.family == "slices") {
    prepare_slices(rotate);
  } else if (kernel.family == "gauge") {
    prepare_gauge();
  } else if (kernel.family == "links") {
    prepare_links();
  } else if (kernel.family == "term") {
    prepare_term();
  } else if (kernel.family == "expression") {
    prepare_expression();
  } else {
    prepare_update();
  }
}

SpinorField Workload::fresh(Subset subset) const {
  return fields_->spinor(kernel_->precision, subset, rhs_, kernel_->spins, kernel_->reach);
}

void Workload::make_buffers(Subset from, bool rotate) {
  const PrecisionInfo& precision = find_precision(kernel_->precision);
  constexpr double beyond_cache = 400e6;
  const double bytes = 2.0 * kernel_->spins * precision.spin_words * kernel_->colours / 3 * precision.word_bytes *
                       rhs_ * fields_->domain()->lattice().half_sites();
  const int buffers = rotate && bytes < beyond_cache ? std::clamp(int(std::ceil(beyond_cache / bytes)), 2, 64) : 1;
  for (int n = 0; n < buffers; ++n) {
    in_.push_back(fresh(from));
    out_.push_back(fresh(Subset::even));
  }
  in_.push_back(fresh(Subset::even));  // x of the epilogue
  arguments_ = arguments_for(*fields_->domain(kernel_->reach), in_[0].lanes(), rhs_);
  arguments_.x = in_.back().operand(Parity::even);
  arguments_.a.re = 0.5;
  arguments_.b.re = -0.25;
}

void Workload::prepare_hopping(bool rotate) {
  make_buffers(Subset::odd, rotate);
  give_terms(find_precision(kernel_->precision).links);
  const HoppingLinks links = fields_->links_of(*kernel_);
  arguments_.links = links.links->operand();
  arguments_.hops = hops_of(fields_->domain()->lattice(), {1, 1, 1, 1}, {1, 1, 1, -1});
  if (links.long_links == nullptr) return;
  constexpr double naik = -1.0 / 24;
  arguments_.long_links = links.long_links->operand();
  arguments_.long_hops = hops_of(fields_->domain()->lattice(), {naik, naik, naik, naik}, {1, 1, 1, -1});
}

void Workload::give_terms(std::string_view precision) {
  if (kernel_->terms > 0) arguments_.term = fields_->term(precision).operand();
  if (kernel_->terms > 1) arguments_.twist = fields_->term(precision, 1).operand();
  arguments_.c = {0.3, 0.2};
}

void Workload::prepare_slices(bool rotate) {
  make_buffers(Subset::even, rotate);
  const std::vector<Complex64> ones(rhs_, 1.0), twos(rhs_, 2.5), walls(rhs_, -0.1);
  const SliceMatrix numerator(ones, ones, walls), denominator(twos, ones, walls);
  const std::shared_ptr<Device>& device = fields_->domain()->device_pointer();
  const SliceChain chain(numerator, denominator);
  memory_ = store(kernel_->dagger ? chain.adjoint() : chain, device, find_precision(kernel_->precision),
                  kernel_->complex_coefficients);
  arguments_.rhs = 1;  // one vector
  arguments_.slices = rhs_;
  arguments_.chain = memory_.data();
}

void Workload::prepare_update() {
  rhs_ = std::max(rhs_, 1);
  for (int n = 0; n < 4; ++n) in_.push_back(fresh(Subset::even));
  arguments_ = arguments_for(*fields_->domain(), in_[0].lanes(), rhs_);
  arguments_.count = in_[0].count();
  arguments_.x = in_[0].operand(), arguments_.y = in_[1].operand();
  arguments_.z = in_[2].operand(), arguments_.w = in_[3].operand();
  arguments_.a = {0.5, 0.1};
  arguments_.b = {0.3, -0.2};
  const SpinorField& x = in_[0];  // v, the sum of corrections
  out_.emplace_back(x.domain_pointer(), computed_in(x.precision()), x.subset(), x.rhs(), x.components());
  out_[0].fill(0);
  arguments_.out = out_[0].operand();
  if (kernel_->slots.empty()) return;
  in_.push_back(fresh(Subset::even));
  arguments_.in = in_[4].operand();
  // Scalars below 1, so that repeated updates stay finite; kernels are timed with all right-hand sides active.
  constexpr int stride = 2 * (most_slots + 2);
  scalars_.resize(static_cast<std::size_t>(rhs_) * stride);
  for (std::size_t n = 0; n < scalars_.size(); ++n) scalars_[n] = 0.5 / double(1 + n % 7);
  for (int n = 0; n < most_slots; ++n) arguments_.slot[n] = static_cast<unsigned char>(n + 2);
  give_scalars(arguments_);
}

void Workload::give_scalars(Arguments& a) {
  memory_ = Memory(fields_->domain()->device_pointer(), scalars_.size() * sizeof(double));
  fields_->domain()->device().upload(memory_.data(), scalars_.data(), memory_.bytes());
  a.scalars = static_cast<double*>(memory_.data());
  a.scalar_stride = static_cast<int>(scalars_.size()) / rhs_;
}

void Workload::prepare_gauge() {
  const LinkField& links = fields_->links(kernel_->precision, kernel_->links);
  arguments_ = arguments_for(*fields_->domain(), links.lanes());
  arguments_.links = links.operand();
  arguments_.a.re = 6.0;
}

void Workload::prepare_links() {
  prepare_gauge();
  const LinkField& links = fields_->links(kernel_->precision, kernel_->links);
  links_.emplace_back(links.domain_pointer(), links.precision(), links.storage());
  arguments_.in = links.operand();
  arguments_.out = links_[0].operand();
}

void Workload::prepare_term() {
  links_.reserve(2);
  const std::string_view precision = find_precision(kernel_->precision).links;
  terms_.emplace_back(fields_->domain(), find_precision(precision));
  in_.push_back(fresh(Subset::even));
  out_.push_back(in_[0].like());
  arguments_ = arguments_for(*fields_->domain(), terms_[0].lanes(), rhs_);
  give_terms(precision);
  arguments_.x = in_[0].operand(Parity::even);
  arguments_.out = out_[0].operand(Parity::even);
  arguments_.a.re = arguments_.b.re = 1;
  const std::string_view name = kernel_->operation;
  if (!name.starts_with("term_") && !name.starts_with("source_")) return;
  arguments_.out = terms_[0].operand();
  arguments_.term = fields_->term(precision).operand();
  arguments_.c.re = 4.5;
  // One field in place of all that are read, or written: what is timed is the traffic.
  const Operand matrices = links_.emplace_back(fields_->copy_of_links(precision, "r18")).operand();
  arguments_.x = arguments_.y = arguments_.z = arguments_.w = matrices;
  for (Operand& more : arguments_.more) more = matrices;
}

void Workload::prepare_expression() {
  const std::string_view links = find_precision(kernel_->precision).links;
  std::vector<ExpressionArgument> arguments;
  const auto parameters = parameters_of(*kernel_);
  in_.reserve(parameters.size());
  links_.reserve(parameters.size());
  for (const ExpressionParameter& p : parameters) {
    if (p.is_number()) {
      arguments.emplace_back(0.1);
    } else if (p.is_direction()) {
      arguments.emplace_back(LatticeDirection{p.operand[0] - '0'});
      round_ = directions;
    } else if (p.is_gamma()) {
      arguments.emplace_back(GammaProduct{15});
    } else if (p.is_propagator()) {
      arguments.emplace_back(in_.emplace_back(
          fields_->spinor(kernel_->precision, Subset::full, 3 * kernel_->spins, kernel_->spins, kernel_->reach)));
    } else if (p.is_spinor()) {
      arguments.emplace_back(in_.emplace_back(fresh(Subset::full)));
    } else if (p.kind == "algebra" || p.kind == "scalars") {  // zeros: SU(3) matrices have no place there
      links_.emplace_back(fields_->domain(), find_precision(links), p.storage(*kernel_)).fill(0);
      arguments.emplace_back(links_.back());
    } else {
      arguments.emplace_back(links_.emplace_back(fields_->copy_of_links(links, p.storage(*kernel_).name)));
    }
    if (p.is_output() && !p.is_spinor()) written_.push_back(links_.size() - 1);
  }
  arguments_ = expression_arguments(*kernel_, arguments);
  along_ = arguments_.direction;
  if (kernel_->sums == 0) return;
  sums_.emplace(fields_->domain(), arguments_.geometry.lanes, kernel_->sums, rhs_);
  arguments_.out = sums_->operand();
}

void Workload::launch(const Kernel& kernel, int call) {
  if (round_ > 1) {  // neighbours along x are near, those along t far: what is timed is the mean
    arguments_.direction = 0;
    for (int shift = 0; shift < 2 * directions; shift += 2)
      arguments_.direction |= ((along_ >> shift) + call) % directions << shift;
  }
  arguments_.random = {1, static_cast<unsigned long long>(call)};
  if (writes_out()) {
    const std::size_t buffer = static_cast<std::size_t>(call) % out_.size();
    arguments_.in = in_[buffer].operand(kernel_->family == "hopping" ? Parity::odd : Parity::even);
    arguments_.out = out_[buffer].operand(Parity::even);
  }
  fields_->domain()->device().run(kernel, arguments_);
}

Arguments Workload::hop() {
  Arguments a = arguments_;
  scalars_.assign(2 * static_cast<std::size_t>(rhs_), 1.0);
  give_scalars(a);
  a.mask = 0;
  a.in = in_[0].operand(Parity::odd);
  a.out = out_[0].operand(Parity::even);
  return a;
}

int Workload::whole_rounds(int calls) const { return (calls + round_ - 1) / round_ * round_; }

Workload::Result Workload::result_of_expression(const Kernel& kernel) {
  Result result;
  if (std::ranges::none_of(parameters_of(kernel), &ExpressionParameter::is_output)) {
    launch(kernel, 0);
    result.sums = sums_->totals();
    return result;
  }
  for (SpinorField& f : in_)
    f.copy_from(fields_->spinor(kernel_->precision, Subset::full, f.rhs(), f.components().spins, kernel_->reach));
  for (const std::size_t n : written_) links_[n].fill(0x3c);  // a number: what another kernel has left proves nothing
  launch(kernel, 0);
  if (sums_) result.sums = sums_->totals();
  for (const SpinorField& f : in_)
    for (int r = 0; r < f.rhs(); ++r)
      download(f, result.fields.emplace_back(f.domain().lattice()), find_basis("degrand_rossi"), r);
  for (const LinkField& f : links_) {
    const HostGauge u = download(f);
    for (int mu = 0; mu < directions; ++mu) {
      HostSpinor& matrices = result.fields.emplace_back(u.lattice);
      for (long long x = 0; x < u.lattice.sites(); ++x) {  // three colours, or numbers that have none
        const std::span<const Complex64> matrix = u.link(x, mu);
        std::copy(matrix.begin(), matrix.end(), matrices.site[static_cast<std::size_t>(x)].begin());
      }
    }
  }
  return result;
}

Workload::Result Workload::result(const Kernel& kernel) {
  Device& device = fields_->domain()->device();
  std::vector<double> sums;
  if (kernel_->family == "expression") return result_of_expression(kernel);
  if (writes_out()) {
    out_[0].fill(0xff);
    launch(kernel, 0);
  } else if (kernel_->family == "update") {
    const SpinorField start = fresh(Subset::even);
    for (SpinorField& f : in_) f.copy_from(start);
    for (SpinorField& f : out_) f.fill(0);
    sums = scalars_;
    if (!sums.empty()) device.upload(memory_.data(), sums.data(), memory_.bytes());
    if (kernel.sums > 0 && kernel.scalar_program.empty()) {
      sums = device.reduce(kernel, arguments_);
    } else {
      device.run(kernel, arguments_);
    }
    if (!scalars_.empty()) device.download(sums.data(), memory_.data(), memory_.bytes());
  } else {
    throw UsageError(std::string(kernel.name) + ": kernels of its family cannot be compared");
  }
  std::vector<HostSpinor> fields;
  const auto take = [&](const SpinorField& f) {
    for (int r = 0; r < rhs_; ++r) {
      fields.emplace_back(f.domain().lattice());
      download(f, fields.back(), find_basis("degrand_rossi"), r);
    }
  };
  if (!out_.empty()) take(out_[0]);  // of several buffers the first alone was written
  if (!writes_out())
    for (const SpinorField& f : in_) take(f);
  return {std::move(fields), std::move(sums)};
}

}  // namespace quarksmith::runs
