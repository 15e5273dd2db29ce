/// \file
/// Coefficients of solvers that live on the device, and the vector updates that use and compute them.
#pragma once

#include <map>
#include <string>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// The precision of the arithmetic in kernels for fields stored in a precision.
const PrecisionInfo& computed_in(const PrecisionInfo& stored);

/// Named complex numbers in device memory, a set for each right-hand side.
///
/// The host has a copy, which is set here or taken from a snapshot; `upload` writes it to the device.
class Scalars {
 public:
  /// Most numbers of a right-hand side.
  static constexpr int most = 64;
  /// \param components of the fields that steps with these scalars work on.
  Scalars(const std::shared_ptr<Device>& device, int rhs, Components components = {});

  /// Index of a name; a new name gets the next one. `active` and `status` exist (runtime/kernels/arguments.hpp).
  /// \throws UsageError more than `most` names.
  int slot(std::string_view name);
  /// A scalar in the host's copy.
  Complex64 get(int rhs, std::string_view name) const;
  void set(int rhs, std::string_view name, Complex64 value);
  /// Copies all scalars from one right-hand side to another, on the device and in the host's copy.
  void copy(int to, int from);
  /// Writes the host's copy of right-hand sides first ... first + count - 1 to the device.
  void upload(int first, int count);
  /// Sets the host's copy of `count` right-hand sides from a snapshot.
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

/// A generated vector update on fields of a precision with scalars of its right-hand sides; its kernel is looked up
/// once.
class Step {
 public:
  /// \param renamed pairs of names: in the kernel's formula, and of the scalars used for them.
  /// \param shared names for which all right-hand sides of a call use the scalars of its first one.
  /// \throws UsageError the build lacks the kernel; the message is the profile row to add.
  Step(Scalars& scalars, const PrecisionInfo& precision, std::string_view name,
       std::initializer_list<std::pair<std::string_view, std::string_view>> renamed = {},
       std::initializer_list<std::string_view> shared = {});

  /// The fields of the formula, v in the precision of the arithmetic (computed_in); x determines the right-hand sides
  /// of the call. Another field with one right-hand side is used for all of them.
  struct Fields {
    const SpinorField *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr, *u = nullptr, *v = nullptr;
  };
  /// Applies the update to the right-hand sides that are active. The fields are those of right-hand sides first, first
  /// + 1, ... of the scalars.
  void operator()(const Fields& fields, int first = 0) const { apply(fields, first, active_slot); }
  /// Applies the update with sums that another kernel has computed for `groups` groups of sites (ProductSums::rows).
  void of_rows(const Fields& fields, const double* rows, int groups) const {
    apply(fields, 0, active_slot, groups, rows);
  }
  /// Applies the update to all right-hand sides.
  void for_all(const Fields& fields, int first = 0) const { apply(fields, first, -1); }
  /// Runs only the scalar program for active right-hand sides of x; sums are over a few sites and meaningless.
  void program(const SpinorField& x, int first = 0) const { apply({.x = &x}, first, active_slot, 1); }

 private:
  void apply(const Fields& fields, int first, int mask, long long most_sites = 1LL << 62,
             const double* rows = nullptr) const;

  const Scalars* scalars_;
  const Kernel* kernel_;
  unsigned char slot_[most_slots] = {};
};

/// An operator whose last kernel computes sums for the update that follows, if there is a kernel for them.
class SumRows {
 public:
  /// \param a,scalars outlive this.
  SumRows(const LinearOperator& a, const Scalars& scalars, int rhs);
  /// Whether kernels compute sums; then inactive right-hand sides take almost no time.
  bool made() const { return groups_ > 0; }
  /// out = A in, then `step` on the fields; its sums are those of `sums`, in order.
  void apply(SpinorField& out, const SpinorField& in, ProductSums sums, const Step& step,
             const Step::Fields& fields) const;

 private:
  const LinearOperator* a_;
  const Scalars* scalars_;
  int groups_;
  Memory memory_;
};

}  // namespace quarksmith
