/// \file
/// A block Krylov space of a Hermitian operator that is restarted from its best vectors.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/block_blas.hpp"

namespace quarksmith {

/// Sizes: most vectors of the basis, besides one block; vectors of a block; most vectors that a restart takes.
struct SpaceSize {
  int basis, block, taken;
};

/// Thick-restart Lanczos iteration with full reorthogonalisation (K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22
/// (2000) 602), of blocks: A V = V H + Q B E^+, V the locked and the active vectors, Q the next block, E the columns
/// of the last one, (V, Q) orthonormal. Locked vectors are eigenvectors to the tolerance: all others are kept
/// orthogonal to them, and H does not include them. If a block loses rank, random vectors replace the missing ones, so
/// that eigenvalues of higher multiplicity than the block width are found.
class KrylovSpace {
 public:
  /// \param a Hermitian, for `size.block` right-hand sides in double; outlives this.
  KrylovSpace(const LinearOperator& a, SpaceSize size, std::uint64_t seed);

  /// Replaces the active vectors by a random block.
  void begin();
  /// Replaces the active vectors by a block of random combinations of the best `count` of them.
  void begin_from_best(int count);
  /// Applies A until the basis is full, or spans all there is. \return Ritz values of A, descending, and for each
  /// |A v - theta v| of its vector v.
  struct Ritz {
    Eigen::VectorXd values, residuals;
    int size() const { return static_cast<int>(values.size()); }
  };
  Ritz fill();
  /// Locks the best `lock` Ritz vectors, and restarts from the next `keep`.
  void restart(int lock, int keep);
  /// Sets the best `count` active vectors aside until the basis is full again.
  void set_aside(int count);
  /// Locks up to `count` of the vectors set aside, or else of the best active ones, and drops the others. May also be
  /// called after `a` has thrown.
  void lock_best(int count);
  /// Drops a locked vector, whose place the last one takes, and the active ones; to be followed by begin().
  void unlock(int n);
  /// Locks the component of a vector orthogonal to the locked ones, if it is longer than `least`; drops the active
  /// ones.
  void lock_rest(const SpinorField& x, double least);
  /// Most vectors that `restart` takes.
  int most_taken() const { return rotated_.rhs(); }

  int locked() const { return locked_; }
  /// Whether the basis spans the whole space.
  bool is_complete() const { return pending_ == 0; }
  /// The basis, locked vectors first.
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
