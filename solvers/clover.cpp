#include "solvers/clover.hpp"

#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {

CloverTerm::Double CloverTerm::build(const LinkField& links, double space, double time, double diagonal) {
  const Domain& domain = links.domain();
  const PrecisionInfo& precision = find_precision("double");
  const auto kernels = domain.device().kernels();
  const Kernel& build_term = find(kernels, {.operation = "clover_term", .precision = "double", .links = "r18"});
  const Kernel& invert = find(kernels, {.operation = "invert_term", .precision = "double"});
  Double d{TermField(links.domain_pointer(), precision), TermField(links.domain_pointer(), precision), {}};
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(domain, links.lanes());
    a.parity = int(parity);
    a.links = links.operand();
    a.out = d.term.operand(parity);
    a.a.re = space;
    a.b.re = time;
    a.c.re = diagonal;
    domain.device().run(build_term, a);
    a.term = d.term.operand(parity);
    a.out = d.inverse.operand(parity);
    d.log_det[int(parity)] = domain.device().reduce(invert, a)[0];
  }
  if (!std::isfinite(d.log_det[0] + d.log_det[1]))
    throw Error("the clover term is singular at a site; use another mass or clover coefficient");
  return d;
}

CloverTerm::CloverTerm(const LinkField& links, double space, double time, double diagonal,
                       const PrecisionInfo& precision)
    : CloverTerm(build(links, space, time, diagonal), precision) {}

CloverTerm::CloverTerm(Double d, const PrecisionInfo& precision)
    : log_det_(d.log_det),
      term_(precision.word_bytes == 8 ? std::move(d.term) : encode_term(d.term, precision)),
      inverse_(precision.word_bytes == 8 ? std::move(d.inverse) : encode_term(d.inverse, precision)) {
  term_.domain().device().synchronize();
}

}  // namespace quarksmith
