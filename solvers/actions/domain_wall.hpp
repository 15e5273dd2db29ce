/// \file
/// Domain-wall fermions (Y. Shamir, Nucl. Phys. B 406 (1993) 90) and their Moebius form (R. C. Brower, H. Neff and K.
/// Orginos, Comput. Phys. Commun. 220 (2017) 1, arXiv:1206.5214).
#pragma once

#include "solvers/actions/hopping_term.hpp"
#include "solvers/actions/slice_transform.hpp"

namespace quarksmith {

/// Building blocks of operators with a fifth dimension, in one precision: M = A + h H B, where the hopping term H stays
/// in a slice, and A = alpha + beta R and B = b + c R act at a site. All numbers come from the action's statement.
class DomainWallHopping {
 public:
  explicit DomainWallHopping(HoppingTerm hopping);
  /// See HoppingTerm::dirichlet.
  DomainWallHopping dirichlet() const;

  /// out = H in, and out = a x + b H in, slice by slice.
  void hop(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const;
  void hop(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
           Dagger dagger) const;
  const HoppingTerm& hopping() const { return hopping_; }
  const ActionValues& values() const { return hopping_.values(); }
  const ActionInfo& info() const { return values().info(); }
  int slices() const { return values().slices(); }
  double h() const { return info().h; }
  /// Any matrix along the fifth dimension for its fields.
  SliceTransform transform(const SliceMatrix& numerator, const SliceMatrix& denominator) const;
  SliceTransform transform(const SliceMatrix& m) const { return transform(m, SliceMatrix::one(slices())); }

  /// B is left out where it is 1, as for Shamir's form; the others are A, A^-1 and B A^-1.
  bool has_b() const { return b_ != nullptr; }
  const SliceTransform& b() const { return *b_; }
  const SliceTransform& a() const { return *a_; }
  const SliceTransform& a_inverse() const { return *a_inverse_; }
  const SliceTransform& b_a_inverse() const { return *b_a_inverse_; }
  /// Flops of H on one parity of a vector: alone, or a x + b H.
  double flops(bool axpby) const;
  double bytes_sent() const { return hopping_.bytes_sent() * slices(); }
  long long half_sites() const { return hopping_.domain()->lattice().global_sites() / 2; }

 private:
  HoppingTerm hopping_;
  std::shared_ptr<const SliceTransform> b_, a_, a_inverse_, b_a_inverse_;
};

/// M = A + h H B on all sites.
class DomainWallMatrix final : public DiracMatrix {
 public:
  explicit DomainWallMatrix(const DomainWallHopping& parts);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return parts_->hopping().domain(); }
  const PrecisionInfo& precision() const override { return parts_->hopping().precision(); }
  int slices() const override { return parts_->slices(); }
  double flops() const override;
  double bytes_sent() const override { return 2 * parts_->bytes_sent(); }

 private:
  const DomainWallHopping* parts_;
  mutable std::optional<SpinorField> work_;  // work space for one vector; none for Shamir's form
};

/// Even-odd forms in four dimensions, on the even sites. Symmetric: 1 - h^2 H_eo C H_oe C with C = B A^-1, whose
/// unknown is A x_e: the matrix preconditioned from the right, so that its residual is that of M and the last step of
/// an application is a hop. Asymmetric: A - h^2 H_eo C H_oe B.
class DomainWallEvenOdd final : public EvenOddOperator {
 public:
  /// \param rhs right-hand sides at most.
  DomainWallEvenOdd(const DomainWallHopping& parts, EvenOddForm form, int rhs = 1);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  const DomainPointer& domain() const override { return parts_->hopping().domain(); }
  const PrecisionInfo& precision() const override { return parts_->hopping().precision(); }
  int slices() const override { return parts_->slices(); }
  double flops() const override;
  double bytes_sent() const override { return 2 * parts_->bytes_sent(); }

  /// b_e - h H_eo C b_o
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  /// x_o = A^-1 (b_o - h H_oe B x_e)
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;

 private:
  void apply_plain(SpinorField& out, const SpinorField& in) const;
  void apply_conjugate(SpinorField& out, const SpinorField& in) const;
  SpinorField completed(const SpinorField& even, Dagger dagger) const;

  const DomainWallHopping* parts_;
  EvenOddForm form_;
  mutable SpinorField odd_;
};

/// The domain-wall operators in one precision.
class DomainWallDirac final : public DiracOperator {
 public:
  DomainWallDirac(std::shared_ptr<const ActionFields> fields, DomainWallHopping parts)
      : fields_(std::move(fields)), parts_(std::move(parts)), matrix_(parts_) {}
  const DomainWallHopping& parts() const { return parts_; }
  const ActionFields& fields() const override { return *fields_; }
  const DomainWallMatrix& matrix() const override { return matrix_; }
  std::unique_ptr<EvenOddOperator> even_odd_operator(EvenOddForm form, int rhs,
                                                     Parity kept = Parity::even) const override;
  std::unique_ptr<DiracOperator> dirichlet() const override;

  bool embeds() const override { return true; }
  /// P_+ of the source on the first slice and P_- on the last, times what multiplies -R in M: 1 - c_s D_W for Moebius
  /// fermions (arXiv:1206.5214).
  void embed(SpinorField& b, const SpinorField& source) const override;
  /// q = P_- psi_0 + P_+ psi_{Ls-1}
  void project(SpinorField& quark, const SpinorField& x) const override;
  /// The quark field in the middle of the fifth dimension, P_- psi_{Ls/2} + P_+ psi_{Ls/2-1}, of which the density J_5q
  /// is made that breaks the axial Ward identity (V. Furman and Y. Shamir, Nucl. Phys. B 439 (1995) 54).
  void midpoint(SpinorField& quark, const SpinorField& x) const override;

 private:
  void take_slice(SpinorField& quark, const SpinorField& x, int slice) const;
  std::shared_ptr<const ActionFields> fields_;
  DomainWallHopping parts_;
  DomainWallMatrix matrix_;
};

}  // namespace quarksmith
