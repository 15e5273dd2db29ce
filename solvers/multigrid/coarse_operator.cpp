#include "solvers/multigrid/coarse_operator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {

/// On even sites, X the matrices of the sites themselves: 1 - X_ee^-1 C_eo X_oo^-1 C_oe. On all: 1 + X^-1 C.
class CoarseOperator::EvenOdd final : public LinearOperator {
 public:
  explicit EvenOdd(const CoarseOperator& c) : c_(&c) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
    const auto &first = c_->parts_.front(), &last = c_->parts_.back();
    SpinorField product = c_->product_.columns(0, in.rhs());
    if (subset() == Subset::full) {
      first.matrices.hops.apply(product, 0, nullptr, 1, in);
      first.inverse.apply(out, 1, &in, 1, product);
      return;
    }
    SpinorField odd = c_->odd_->columns(0, in.rhs()), other = c_->other_->columns(0, in.rhs());
    last.matrices.hops.apply(odd, 0, nullptr, 1, in);
    last.inverse.apply(other, 0, nullptr, 1, odd);
    first.matrices.hops.apply(product, 0, nullptr, 1, other);
    first.inverse.apply(out, 1, &in, -1, product);
  }
  Subset subset() const override { return c_->product_.subset(); }
  const DomainPointer& domain() const override { return c_->domain_; }
  const PrecisionInfo& precision() const override { return *c_->precision_; }
  int slices() const override { return c_->slices_; }
  double flops() const override { return c_->flops(); }

 private:
  const CoarseOperator* c_;
};

CoarseOperator::CoarseOperator(const Transfer& transfer, const LinearOperator& fine, int rhs, bool packed)
    : domain_(transfer.coarse_domain()),
      precision_(&transfer.precision()),
      slices_(transfer.coarse_slices()),
      rows_(2 * transfer.vectors()),
      stencil_(stencil_of(transfer, fine)),
      product_(on(changes_parity(stencil_) ? Subset::even : Subset::full, rhs)),
      even_odd_(std::make_unique<EvenOdd>(*this)) {
  if (product_.subset() == Subset::full) {
    parts_.push_back(make_part(Subset::full, Subset::full));
  } else {
    parts_.push_back(make_part(Subset::even, Subset::odd));
    parts_.push_back(make_part(Subset::odd, Subset::even));
  }
  reserve(rhs);
  std::vector<CoupledBlocks*> all;
  for (Part& part : parts_) all.push_back(&part.matrices);
  has_corners(stencil_) ? CoarseProbe(transfer, fine).by_colours(all, stencil_)
                        : CoarseProbe(transfer, fine).by_signs(all);
  for (Part& part : parts_) {
    part.inverse.copy(part.matrices.own);
    if (!part.inverse.invert())
      throw Error("multigrid: the matrix of a coarse site is singular; use another number of vectors");
    if (!packed) continue;
    part.matrices.own.pack();
    part.inverse.pack();
    part.matrices.hops.pack();
  }
  verify(transfer, fine, packed ? 1e-2 : precision_->word_bytes == 8 ? 1e-10 : 1e-3);
}

CoarseOperator::Part CoarseOperator::make_part(Subset to, Subset from) const {
  const Lattice& lattice = domain_->lattice();
  const SpinorField like = field();
  const auto itself = [](long long i, int) { return i; };
  auto border = lattice.ranks() > 1 ? std::make_unique<CoarseBorder>(like, from, has_corners(stencil_)) : nullptr;
  const auto neighbour = [&lattice, this, beyond = border.get()](long long i, int p) {
    const Coordinates& step = stencil_[static_cast<std::size_t>(p)];
    return beyond != nullptr ? beyond->neighbour(i, step) : neighbour_at(lattice, i, step);
  };
  return {{SiteMatrices(like, to, to, 1, itself),
           SiteMatrices(like, to, from, static_cast<int>(stencil_.size()), neighbour, std::move(border))},
          SiteMatrices(like, to, to, 1, itself)};
}

void CoarseOperator::verify(const Transfer& transfer, const LinearOperator& fine, double limit) const {
  SpinorField v = field(), expected = field(), found = field();
  draw(v, find_basis("degrand_rossi"), 1);
  SpinorField psi = transfer.fine_field(1), chi = psi.like();
  transfer.prolong(psi, v);
  fine.apply(chi, psi, Dagger::no);
  transfer.restrict_to(expected, chi);
  apply(found, v, Dagger::no);
  const Blas blas(found);
  const double norm = blas.norm2(expected), miss = std::sqrt(blas.residual(expected, found) / norm);
  if (!(miss < limit))
    throw UsageError(
        fmt::format("multigrid: the operator couples blocks that do not touch, or hops further than half a block "
                    "(P^+ M P is missed by {:.1e} with {} neighbours of a block); use larger blocks, or bicgstab",
                    miss, stencil_.size()));
}

CoarseOperator::~CoarseOperator() = default;

void CoarseOperator::reserve(int rhs) {
  for (const Part& part : parts_)
    for (const SiteMatrices* m : {&part.matrices.own, &part.matrices.hops, &part.inverse}) m->reserve(rhs);
  if (product_.rhs() < rhs) product_ = on(product_.subset(), rhs);
  if (product_.subset() == Subset::full || (odd_ && odd_->rhs() >= rhs)) return;
  odd_.emplace(on(Subset::odd, rhs));
  other_.emplace(odd_->like());
}

void CoarseOperator::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
  for (const Part& part : parts_) {
    part.matrices.own.apply(out, 0, nullptr, 1, in);
    part.matrices.hops.apply(out, 1, &out, 1, in);
  }
}

double CoarseOperator::flops() const {
  return 8.0 * static_cast<double>(1 + stencil_.size()) * rows_ * rows_ *
         static_cast<double>(domain_->lattice().global_sites());
}

double CoarseOperator::bytes(int rhs) const {
  double sum = 2.0 * rhs * rows_ * precision_->word_bytes * 2 * static_cast<double>(domain_->lattice().sites());
  for (const Part& part : parts_) sum += static_cast<double>(part.matrices.hops.bytes() + part.matrices.own.bytes());
  return sum;
}

const LinearOperator& CoarseOperator::even_odd_operator() const { return *even_odd_; }

void CoarseOperator::prepare(SpinorField& reduced, const SpinorField& b) const {
  if (product_.subset() == Subset::full) return parts_[0].inverse.apply(reduced, 0, nullptr, 1, b);
  SpinorField even = product_.columns(0, b.rhs()), odd = odd_->columns(0, b.rhs());
  parts_[1].inverse.apply(odd, 0, nullptr, 1, b);
  parts_[0].matrices.hops.apply(even, 1, &b, -1, odd);
  parts_[0].inverse.apply(reduced, 0, nullptr, 1, even);
}

void CoarseOperator::source(SpinorField& b, const SpinorField& reduced) const {
  parts_[0].matrices.own.apply(b, 0, nullptr, 1, reduced);
}

void CoarseOperator::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  if (product_.subset() == Subset::full) return x.copy_from(reduced);
  SpinorField odd = odd_->columns(0, b.rhs());
  parts_[1].matrices.hops.apply(odd, 1, &b, -1, reduced);
  parts_[1].inverse.apply(x, 0, nullptr, 1, odd);
  x.copy_half(Parity::even, reduced);
}

}  // namespace quarksmith
