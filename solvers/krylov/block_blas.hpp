/// \file
/// Inner products and combinations of all right-hand sides of fields, by the generated kernels of blocks.
#pragma once

#include "solvers/krylov/dense.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A field of several right-hand sides as a matrix X with these columns. Kernels take columns four at a time: fields
/// have memory for multiples of four, and columns beyond the width of a matrix are set to zero, or to the columns of Z.
class BlockBlas {
 public:
  /// \param a operator whose vectors are worked on. \param numbers most elements of a padded matrix. \param places
  /// number of matrices that are staged together. \throws UsageError the build lacks one of the kernels.
  BlockBlas(const LinearOperator& a, std::size_t numbers, int places = 1);

  static constexpr int padded(int columns) { return (columns + group - 1) / group * group; }

  /// X^+ Y for the first columns of both.
  Dense dot(const SpinorField& x, int x_columns, const SpinorField& y, int y_columns) const;
  /// Copies matrices to the device; the n-th gets place n.
  void stage(std::initializer_list<const Dense*> matrices);
  /// Y = X M with the matrix staged at `place`; Y must not be X.
  void product(const SpinorField& x, SpinorField& y, const Dense& m, int place = 0) const;
  /// Y = Z + X M; Z may be Y.
  void update(const SpinorField& x, const SpinorField& z, SpinorField& y, const Dense& m, int place = 0) const;
  /// Orthonormalises the first `width` columns: Q' = Q T with Q'^+ Q' = 1 and Q = Q' S. `width` becomes the rank, the
  /// number of rows of S. \param work a field like Q, swapped with it. \param cut,scaled see factorise().
  void orthonormalise(SpinorField& q, SpinorField& work, int& width, Dense& s, double cut, bool scaled);
  /// Seconds for which orthonormalise has computed on the host.
  double host_seconds() const { return host_seconds_; }

 private:
  static constexpr int group = 4;  // runtime/kernels/block.hpp
  void combine(const Kernel& kernel, const SpinorField& x, const SpinorField* z, SpinorField& y, const Dense& m,
               int place) const;

  std::size_t numbers_;
  const Kernel *dot_, *product_, *update_;
  Memory matrix_;
  double host_seconds_ = 0;
};

}  // namespace quarksmith
