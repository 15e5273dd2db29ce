/// \file
/// A discretisation of the Dirac operator as solvers see it: parameters that make operators in each precision.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/error.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

class ActionValues;
class HoppingTerm;
class DomainWallHopping;

/// On which sites a method works: all, or the even ones in one of two forms (solvers/actions/even_odd.hpp).
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
  /// \throws UsageError the action has none, which is what the default says.
  virtual std::unique_ptr<DiracOperator> dirichlet() const;
  /// Fields of half the sites that each right-hand side of a reduced operator needs as work space.
  virtual int work_fields() const { return 1; }

  /// The parameters of the action.
  virtual const ActionValues& values() const = 0;
  /// D and T of actions of hopping shape in four dimensions; null for others.
  virtual const HoppingTerm* hops() const { return nullptr; }
  /// The same of those with a fifth dimension.
  virtual const DomainWallHopping* walls() const { return nullptr; }

  /// True if vectors are not quark fields in four dimensions: `embed` and `project` lead there and back.
  virtual bool embeds() const { return false; }
  /// Right-hand side of M x = b for a quark source in four dimensions; the default copies it.
  virtual void embed(SpinorField& b, const SpinorField& source) const;
  /// Four-dimensional quark field of a solution; the default copies it.
  virtual void project(SpinorField& quark, const SpinorField& x) const;
  /// The quark field in the middle of a fifth dimension, of actions that have one: Action::has_midpoint.
  /// \throws UsageError there is none, which is what the default says.
  virtual void midpoint(SpinorField& quark, const SpinorField& x) const;
};

/// M in the form that methods iterate with: on all sites, or one of its even-odd forms.
class SystemOperator {
 public:
  /// \param dirac outlives this. \param rhs right-hand sides at most.
  SystemOperator(const DiracOperator& dirac, Reduction reduction, int rhs) : matrix_(&dirac.matrix()) {
    if (reduction != Reduction::none) even_odd_ = dirac.reduced(reduction, rhs);
  }
  const LinearOperator& a() const { return even_odd_ ? *even_odd_ : *matrix_; }
  const LinearOperator& matrix() const { return *matrix_; }
  /// Null on all sites.
  const ReducedOperator* even_odd() const { return even_odd_.get(); }

 private:
  const LinearOperator* matrix_;
  std::unique_ptr<ReducedOperator> even_odd_;
};

/// How far links that were stored and read back are from those that were given, over all links and ranks.
struct LinkDeviation {
  double largest = 0;  ///< |difference| of an element
  double typical = 0;  ///< root mean square of what it does to colour vectors of unit length
  /// Rounding and no more, which eight reals multiply for a few links: residuals do not feel that.
  bool negligible() const { return largest <= 1e-13 && typical <= 3e-15; }
};
/// Relative to the scale of the stored links. \param stored double. Collective.
LinkDeviation deviation_of(const LinkField& stored, const HostGauge& given);

/// The links of a solver in all storages, in the gauge in which it works.
class LinkStore {
 public:
  /// \param gauge outlives this.
  /// \param storage,basis of the kernels.
  /// \param temporal what storages for temporal gauge hold of `gauge`; null: `gauge` itself. It outlives this too.
  LinkStore(const HostGauge& gauge, DomainPointer domain, std::string storage, std::string basis,
            const HostGauge* temporal = nullptr);
  /// Links that are on the device already, with 18 doubles, in SU(3).
  LinkStore(std::shared_ptr<const LinkField> links, std::string storage, std::string basis);
  const HostGauge& gauge() const;
  /// Whether they were given on the device, and what is made of them need not leave it.
  bool on_device() const { return gauge_ == nullptr; }
  const DomainPointer& domain() const { return domain_; }
  const std::string& storage() const { return storage_; }
  const BasisInfo& basis() const { return *basis_; }
  /// The same links in another storage. What is kept is shared.
  LinkStore with(std::string_view storage) const;
  LinkStore exact() const { return with("r18"); }
  /// As the storage or another one says; made anew at each call, but for what is kept.
  std::shared_ptr<const LinkField> store(std::string_view precision, std::string_view storage) const;
  std::shared_ptr<const LinkField> store(std::string_view precision) const { return store(precision, storage_); }
  /// By how much the storage misses the links; collective. What is measured, in double, is kept until `release`.
  LinkDeviation deviation() const;
  /// With 18 doubles, kept until `release`: what site terms are made from.
  const LinkField& plain() const;
  /// What make() returns, made when first asked for by that name and kept until `release`: fields that actions derive
  /// from the links once for all precisions.
  template <class Made, class Make>
  const Made& derived(const std::string& name, const Make& make) const {
    std::shared_ptr<void>& kept = kept_->derived[name];
    if (!kept) kept = std::make_shared<Made>(make());
    return *static_cast<const Made*>(kept.get());
  }
  void release() const;

 private:
  struct Kept {
    std::shared_ptr<const LinkField> plain, stored;
    std::shared_ptr<const HostGauge> gauge;
    std::map<std::string, std::shared_ptr<void>> derived;
  };
  const HostGauge *gauge_, *temporal_;  // null: they are those of kept_->plain
  DomainPointer domain_;
  std::string storage_;
  const BasisInfo* basis_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
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
  /// Whether there are even-odd forms; actions without one are solved on all sites.
  virtual bool has_even_odd() const { return true; }
  /// Whether solutions have a quark field in the middle of a fifth dimension.
  virtual bool has_midpoint() const { return false; }
  /// The operator for fields of a precision.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add.
  virtual std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const = 0;
  /// By how much the storage misses the links that hops go along. Collective.
  virtual LinkDeviation deviation(const LinkStore& links) const { return links.deviation(); }
};

/// What a user should know of a deviation: a clause; empty if there is nothing to know.
std::string text_of(const LinkDeviation& deviation, const std::string& storage);
/// The operator in double with all 18 reals of the links: that of true residuals where the storage misses them.
/// \param make gives it for links and a precision.
/// \throws MissingKernel the build lacks one of its kernels; the message says why it is needed.
template <class Make>
auto make_exact(const LinkStore& links, const LinkDeviation& deviation, const Make& make) {
  try {
    return make(links.exact(), find_precision("double"));
  } catch (const MissingKernel& e) {
    throw MissingKernel(text_of(deviation, links.storage()) + "; " + e.what());
  }
}
/// Which links a solve used, as reports have it: `r12`, or where they differ those of residuals and those of
/// iterations: `r18-r12`.
std::string links_text(const std::string& residuals, const std::string& iterations);
}  // namespace quarksmith
