/// \file
/// Coefficients of solvers that live on the device, and the vector updates that use and compute them.
#pragma once

#include <map>
#include <string>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// The plain numbers in which kernels of a precision compute.
const PrecisionInfo& computed_in(const PrecisionInfo& stored);

/// Named complex numbers in device memory, a set for each right-hand side.
///
/// The host's copy is what was set here or taken over from a snapshot; `upload` writes it to the device.
class Scalars {
 public:
  /// Numbers a right-hand side at most.
  static constexpr int most = 64;
  /// \param components of the fields that steps with these scalars work on.
  Scalars(const std::shared_ptr<Device>& device, int rhs, Components components = {});

  /// Number of a name; a new name gets the next one. `active` and `status` exist (runtime/kernels/arguments.hpp).
  /// \throws UsageError more than `most` names.
  int slot(std::string_view name);
  /// The host's copy.
  Complex64 get(int rhs, std::string_view name) const;
  void set(int rhs, std::string_view name, Complex64 value);
  /// All scalars of a right-hand side become those of another, on the device and in the host's copy.
  void copy(int to, int from);
  /// The host's copy of right-hand sides first ... first + count - 1 to the device.
  void upload(int first, int count);
  /// Takes over `count` right-hand sides of a snapshot.
  void assign(const double* snapshot, int count);

  const Components& components() const { return components_; }
  Device& device() const { return *device_; }
  double* data() const { return static_cast<double*>(memory_.data()); }
  static constexpr int stride = 2 * most;
  static constexpr std::size_t bytes_per_rhs = sizeof(double) * stride;

 private:
  std::size_t place(int rhs, std::string_view name) const;

  Components components_;
  std::shared_ptr<Device> device_;
  Memory memory_;
  std::vector<double> host_;
  std::map<std::string, int, std::less<>> slots_;
};

/// One generated update on fields of a precision with the scalars of its right-hand sides, looked up once.
class Step {
 public:
  /// \param renamed names of the kernel's formula and the scalars that they stand for here.
  /// \param shared names that stand for scalars of the first right-hand side of a call, the same for all of the call.
  /// \throws UsageError the build lacks the kernel; the message is the profile row to add.
  Step(Scalars& scalars, const PrecisionInfo& precision, std::string_view name,
       std::initializer_list<std::pair<std::string_view, std::string_view>> renamed = {},
       std::initializer_list<std::string_view> shared = {});

  /// The fields of the formula, v in the plain numbers that the kernel computes in (computed_in); x has the right-hand
  /// sides of the call. One of another field serves all of them.
  struct Fields {
    const SpinorField *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr, *u = nullptr, *v = nullptr;
  };
  /// Applies the update to the right-hand sides that are active. The fields are those of right-hand sides first, first
  /// + 1, ... of the scalars.
  void operator()(const Fields& fields, int first = 0) const { apply(fields, first, active_slot); }
  /// As of, where another kernel has added up the sums of `groups` groups of sites (ProductSums::rows).
  void of_rows(const Fields& fields, const double* rows, int groups) const {
    apply(fields, 0, active_slot, groups, rows);
  }
  /// Applies it to all right-hand sides.
  void for_all(const Fields& fields, int first = 0) const { apply(fields, first, -1); }
  /// Runs the scalar program alone for the right-hand sides of x that are active; its sums are those of a few sites.
  void program(const SpinorField& x, int first = 0) const { apply({.x = &x}, first, active_slot, 1); }

 private:
  void apply(const Fields& fields, int first, int mask, long long most_sites = 1LL << 62,
             const double* rows = nullptr) const;

  const Scalars* scalars_;
  const Kernel* kernel_;
  unsigned char slot_[most_slots] = {};
};

/// An operator, and the sums that its last kernel can make for the update that follows, with the numbers of which this
/// decides.
class SumRows {
 public:
  /// \param a,scalars outlive this.
  SumRows(const LinearOperator& a, const Scalars& scalars, int rhs);
  /// Whether there are sums; then right-hand sides that are not active take next to no time.
  bool made() const { return groups_ > 0; }
  /// out = A in, then `step` on the fields, whose sums are those of `sums`, in their order.
  void apply(SpinorField& out, const SpinorField& in, ProductSums sums, const Step& step,
             const Step::Fields& fields) const;

 private:
  const LinearOperator* a_;
  const Scalars* scalars_;
  int groups_;
  Memory memory_;
};

}  // namespace quarksmith
