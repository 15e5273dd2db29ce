#include "solvers/actions/stored_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// |C| |C^-1| beyond which the inverse has no digits to rely on.
constexpr double worst_condition = 1e12;

const PrecisionInfo& high() { return find_precision("double"); }

const Kernel& kernel_in_double(const Domain& domain, std::string_view operation) {
  return find(domain.device().kernels(), {.operation = operation, .precision = "double"});
}

/// diagonal + sum_k c_k S_k F_k at all sites.
TermField sum_of_blocks(const ActionValues& values, const StatementFields& fields, double diagonal) {
  std::vector<const LinkField*> matrices;
  for (const int field : fields_of_blocks(values.info())) matrices.push_back(fields[field].get());
  const Domain& domain = matrices[0]->domain();
  TermField term(matrices[0]->domain_pointer(), high());
  Arguments a = arguments_for(domain, term.lanes());
  set_blocks(a, values, matrices);
  a.out = term.operand();
  a.c.re = diagonal;
  domain.device().run(kernel_in_double(domain, fmt::format("term_{}", values.info().blocks_of)), a);
  return term;
}

/// factor exp(exponent) + diagonal
TermField exponential(const TermField& exponent, double factor, double diagonal) {
  const Domain& domain = exponent.domain();
  const Kernel& kernel = kernel_in_double(domain, "exp_term");
  TermField term(exponent.domain_pointer(), high());
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, term.lanes());
    a.parity = int(parity);
    a.term = exponent.operand(parity);
    a.out = term.operand(parity);
    a.a.re = factor;
    a.c.re = diagonal;
    domain.device().run(kernel, a);
  }
  return term;
}

/// Whole blocks plus those of a field of kind given_term, packed as the latter.
HostGauge sum_of(const std::vector<HostTerm>& blocks, HostGauge packed) {
#pragma omp parallel for schedule(static)
  for (std::size_t x = 0; x < blocks.size(); ++x) {
    auto* reals = reinterpret_cast<double*>(packed.site.at(x));
    for (const auto& h : blocks[x]) {
      for (int i = 0; i < 6; ++i) *reals++ += h[7 * i].real();
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) {
          *reals++ += h[6 * i + j].real();
          *reals++ += h[6 * i + j].imag();
        }
    }
  }
  return packed;
}

std::vector<HostTerm> constant_term(const Lattice& lattice, double number) {
  HostTerm term{};
  for (auto& block : term)
    for (int i = 0; i < 6; ++i) block[7 * i] = number;
  return std::vector<HostTerm>(static_cast<std::size_t>(lattice.sites()), term);
}

/// The root of the mean square of a row.
double size_of(const HostGauge& packed, Communicator& communicator) {
  double sum = 0;
  for (std::size_t x = 0; x < packed.site.size(); ++x)
    for (int n = 0; n < 36; ++n) sum += (n % 18 < 3 ? 1 : 2) * std::norm(packed.site.at(x)[n]);
  std::vector<double> sums = {sum};
  communicator.sum(sums);
  return std::sqrt(sums[0] / (12.0 * double(packed.lattice.global_sites())));
}

TermField stored(TermField term, const PrecisionInfo& precision) {
  return precision.word_bytes == 8 ? std::move(term) : encode_term(term, precision);
}

}  // namespace

std::vector<int> fields_of_blocks(const ActionInfo& info) {
  std::vector<int> fields;
  for (const SiteBlock& block : info.blocks)
    if (std::find(fields.begin(), fields.end(), block.field) == fields.end()) fields.push_back(block.field);
  return fields;
}

void set_blocks(Arguments& a, const ActionValues& values, const std::vector<const LinkField*>& fields) {
  Operand* const operands[] = {&a.x, &a.y, &a.z, &a.w, &a.more[0], &a.more[1], &a.more[2], &a.more[3]};
  for (std::size_t n = 0; n < fields.size(); ++n) *operands[n] = fields[n]->operand();
  const auto blocks = values.info().blocks;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    ComplexScalar& pair = a.numbers[k / 2];
    (k % 2 == 0 ? pair.re : pair.im) = values(blocks[k].number);
  }
}

bool StoredTerm::is_part_of(const ActionValues& values) {
  const auto blocks = values.info().blocks;
  return std::any_of(blocks.begin(), blocks.end(), [&](const SiteBlock& b) { return values(b.number) != 0; });
}

TermField StoredTerm::blocks_of(const ActionValues& values, const StatementFields& fields,
                                std::optional<TermField>& exponent) {
  const ActionInfo& info = values.info();
  const double diagonal = values(info.diagonal);
  if (!info.exponential) return sum_of_blocks(values, fields, diagonal);
  exponent.emplace(sum_of_blocks(values, fields, 0));
  return exponential(*exponent, values(info.exponential), diagonal);
}

StoredTerm::Double StoredTerm::build(const ActionValues& values, const StatementFields& fields,
                                     std::optional<double> shift, const GivenField* added, const DomainPointer& on) {
  std::optional<TermField> exponent, own;
  if (added == nullptr || is_part_of(values)) own.emplace(blocks_of(values, fields, exponent));
  double size = 0;
  if (added != nullptr) {
    const HostGauge all =
        sum_of(own ? download(*own) : constant_term(on->lattice(), values(values.info().diagonal)), added->links);
    size = size_of(all, on->communicator());
    own.emplace(upload_term(all, on));
  }
  const DomainPointer domain = own->domain_pointer();
  const Kernel& invert = kernel_in_double(*domain, shift ? "invert_twisted_term" : "invert_term");
  Double d{std::move(*own), TermField(domain, high()), {}, std::move(exponent), {}, size};
  if (shift) d.factor.emplace(domain, high());
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(*domain, d.term.lanes());
    a.parity = int(parity);
    a.term = d.term.operand(parity);
    a.out = d.inverse.operand(parity);
    if (shift) {
      a.y = d.factor->operand(parity);
      a.a.re = *shift;
    }
    d.log_det[int(parity)] = reduce(*domain, invert, a)[0];
  }
  // At a site where C is singular up to rounding no digit of the inverse is right.
  const double condition = domain->communicator().largest(d.term.largest() * d.inverse.largest());
  if (!(condition < worst_condition)) d.log_det.fill(-std::numeric_limits<double>::infinity());
  return d;
}

StoredTerm::StoredTerm(const ActionValues& values, const StatementFields& fields, const PrecisionInfo& precision,
                       std::optional<double> shift, const GivenField* added, const DomainPointer& domain)
    : StoredTerm(build(values, fields, shift, added, domain), precision) {}

StoredTerm::StoredTerm(Double d, const PrecisionInfo& precision)
    : log_det_(d.log_det),
      size_(d.size),
      term_(stored(std::move(d.term), precision)),
      inverse_(stored(std::move(d.inverse), precision)),
      exponent_(std::move(d.exponent)) {
  if (d.factor) factor_.emplace(stored(std::move(*d.factor), precision));
  term_.domain().device().synchronize();
}

StoredTerm::StoredTerm(const StoredTerm& high, const PrecisionInfo& precision)
    : log_det_(high.log_det_),
      size_(high.size_),
      term_(encode_term(high.term_, precision)),
      inverse_(encode_term(high.inverse_, precision)) {
  if (high.factor_) factor_.emplace(encode_term(*high.factor_, precision));
}

}  // namespace quarksmith
