#include "solvers/actions/clover.hpp"

#include <cmath>

#include "runtime/ranks/bordered.hpp"
#include "runtime/error.hpp"

namespace quarksmith {

namespace {

/// T by the kernel, at all sites of the links' domain.
TermField term_of(const LinkField& links, double space, double time, double diagonal) {
  const Domain& domain = links.domain();
  const Kernel& build_term =
      find(domain.device().kernels(), {.operation = "clover_term", .precision = "double", .links = "r18"});
  TermField term(links.domain_pointer(), find_precision("double"));
  Arguments a = arguments_for(domain, links.lanes());
  a.links = links.operand();
  a.out = term.operand();
  a.a.re = space;
  a.b.re = time;
  a.c.re = diagonal;
  domain.device().run(build_term, a);
  return term;
}

/// The same of a part of a lattice, whose leaves reach into neighbouring parts: made on the part with a border.
TermField term_of_part(const BorderedPart& part, const LinkField& links, double space, double time, double diagonal) {
  TermField term(links.domain_pointer(), find_precision("double"));
  part.cut(stored_sites(term_of(part.read(links, true), space, time, diagonal)), stored_sites(term));
  return term;
}

}  // namespace

CloverTerm::Double CloverTerm::build(const LinkField& links, double space, double time, double diagonal,
                                     std::optional<double> shift) {
  const Domain& domain = links.domain();
  const Kernel& invert = find(domain.device().kernels(),
                              {.operation = shift ? "invert_twisted_term" : "invert_term", .precision = "double"});
  constexpr BorderDepth leaves{{1, 1, 1, 1}, true};
  const BorderedPart* part = domain.bordered(leaves, links.precision().element_bytes, "the clover term");
  Double d{part != nullptr ? term_of_part(*part, links, space, time, diagonal) : term_of(links, space, time, diagonal),
           TermField(links.domain_pointer(), find_precision("double")),
           {},
           {}};
  if (shift) d.factor.emplace(links.domain_pointer(), find_precision("double"));
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, links.lanes());
    a.parity = int(parity);
    a.term = d.term.operand(parity);
    a.out = d.inverse.operand(parity);
    if (shift) {
      a.y = d.factor->operand(parity);
      a.a.re = *shift;
    }
    d.log_det[int(parity)] = reduce(domain, invert, a)[0];
  }
  if (!std::isfinite(d.log_det[0] + d.log_det[1]))
    throw Error("the clover term is singular at a site; use another mass or clover coefficient");
  return d;
}

namespace {

TermField stored(TermField term, const PrecisionInfo& precision) {
  return precision.word_bytes == 8 ? std::move(term) : encode_term(term, precision);
}

}  // namespace

CloverTerm::CloverTerm(const LinkField& links, double space, double time, double diagonal,
                       const PrecisionInfo& precision, std::optional<double> shift)
    : CloverTerm(build(links, space, time, diagonal, shift), precision) {}

CloverTerm::CloverTerm(Double d, const PrecisionInfo& precision)
    : log_det_(d.log_det),
      term_(stored(std::move(d.term), precision)),
      inverse_(stored(std::move(d.inverse), precision)) {
  if (d.factor) factor_.emplace(stored(std::move(*d.factor), precision));
  term_.domain().device().synchronize();
}

CloverTerm::CloverTerm(const CloverTerm& high, const PrecisionInfo& precision)
    : log_det_(high.log_det_),
      term_(encode_term(high.term_, precision)),
      inverse_(encode_term(high.inverse_, precision)) {
  if (high.factor_) factor_.emplace(encode_term(*high.factor_, precision));
}

}  // namespace quarksmith
