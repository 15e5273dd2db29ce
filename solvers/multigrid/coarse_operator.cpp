#include "solvers/multigrid/coarse_operator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {
namespace {

constexpr int points = 1 + 2 * directions;  ///< the site itself, then (+mu, -mu)
constexpr int probes = 12;                  ///< right-hand sides of a probe

}  // namespace

class CoarseOperator::Reduced final : public LinearOperator {
 public:
  explicit Reduced(const CoarseOperator& c) : c_(&c) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
    SpinorField even = c_->even_.columns(0, in.rhs()), odd = c_->odd_.columns(0, in.rhs()),
                other = c_->other_.columns(0, in.rhs());
    c_->hops_[1].apply(odd, 0, nullptr, 1, in);
    c_->inverse_[1].apply(other, 0, nullptr, 1, odd);
    c_->hops_[0].apply(even, 0, nullptr, 1, other);
    c_->inverse_[0].apply(out, 1, &in, -1, even);
  }
  Subset subset() const override { return Subset::even; }
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
      even_(half(Subset::even, rhs)),
      odd_(half(Subset::odd, rhs)),
      other_(odd_.like()),
      reduced_(std::make_unique<Reduced>(*this)) {
  const Lattice& lattice = domain_->lattice();
  const SpinorField like = field();
  for (const Parity parity : {Parity::even, Parity::odd}) {
    own_[int(parity)] = SiteMatrices(like, parity, parity, 1, [](long long i, int) { return i; });
    inverse_[int(parity)] = SiteMatrices(like, parity, parity, 1, [](long long i, int) { return i; });
    auto border = lattice.parts() > 1 ? std::make_unique<CoarseBorder>(like, opposite(parity)) : nullptr;
    const auto neighbour = [&lattice, beyond = border.get()](long long i, int p) {
      const int mu = p / 2, step = p % 2 == 0 ? 1 : -1;
      return beyond != nullptr ? beyond->neighbour(i, mu, step) : lattice.neighbour(i, mu, step);
    };
    hops_[int(parity)] = SiteMatrices(like, parity, opposite(parity), points - 1, neighbour, std::move(border));
  }
  reserve(rhs);
  probe(transfer, fine);
  invert();
  if (packed)
    for (const int parity : {0, 1}) {
      own_[parity].pack();
      inverse_[parity].pack();
      hops_[parity].pack();
    }
  verify(transfer, fine, packed ? 1e-2 : precision_->word_bytes == 8 ? 1e-10 : 1e-3);
}

/// The matrices of all sites, from M on P of unit vectors.
void CoarseOperator::probe(const Transfer& transfer, const LinearOperator& fine) {
  SpinorField in = transfer.fine_field(probes), out = in.like(), coarse = transfer.coarse_field(probes);
  Transfer::Blocks plain(transfer, probes), other(transfer, probes);
  const auto apply_to_units = [&](Transfer::Blocks& image, int first, int mask) {
    transfer.spread(image, first, mask);
    transfer.from_blocks(in, image);
    fine.apply(out, in, Dagger::no);
    transfer.to_blocks(image, out);
  };
  const auto add = [&](std::array<SiteMatrices, 2>& to, int point, int first, double b) {
    for (const int parity : {0, 1}) to[parity].add(point, first, b, coarse);
  };
  for (int first = 0; first < rows_; first += probes) {
    apply_to_units(plain, first, 0);
    transfer.restrict_to(coarse, plain);
    add(own_, 0, first, 1);
    for (int mu = 0; mu < directions; ++mu) {
      apply_to_units(other, first, 1 << mu);
      for (const int step : {+1, -1}) {
        transfer.restrict_difference(coarse, plain, other, mu, step);
        add(hops_, 2 * mu + (step < 0), first, 0.5);
        add(own_, 0, first, -0.5);
      }
    }
  }
}

void CoarseOperator::invert() {
  for (const int parity : {0, 1}) {
    inverse_[parity].copy(own_[parity]);
    if (!inverse_[parity].invert())
      throw Error("multigrid: the matrix of a coarse site is singular; use another number of vectors");
  }
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
                    "(P^+ M P is missed by {:.1e} with nearest neighbours); use larger blocks, or bicgstab",
                    miss));
}

CoarseOperator::~CoarseOperator() = default;

void CoarseOperator::reserve(int rhs) {
  for (const int parity : {0, 1})
    for (const SiteMatrices* m : {&hops_[parity], &own_[parity], &inverse_[parity]}) m->reserve(rhs);
  if (even_.rhs() >= rhs) return;
  even_ = half(Subset::even, rhs);
  odd_ = half(Subset::odd, rhs);
  other_ = odd_.like();
}

void CoarseOperator::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
  for (const Parity parity : {Parity::even, Parity::odd}) {
    own_[int(parity)].apply(out, 0, nullptr, 1, in);
    hops_[int(parity)].apply(out, 1, &out, 1, in);
  }
}

double CoarseOperator::flops() const {
  return 8.0 * points * rows_ * rows_ * static_cast<double>(domain_->lattice().global_sites());
}

double CoarseOperator::bytes(int rhs) const {
  double sum = 2.0 * rhs * rows_ * precision_->word_bytes * 2 * static_cast<double>(domain_->lattice().sites());
  for (const int parity : {0, 1}) sum += static_cast<double>(hops_[parity].bytes() + own_[parity].bytes());
  return sum;
}

const LinearOperator& CoarseOperator::reduced() const { return *reduced_; }

void CoarseOperator::prepare(SpinorField& reduced, const SpinorField& b) const {
  SpinorField even = even_.columns(0, b.rhs()), odd = odd_.columns(0, b.rhs());
  inverse_[1].apply(odd, 0, nullptr, 1, b);
  hops_[0].apply(even, 1, &b, -1, odd);
  inverse_[0].apply(reduced, 0, nullptr, 1, even);
}

void CoarseOperator::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  SpinorField odd = odd_.columns(0, b.rhs());
  hops_[1].apply(odd, 1, &b, -1, reduced);
  inverse_[1].apply(x, 0, nullptr, 1, odd);
  x.copy_half(Parity::even, reduced);
}

}  // namespace quarksmith
