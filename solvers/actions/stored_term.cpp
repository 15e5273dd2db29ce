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

StoredTerm::Double StoredTerm::build(const ActionValues& values, const StatementFields& fields,
                                     std::optional<double> shift) {
  const ActionInfo& info = values.info();
  const double diagonal = values(info.diagonal);
  std::optional<TermField> exponent;
  if (info.exponential) exponent.emplace(sum_of_blocks(values, fields, 0));
  TermField term =
      exponent ? exponential(*exponent, values(info.exponential), diagonal) : sum_of_blocks(values, fields, diagonal);
  const DomainPointer domain = term.domain_pointer();
  const Kernel& invert = kernel_in_double(*domain, shift ? "invert_twisted_term" : "invert_term");
  Double d{std::move(term), TermField(domain, high()), {}, std::move(exponent), {}};
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
                       std::optional<double> shift)
    : StoredTerm(build(values, fields, shift), precision) {}

StoredTerm::StoredTerm(Double d, const PrecisionInfo& precision)
    : log_det_(d.log_det),
      term_(stored(std::move(d.term), precision)),
      inverse_(stored(std::move(d.inverse), precision)),
      exponent_(std::move(d.exponent)) {
  if (d.factor) factor_.emplace(stored(std::move(*d.factor), precision));
  term_.domain().device().synchronize();
}

StoredTerm::StoredTerm(const StoredTerm& high, const PrecisionInfo& precision)
    : log_det_(high.log_det_),
      term_(encode_term(high.term_, precision)),
      inverse_(encode_term(high.inverse_, precision)) {
  if (high.factor_) factor_.emplace(encode_term(*high.factor_, precision));
}

}  // namespace quarksmith
