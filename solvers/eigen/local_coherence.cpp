#include "solvers/eigen/local_coherence.hpp"

#include <algorithm>

#include "solvers/krylov/dense.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {
namespace {

/// Pivots of a Gram matrix below which a vector adds nothing to the others.
constexpr double dependent = 1e-10;

SpinorField fields_like(const SpinorField& like, int rhs) {
  return {like.domain_pointer(), like.precision(), like.subset(), rhs, like.components(), like.slices()};
}

/// Vectors become these combinations of them.
void combine(std::vector<std::vector<Complex64>>& vectors, const Dense& m) {
  const auto size = static_cast<Eigen::Index>(vectors[0].size());
  std::vector<std::vector<Complex64>> all(static_cast<std::size_t>(m.cols()),
                                          std::vector<Complex64>(vectors[0].size()));
  for (Eigen::Index j = 0; j < m.cols(); ++j) {
    Eigen::Map<Eigen::VectorXcd> sum(all[std::size_t(j)].data(), size);
    for (Eigen::Index i = 0; i < m.rows(); ++i)
      sum += m(i, j) * Eigen::Map<const Eigen::VectorXcd>(vectors[std::size_t(i)].data(), size);
  }
  vectors = std::move(all);
}

}  // namespace

LocalCoherence::LocalCoherence(const LinearOperator& full, const BasisInfo& basis, const Coordinates& block,
                               int vectors)
    : transfer_(full, basis, block, vectors),
      lattice_(full.domain()->lattice()),
      slices_(full.slices()),
      of_block_(2 * vectors),
      per_column_(slices_ * block[0] * block[1] * block[2] * block[3] * spinor_numbers / of_block_) {}

SpinorField LocalCoherence::on_all_sites(const SpinorField& v) const {
  SpinorField full = transfer_.fine_field(v.rhs());
  if (v.subset() == Subset::full) {
    full.copy_from(v);
  } else {
    full.fill(0);
    full.copy_half(Parity::even, v);
  }
  return full;
}

void LocalCoherence::from_all_sites(SpinorField& v, const SpinorField& full) const {
  v.subset() == Subset::full ? v.copy_from(full) : v.copy_half(Parity::even, full);
}

void LocalCoherence::take_basis(const SpinorField& v) { transfer_.keep(on_all_sites(v)); }

std::vector<double> LocalCoherence::compress(const SpinorField& v, int count, const LinearOperator& a) {
  take_basis(v.columns(0, vectors()));
  coefficients_.clear();
  SpinorField coarse = transfer_.coarse_field(1);
  for (int n = 0; n < count; ++n) {
    transfer_.restrict_to(coarse, on_all_sites(v.columns(n, 1)));
    coefficients_.push_back(numbers_of(coarse, 0));
  }
  const SpinorField all = expand(v);
  SpinorField image = all.like();
  image.fill(0);
  for (int n = 0; n < count; ++n) {
    SpinorField one = image.columns(n, 1);
    a.apply(one, all.columns(n, 1), Dagger::no);
  }
  const BlockBlas blas(a, 1);
  const Dense t = factorise(blas.dot(all, count, all, count), dependent, false).t;
  const Dense h = t.adjoint() * blas.dot(all, count, image, count) * t;
  const HermitianEigen ritz = eigen_of((h + h.adjoint()) / 2);
  combine(coefficients_, t * ritz.vectors);
  return {ritz.values.begin(), ritz.values.end()};
}

SpinorField LocalCoherence::expand(const SpinorField& like) const {
  const int count = static_cast<int>(coefficients_.size());
  SpinorField all = fields_like(like, BlockBlas::padded(count));
  all.fill(0);
  SpinorField coarse = transfer_.coarse_field(1), full = transfer_.fine_field(1);
  for (int n = 0; n < count; ++n) {
    set_numbers(coarse, 0, coefficients_[std::size_t(n)]);
    transfer_.prolong(full, coarse);
    SpinorField to = all.columns(n, 1);
    from_all_sites(to, full);
  }
  return all;
}

SpinorField LocalCoherence::basis_vectors(const SpinorField& like) const {
  SpinorField all = fields_like(like, vectors());
  SpinorField coarse = transfer_.coarse_field(1), full = transfer_.fine_field(1);
  for (int n = 0; n < vectors(); ++n) {
    Numbers unit(static_cast<std::size_t>(transfer_.coarse_domain()->lattice().sites()) * of_block_);
    const int first = n / chiral_numbers * spinor_numbers + n % chiral_numbers;
    for (std::size_t b = 0; b < unit.size(); b += std::size_t(of_block_))
      unit[b + first] = unit[b + first + chiral_numbers] = 1;
    set_numbers(coarse, 0, unit);
    transfer_.prolong(full, coarse);
    SpinorField to = all.columns(n, 1);
    from_all_sites(to, full);
  }
  return all;
}

/// Calls `visit(vector, number, slice, site, component)` for each coefficient of a column.
template <class Visit>
void LocalCoherence::visit(int column, int count, const Visit& visit) const {
  const Lattice& blocks = transfer_.coarse_domain()->lattice();
  const Coordinates& size = block();
  const int sites = size[0] * size[1] * size[2] * size[3];
  const int first = column * per_column_, end = std::min(first + per_column_, count);
  for (long long b = 0; b < blocks.sites(); ++b) {
    const Coordinates y = blocks.coordinates(b);
    for (int place = 0; place < (end - first) * of_block_; ++place) {
      const int slice = place / (sites * spinor_numbers), inside = place % (sites * spinor_numbers);
      Coordinates x;
      int rest = inside / spinor_numbers;
      for (int mu = 0; mu < directions; ++mu) {
        x[mu] = y[mu] * size[mu] + rest % size[mu];
        rest /= size[mu];
      }
      visit(first + place / of_block_, static_cast<std::size_t>(b) * of_block_ + place % of_block_, slice,
            lattice_.index(x), inside % spinor_numbers);
    }
  }
}

std::vector<HostSpinor> LocalCoherence::coefficients(int column) const {
  std::vector<HostSpinor> slices(static_cast<std::size_t>(slices_), HostSpinor(lattice_));
  visit(column, static_cast<int>(coefficients_.size()), [&](int v, std::size_t n, int s, long long site, int c) {
    slices[std::size_t(s)].site[std::size_t(site)][std::size_t(c)] = coefficients_[std::size_t(v)][n];
  });
  return slices;
}

void LocalCoherence::take_coefficients(int column, int count, const std::vector<HostSpinor>& slices) {
  const long long blocks = transfer_.coarse_domain()->lattice().sites();
  coefficients_.resize(std::size_t(count), Numbers(static_cast<std::size_t>(blocks) * of_block_));
  visit(column, count, [&](int v, std::size_t n, int s, long long site, int c) {
    coefficients_[std::size_t(v)][n] = slices[std::size_t(s)].site[std::size_t(site)][std::size_t(c)];
  });
}

}  // namespace quarksmith
