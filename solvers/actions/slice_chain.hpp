/// \file
/// Matrices along the fifth dimension, as the kernels of generator/operators/slices.py take them.
#pragma once

#include <array>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// The two chiralities: parts of the spins in the order of generator/operators/domain_wall.py.
inline constexpr int chiralities = 2;
enum class Chirality { minus, plus };

/// A matrix over slices for each chirality: diagonal_s psi_s + shifted_s psi_{s+1} for P_-, psi_{s-1} for P_+, where
/// slice Ls is slice 0.
struct SliceMatrix {
  std::array<std::vector<Complex64>, chiralities> diagonal, shifted;

  /// The zero matrix.
  explicit SliceMatrix(int slices);
  /// alpha_s + beta_s R with R psi_s = P_- psi_{s+1} + P_+ psi_{s-1}, times wall_s where R passes an end of the slices.
  SliceMatrix(const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta,
              const std::vector<Complex64>& wall);
  static SliceMatrix one(int slices);

  int slices() const { return static_cast<int>(diagonal[0].size()); }
  std::vector<Complex64>& operator()(Chirality c) { return diagonal[int(c)]; }
};

/// Coefficients of a chain for one slice and chirality (runtime/kernels/slices.hpp).
struct ChainStep {
  Complex64 own, take, give, keep, close;
};

/// A matrix numerator denominator^-1 as a recursion along the slices: with y = denominator^-1 x, the number carried to
/// slice s is k_s = y_{s+1} (P_-) or y_{s-1} (P_+), and y_s = (x_s - shifted_s k_s) / diagonal_s and the result follow
/// from x_s and k_s alone. The first k, which the recursion returns to its start, is a sum over all slices.
class SliceChain {
 public:
  /// \throws UsageError the denominator has no inverse.
  SliceChain(const SliceMatrix& numerator, const SliceMatrix& denominator);

  /// The Hermitian conjugate: the chain runs the other way, with conjugate coefficients and take and give exchanged.
  SliceChain adjoint() const;
  /// Whether some coefficient is not real.
  bool is_complex() const;
  int slices() const { return static_cast<int>(step[0].size()); }

  std::array<std::vector<ChainStep>, chiralities> step;

 private:
  SliceChain() = default;
  void close();
  bool adjoint_ = false;
};

/// A chain, or its conjugate, in memory that kernels read: in the arithmetic precision of `precision`.
Memory store(const SliceChain& chain, const std::shared_ptr<Device>& device, const PrecisionInfo& precision,
             bool as_complex);

}  // namespace quarksmith
