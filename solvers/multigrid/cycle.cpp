#include "solvers/multigrid/cycle.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {
long long DirectSolve::unknowns(const LinearOperator& a) {
  return a.domain()->lattice().global_sites() * parities(a.subset()) / 2 * a.slices() * spinor_numbers;
}

DirectSolve::DirectSolve(const LinearOperator& a) {
  const Lattice& lattice = a.domain()->lattice();
  const std::vector<long long> sites = sites_in_memory(a.field(1));
  if (lattice.ranks() > 1)
    throw UsageError(
        fmt::format("multigrid: a direct solve is for a whole lattice, not for {} of {}; use coarsest_steps",
                    lattice.text(), lattice.global_text()));
  if (unknowns(a) > most_unknowns)
    throw UsageError(
        fmt::format("multigrid: {} unknowns of the coarsest level are too many for a direct solve (at most "
                    "{}); use more levels, or coarsest = \"gcr:100\"",
                    unknowns(a), most_unknowns));
  const SpinorField like(a.domain(), a.precision(), Subset::full, 1, {}, a.slices());
  inverse_ = SiteMatrices(like, a.subset(), a.subset(), static_cast<int>(sites.size()),
                          [&](long long, int p) { return sites[static_cast<std::size_t>(p)]; });
  inverse_.probe(a);
  const bool regular = inverse_.invert();
  SpinorField v = a.field(1), x = v.like(), again = v.like();
  draw(v, find_basis("degrand_rossi"), 1);
  apply(x, v, 1);
  a.apply(again, x, Dagger::no);
  const Blas blas(v);
  const double miss = std::sqrt(blas.residual(v, again) / blas.norm2(v));
  if (!regular || !(miss < (a.precision().word_bytes == 8 ? 1e-8 : 0.1)))
    throw Error(
        fmt::format("multigrid: the coarsest operator is singular (A A^-1 v = v is missed by {:.1e}); use another "
                    "number of vectors",
                    miss));
}

void DirectSolve::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField to = out.columns(0, width);
  inverse_.apply(to, 0, nullptr, 1, in.columns(0, width));
}

void EvenOddSolve::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField b = b_.columns(0, width), x = x_.columns(0, width), full = out.columns(0, width);
  const SpinorField full_b = in.columns(0, width);
  system_->prepare(b, full_b);
  reduced_->apply(x, b, width);
  system_->reconstruct(full, x, full_b);
}

void Converted::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField low = in_.columns(0, width), result = out_.columns(0, width), to = out.columns(0, width);
  convert_(in.columns(0, width), low);
  k_->apply(result, low, width);
  convert_(result, to);
}

Cycle::Cycle(const EvenOddSystem& system, const Transfer& transfer, std::unique_ptr<Preconditioner> coarse,
             std::unique_ptr<Preconditioner> smoother, int rhs)
    : system_(&system),
      transfer_(&transfer),
      coarse_(std::move(coarse)),
      smoother_(std::move(smoother)),
      coarse_b_(transfer.coarse_field(rhs)),
      coarse_x_(coarse_b_.like()),
      r_(system.even_odd_operator().field(rhs)),
      x_(r_.like()),
      blas_(r_) {
  transfer.reserve(rhs);
}

void Cycle::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField b = coarse_b_.columns(0, width), c = coarse_x_.columns(0, width), r = r_.columns(0, width),
              x = x_.columns(0, width), sum = out.columns(0, width);
  const SpinorField given = in.columns(0, width);
  system_->source(r, given);
  transfer_->restrict_to(b, r);
  coarse_->apply(c, b, width);
  transfer_->prolong(x, c);
  system_->even_odd_operator().apply(r, x, Dagger::no);
  blas_.axpby(1, given, -1, r);
  smoother_->apply(sum, r, width);
  blas_.axpby(1, x, 1, sum);
}

}  // namespace quarksmith
