/// \file
/// What kernels are timed and compared on: fields of random numbers, the same for every run.
#pragma once

#include <map>
#include <optional>

#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/fields/site_sums.hpp"
#include "runtime/fields/hopping.hpp"

namespace quarksmith::runs {

/// The middle one of some numbers.
double median(std::vector<double> numbers);
/// Order in which kernels share their links: those of one precision and storage follow each other.
bool links_before(const Kernel& a, const Kernel& b);

/// Kernels that could not be run because the build lacks others, which bring their fields to the device.
class Skipped {
 public:
  void add(const Kernel& kernel, const MissingKernel& missing);
  bool empty() const { return kernels_.empty(); }
  /// `skipped, for lack of ...: NAME, NAME; ...`
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

  /// A new field; never zeros. What was made on the host is kept, and copied, until another kind is asked for.
  /// \param reach as of the domain.
  SpinorField spinor(std::string_view precision, Subset subset, int rhs, int spins = 4, int reach = 1) const;
  /// Kept until others are asked for: large lattices fill the memory.
  const LinkField& links(std::string_view precision, std::string_view storage, int reach = 1);
  /// Links of hops over so many sites, kept until others are.
  const LinkField& long_links(std::string_view precision, std::string_view storage, int length);
  /// Those of a hopping term, of its long hops too.
  HoppingLinks links_of(const Kernel& kernel);
  /// Links of their own, for kernels that write some.
  LinkField copy_of_links(std::string_view precision, std::string_view storage);
  /// A clover term; number 1 is another one, for kernels that read two.
  const TermField& term(std::string_view precision, int number = 0);
  /// For hops of at most so many sites.
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
  mutable std::optional<SpinorField> columns_;  ///< those that differ of the last kind of spinors
  std::map<std::pair<std::string, int>, TermField> terms_;
};

/// One kernel with everything it works on.
class Workload {
 public:
  /// \param rhs right-hand sides, 0: the tile of the kernel; of kernels along a fifth dimension the slices, 0: 16.
  /// \param rotate launches go round over buffers larger than any cache.
  Workload(const Kernel& kernel, Fields& fields, int rhs, bool rotate);

  int rhs() const { return rhs_; }
  /// A hop from odd to even sites, as solvers ask for it: of right-hand sides that a number in memory says are active.
  Arguments hop();
  /// Starts the kernel, or a variant of it, on the buffers of launch number `call`, along directions that change.
  void launch(const Kernel& kernel, int call);
  /// So many launches, and those that complete a round of the directions: samples of others do not compare.
  int whole_rounds(int calls) const;
  /// What a kernel has written.
  struct Result {
    std::vector<HostSpinor> fields;
    std::vector<double> sums;  ///< or what the kernel left of its scalars
  };
  /// After one launch on fresh inputs and outputs full of NaN.
  /// \throws UsageError the kernel writes neither spinors nor sums.
  Result result(const Kernel& kernel);

 private:
  void make_buffers(Subset from, bool rotate);
  void prepare_hopping(bool rotate);
  void prepare_slices(bool rotate);
  /// Whether the kernel reads `in` and writes `out`: other ones work on x, y, ...
  bool writes_out() const { return kernel_->family == "hopping" || kernel_->family == "slices"; }
  void prepare_update();
  /// scalars_, so many for each right-hand side, on the device.
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
