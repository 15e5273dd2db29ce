#include "solvers/multigrid/transfer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/dense.hpp"

namespace quarksmith {
namespace {

/// The lattice of the blocks.
Lattice blocks_of(const Lattice& fine, const Coordinates& block) {
  Coordinates global, position;
  for (int mu = 0; mu < directions; ++mu) {
    if (block[mu] < 1 || fine.extent(mu) % (2 * block[mu]) != 0)
      throw UsageError(
          fmt::format("multigrid: blocks of {}x{}x{}x{} cut {} into no coarse lattice of even extents; use others",
                      block[0], block[1], block[2], block[3], fine.text()));
    global[mu] = fine.global_extent(mu) / block[mu];
    position[mu] = fine.origin(mu) / fine.extent(mu);
  }
  return {global, fine.grid(), position};
}

/// T with (V T)^+ V T = 1 from the Gram matrix of V, upper triangular. A vector that depends on those before it, to the
/// rounding of `least`, is taken as what rounding left of it. \return false if there was one.
bool inverse_factor(const Dense& gram, double least, Dense& t) {
  const int n = gram.rows;
  Dense r(n, n);  // gram = r^+ r
  bool independent = true;
  for (int i = 0; i < n; ++i) {
    double pivot = gram(i, i).real();
    for (int k = 0; k < i; ++k) pivot -= std::norm(r(k, i));
    const double smallest = std::max(least * gram(i, i).real(), 1e-30);
    independent = independent && pivot > smallest;
    r(i, i) = std::sqrt(std::max(pivot, smallest));
    for (int j = i + 1; j < n; ++j) {
      Complex64 sum = gram(i, j);
      for (int k = 0; k < i; ++k) sum -= std::conj(r(k, i)) * r(k, j);
      r(i, j) = sum / r(i, i);
    }
  }
  t = Dense(n, n);
  for (int j = 0; j < n; ++j) {
    t(j, j) = 1.0 / r(j, j);
    for (int i = j - 1; i >= 0; --i) {
      Complex64 sum = 0;
      for (int k = i + 1; k <= j; ++k) sum += r(i, k) * t(k, j);
      t(i, j) = -sum / r(i, i);
    }
  }
  return independent;
}

}  // namespace

Transfer::Transfer(const LinearOperator& fine, const BasisInfo& basis, const Coordinates& block, int vectors)
    : fine_(fine.domain()),
      coarse_(std::make_shared<Domain>(blocks_of(fine_->lattice(), block), fine_->device_pointer(),
                                       fine_->communicator_pointer())),
      precision_(&fine.precision()),
      block_(block),
      vectors_(vectors),
      slices_(fine.slices()),
      block_sites_(block[0] * block[1] * block[2] * block[3]),
      tiles_((vectors + panel_rows - 1) / panel_rows) {
  if (vectors < chiral_numbers || vectors % chiral_numbers != 0 || vectors > most_vectors)
    throw UsageError(fmt::format("multigrid: {} near-null vectors; use a multiple of {} up to {}", vectors,
                                 chiral_numbers, most_vectors));
  if (2 * vectors > block_sites_ * slices_ * spinor_numbers)
    throw UsageError(fmt::format("multigrid: {} near-null vectors on blocks of {} sites with {} numbers; use fewer",
                                 vectors, block_sites_, slices_ * spinor_numbers));
  const auto kernel = [&](std::string_view name) {
    return &find(fine_->device().kernels(), {.operation = name, .precision = precision_->name, .basis = basis.name});
  };
  keep_ = kernel("keep_vectors");
  restrict_ = kernel("restrict");
  prolong_ = kernel("prolong");
  const SpinorField like = fine_field(1), like_coarse = coarse_field(1);
  const Lattice &lattice = fine_->lattice(), &blocks = coarse_->lattice();
  std::vector<int> first, coarse_first;
  for (long long b = 0; b < blocks.sites(); ++b) {
    const Coordinates y = blocks.coordinates(b);
    coarse_first.push_back(first_word(like_coarse, y));
    for (int s = 0; s < block_sites_; ++s) {
      Coordinates x;
      for (int mu = 0, rest = s; mu < directions; rest /= block[mu], ++mu) x[mu] = y[mu] * block[mu] + rest % block[mu];
      first.push_back(first_word(like, x));
    }
  }
  const auto& device = fine_->device_pointer();
  fine_first_ = on_device(device, first);
  coarse_first_ = on_device(device, coarse_first);
  panel_ = Memory(device, static_cast<std::size_t>(lattice.sites()) * slices_ * 2 * tiles_ * chiral_numbers * 2 *
                              panel_rows * precision_->word_bytes);
  device->fill(panel_.data(), 0, panel_.bytes());
  const BlockVectors record{places_of(like),
                            places_of(like_coarse),
                            block_sites_,
                            tiles_,
                            static_cast<const int*>(fine_first_.data()),
                            static_cast<const int*>(coarse_first_.data()),
                            panel_.data()};
  record_ = on_device(device, &record, sizeof record);
}

void Transfer::run(const Kernel& kernel, const SpinorField& out, const SpinorField& in, long long items,
                   int columns) const {
  Arguments a = arguments_for(*fine_, 1, (columns + panel_columns - 1) / panel_columns);
  a.count = items;
  a.columns = columns;
  a.matrix = record_.data();
  a.in = in.operand();
  a.out = out.operand();
  fine_->device().run(kernel, a);
}

void Transfer::prolong(SpinorField& fine, const SpinorField& coarse) const {
  const long long blocks = coarse_->lattice().sites();
  run(*prolong_, fine, coarse, fine.device().short_vectors() ? blocks * block_sites_ : blocks, fine.rhs());
}

void Transfer::restrict_to(SpinorField& coarse, const SpinorField& fine) const {
  const long long blocks = coarse_->lattice().sites();
  run(*restrict_, coarse, fine, fine.device().short_vectors() ? blocks * 2 * tiles_ * panel_rows : blocks, fine.rhs());
}

void Transfer::copy_vectors(const SpinorField& v) {
  Arguments a = arguments_for(*fine_, 1, 1);
  a.count = fine_->lattice().sites();
  a.columns = v.rhs();
  a.matrix = record_.data();
  a.in = v.operand();
  fine_->device().run(*keep_, a);
}

void Transfer::keep(const SpinorField& v) {
  if (v.rhs() != vectors_) throw UsageError(fmt::format("multigrid: {} near-null vectors, not {}", vectors_, v.rhs()));
  copy_vectors(v);
  SpinorField work = v.like();
  bool again = true;
  for (int pass = 0; again || pass < 2; ++pass) {  // twice is enough where the first pass finds no dependence
    if (pass == 8) throw Error("multigrid: the near-null vectors depend on each other on a block; use fewer of them");
    again = !orthonormalise(work);
  }
}

/// V becomes V T with the inverse T of the Cholesky factor of its Gram matrix on each block.
bool Transfer::orthonormalise(SpinorField& work) {
  SpinorField coarse = coarse_field(vectors_);
  const double least = precision_->word_bytes == 8 ? 1e-13 : 1e-5;
  for (int i = 0; i < vectors_; ++i) {  // V is its own right-hand side: what the panels hold
    std::vector<Complex64> unit(static_cast<std::size_t>(coarse_->lattice().sites()) * 2 * vectors_);
    for (std::size_t b = 0; b < unit.size(); b += std::size_t(2) * vectors_)
      for (int chirality = 0; chirality < 2; ++chirality)
        unit[b + i / chiral_numbers * spinor_numbers + chirality * chiral_numbers + i % chiral_numbers] = 1;
    set_numbers(coarse, i, unit);
  }
  prolong(work, coarse);
  restrict_to(coarse, work);
  std::vector<std::vector<Complex64>> columns;
  for (int i = 0; i < vectors_; ++i) columns.push_back(numbers_of(coarse, i));
  bool independent = true;
#pragma omp parallel for schedule(static) reduction(&& : independent)
  for (long long b = 0; b < coarse_->lattice().sites(); ++b)
    for (int chirality = 0; chirality < 2; ++chirality) {
      const auto at = [&](int j) {
        return static_cast<std::size_t>(b * 2 * vectors_ + j / chiral_numbers * spinor_numbers +
                                        chirality * chiral_numbers + j % chiral_numbers);
      };
      Dense gram(vectors_, vectors_), t;
      for (int i = 0; i < vectors_; ++i)
        for (int j = 0; j < vectors_; ++j) gram(j, i) = columns[i][at(j)];
      independent = inverse_factor(gram, least, t) && independent;
      for (int i = 0; i < vectors_; ++i)
        for (int j = 0; j < vectors_; ++j) columns[i][at(j)] = t(j, i);
    }
  for (int i = 0; i < vectors_; ++i) set_numbers(coarse, i, columns[i]);
  prolong(work, coarse);
  copy_vectors(work);
  return independent;
}

}  // namespace quarksmith
