/// \file
/// A block Krylov space of a Hermitian operator that is restarted from the best of its vectors.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {

/// Vectors of a basis at most, beside one block; of a block; that a restart takes at most.
struct SpaceSize {
  int basis, block, taken;
};

/// Thick-restart Lanczos iteration with full reorthogonalisation (K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22
/// (2000) 602), of blocks: A V = V H + Q B E^+, V the locked and the active vectors, Q the next block, E the columns
/// of the last one, (V, Q) orthonormal. Locked vectors are eigenvectors as good as is asked for: all others are kept
/// orthogonal to them, and H does not know them. Where a block loses rank, random vectors take the place of what
/// vanished: so eigenvalues of a higher multiplicity than the block is wide are found.
class KrylovSpace {
 public:
  /// \param a Hermitian, for `size.block` right-hand sides in double; outlives this.
  KrylovSpace(const LinearOperator& a, SpaceSize size, std::uint64_t seed);

  /// Leaves the active vectors for a random block.
  void begin();
  /// Leaves them for a block of random combinations of the best `count` of them: what those have, and no more.
  void begin_from_best(int count);
  /// Applies A until the basis is full, or spans all there is. \return Ritz values of A, descending, and for each
  /// |A v - theta v| of its vector v.
  struct Ritz {
    Eigen::VectorXd values, residuals;
    int size() const { return static_cast<int>(values.size()); }
  };
  Ritz fill();
  /// The best `lock` Ritz vectors become locked, the next `keep` are what goes on.
  void restart(int lock, int keep);
  /// Keeps so many of the best of them until the basis is full again.
  void set_aside(int count);
  /// Those, or else the best of the active vectors, so many at most, become locked; the others are left. After what `a`
  /// has thrown too.
  void lock_best(int count);
  /// Leaves this locked vector, whose place the last one gets, and the active ones: begin() follows.
  void unlock(int n);
  /// Locks what a vector has beyond the locked ones, if it is longer than `least`; leaves the active ones.
  void lock_rest(const SpinorField& x, double least);
  /// Vectors that `restart` takes at most.
  int most_taken() const { return rotated_.rhs(); }

  int locked() const { return locked_; }
  /// The basis spans all vectors there are.
  bool is_complete() const { return pending_ == 0; }
  /// Locked vectors first.
  SpinorField& basis() { return v_; }
  BlockBlas& block_blas() { return block_blas_; }

 private:
  static int columns(const SpaceSize& s) { return BlockBlas::padded(s.basis + s.block) + BlockBlas::padded(s.block); }
  int used() const { return locked_ + active_ + pending_; }
  void clear();
  void step();
  Dense orthogonalise(SpinorField& w, int width, int against);
  double append(SpinorField& w, int column, Dense* coefficients);
  void fill_up();
  void rotate(const Dense& m);

  const LinearOperator* a_;
  SpaceSize size_;
  std::uint64_t seed_, drawn_ = 0;
  Blas blas_;
  BlockBlas block_blas_;
  SpinorField v_, w_, rotated_;
  int locked_ = 0, active_ = 0, pending_ = 0, last_ = 0;  // last_: columns of the last active block
  int spare_ = 0;                                         // the last vectors of v_
  double scale_ = 0;                                      // of A, as far as it is known
  Dense h_, b_;
  HermitianEigen ritz_;  // ascending
};

}  // namespace quarksmith
