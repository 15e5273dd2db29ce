/// \file
/// A discretisation of the Dirac operator as solvers see it: parameters that make operators in each precision.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "solvers/linear_operator.hpp"

namespace quarksmith {

/// On which sites the method works.
enum class Reduction { none, symmetric, asymmetric };

/// An operator on the even sites whose systems stand for those of the full matrix M (T. A. DeGrand and P. Rossi,
/// Comput. Phys. Commun. 60 (1990) 211).
class ReducedOperator : public LinearOperator {
 public:
  Subset subset() const override { return Subset::even; }
  /// Right-hand side of the reduced system; `b` holds all sites.
  virtual void prepare(SpinorField& reduced, const SpinorField& b) const = 0;
  /// Solution of M x = b from that of the reduced system.
  virtual void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const = 0;
  /// About |residual of M| / |residual of the reduced system|: what a tolerance is divided by.
  virtual double residual_scale() const { return 1; }
  /// True if it is Hermitian and positive: conjugate gradients work on it as it stands.
  virtual bool hermitian() const { return false; }
};

/// One action in one precision on a device. Operators refer to it.
class DiracOperator {
 public:
  virtual ~DiracOperator() = default;
  /// M on all sites.
  virtual const LinearOperator& matrix() const = 0;
  /// Its even-odd form for up to `rhs` right-hand sides; `form` is not Reduction::none.
  /// \throws UsageError the action does not have that form.
  virtual std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const = 0;
  /// The operator of this rank's part alone: hops that leave it find zero (M. Luescher, Comput. Phys. Commun. 156
  /// (2004) 209).
  /// \throws UsageError the action cannot be cut, which is what the default says.
  virtual std::unique_ptr<DiracOperator> cut() const;
  /// Fields of half the sites that each right-hand side of a reduced operator needs as work space.
  virtual int work_fields() const { return 1; }

  /// True if vectors are not quark fields in four dimensions: `embed` and `project` lead there and back.
  virtual bool embeds() const { return false; }
  /// Right-hand side of M x = b for a quark source in four dimensions; the default copies it.
  virtual void embed(SpinorField& b, const SpinorField& source) const;
  /// Four-dimensional quark field of a solution; the default copies it.
  virtual void project(SpinorField& quark, const SpinorField& x) const;
};

/// The links of a solver in all storages, in the gauge in which it works.
class LinkStore {
 public:
  /// \param gauge outlives this.
  /// \param storage,basis of the kernels.
  LinkStore(const HostGauge& gauge, DomainPointer domain, std::string storage, std::string basis);
  const HostGauge& gauge() const { return *gauge_; }
  const DomainPointer& domain() const { return domain_; }
  const std::string& storage() const { return storage_; }
  const BasisInfo& basis() const { return *basis_; }
  /// Made anew at each call, as the storage or another one says.
  std::shared_ptr<LinkField> store(std::string_view precision, std::string_view storage) const;
  std::shared_ptr<LinkField> store(std::string_view precision) const { return store(precision, storage_); }
  /// With 18 doubles, kept until `release`: what site terms are made from.
  const LinkField& plain() const;
  /// What make() returns, made when first asked for by that name and kept until `release`: fields that actions derive
  /// from the links once for all precisions.
  template <class Made, class Make>
  const Made& derived(const std::string& name, const Make& make) const {
    std::shared_ptr<void>& kept = derived_[name];
    if (!kept) kept = std::make_shared<Made>(make());
    return *static_cast<const Made*>(kept.get());
  }
  void release() const {
    plain_.reset();
    derived_.clear();
  }

 private:
  const HostGauge* gauge_;
  DomainPointer domain_;
  std::string storage_;
  const BasisInfo* basis_;
  mutable std::shared_ptr<LinkField> plain_;
  mutable std::map<std::string, std::shared_ptr<void>> derived_;
};

/// The parameters of a discretisation.
class Action {
 public:
  virtual ~Action() = default;
  virtual std::string name() const = 0;
  /// Of a vector; see SpinorField.
  virtual int spins() const { return 4; }
  virtual int slices() const { return 1; }
  /// Sites of the longest hop: what the domain of a solver is made for.
  virtual int reach() const { return 1; }
  /// The operator for fields of a precision.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add.
  virtual std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const = 0;
};

}  // namespace quarksmith
