/// \file
/// Fields of random numbers on which kernels are timed and compared, the same in every run.
#pragma once

#include <map>
#include <optional>

#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/fields/site_sums.hpp"
#include "runtime/fields/hopping.hpp"

namespace quarksmith::runs {

/// The median of some numbers.
double median(std::vector<double> numbers);
/// An order of kernels that lets them share links: those of one precision and storage are consecutive.
bool links_before(const Kernel& a, const Kernel& b);

/// Kernels that could not be run because the build lacks kernels that convert their fields.
class Skipped {
 public:
  void add(const Kernel& kernel, const MissingKernel& missing);
  bool empty() const { return kernels_.empty(); }
  /// A message such as `skipped, for lack of ...: NAME, NAME; ...`.
  std::string text() const;
  Json json() const;

 private:
  std::vector<std::pair<std::string, std::string>> kernels_;  // name, what it lacks
};

/// Links, site terms and spinors of one lattice on one device.
class Fields {
 public:
  /// \param domain,gauge must outlive this.
  Fields(DomainPointer domain, const HostGauge& gauge);

  /// A new field of random numbers, none of them zero. Numbers from the host are kept until another kind of field is
  /// needed.
  /// \param reach as of the domain.
  SpinorField spinor(std::string_view precision, Subset subset, int rhs, int spins = 4, int reach = 1) const;
  /// Links in a precision and storage; kept until others are needed, as memory is limited.
  const LinkField& links(std::string_view precision, std::string_view storage, int reach = 1);
  /// Links of hops over `length` sites, kept until others are needed.
  const LinkField& long_links(std::string_view precision, std::string_view storage, int length);
  /// Links of a hopping kernel, including long ones.
  HoppingLinks links_of(const Kernel& kernel);
  /// A separate copy of links, for kernels that write links.
  LinkField copy_of_links(std::string_view precision, std::string_view storage);
  /// A clover term; number 1 is another one, for kernels that read two.
  const TermField& term(std::string_view precision, int number = 0);
  /// The domain for hops of at most `reach` sites.
  const DomainPointer& domain(int reach = 1) const;

 private:
  DomainPointer domain_;
  mutable DomainPointer wide_;  ///< for longer hops than domain_
  const HostGauge* gauge_;
  HostSpinor psi_;
  struct Links {
    std::string precision, storage;
    int reach;
    LinkField field;
  };
  const SpinorField& columns_like(const SpinorField& field) const;
  const LinkField& keep(std::optional<Links>& kept, std::string_view precision, std::string_view storage, int reach,
                        int depth);
  std::optional<Links> links_, long_links_;
  mutable std::optional<SpinorField> columns_;  ///< different columns of the last kind of spinors
  std::map<std::pair<std::string, int>, TermField> terms_;
};

/// One kernel with everything it works on.
class Workload {
 public:
  /// \param rhs right-hand sides, 0: the tile of the kernel; for kernels along a fifth dimension the slices, 0: 16.
  /// \param rotate whether launches cycle through buffers that together exceed any cache.
  Workload(const Kernel& kernel, Fields& fields, int rhs, bool rotate);

  int rhs() const { return rhs_; }
  /// Arguments of a hop from odd to even sites, as in solvers, with a scalar in memory that marks active right-hand
  /// sides.
  Arguments hop();
  /// Starts the kernel, or a variant of it, on the buffers of launch number `call`, along directions that change.
  void launch(const Kernel& kernel, int call);
  /// `calls`, rounded up to whole rounds of the directions, so that samples are comparable.
  int whole_rounds(int calls) const;
  /// The results of a kernel.
  struct Result {
    std::vector<HostSpinor> fields;
    std::vector<double> sums;  ///< or the scalars after the kernel
  };
  /// The results of one launch on fresh inputs, with outputs filled with NaN before.
  /// \throws UsageError the kernel writes neither spinors nor sums.
  Result result(const Kernel& kernel);

 private:
  void make_buffers(Subset from, bool rotate);
  void prepare_hopping(bool rotate);
  void prepare_slices(bool rotate);
  /// Whether the kernel reads `in` and writes `out`: other ones work on x, y, ...
  bool writes_out() const { return kernel_->family == "hopping" || kernel_->family == "slices"; }
  void prepare_update();
  /// Sets the scalars of arguments to scalars_ on the device.
  void give_scalars(Arguments& a);
  void prepare_gauge();
  void prepare_links();
  void prepare_term();
  void give_terms(std::string_view precision);
  void prepare_expression();
  Result result_of_expression(const Kernel& kernel);
  SpinorField fresh(Subset subset) const;

  const Kernel* kernel_;
  Fields* fields_;
  int rhs_;
  std::vector<SpinorField> in_, out_;
  std::vector<TermField> terms_;
  std::vector<LinkField> links_;
  std::vector<std::size_t> written_;  ///< which of these an expression writes
  std::vector<double> scalars_;       ///< on the device, what they start from: of updates, and of hop()
  Memory memory_;
  std::optional<SiteSums> sums_;  ///< of an expression
  int along_ = 0;                 ///< its directions, two bits each
  int round_ = 1;                 ///< launches until they are the same again
  Arguments arguments_;
};

}  // namespace quarksmith::runs
