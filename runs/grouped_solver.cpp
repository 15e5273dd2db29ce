#include "runs/grouped_solver.hpp"

#include "runs/column_groups.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

class GroupedSolver final : public KeptSolver {
 public:
  GroupedSolver(const InversionDescription& d, std::unique_ptr<ColumnGroups> groups, bool begins)
      : KeptSolver(d, groups->named(), groups->domain(), begins, groups->session()), groups_(std::move(groups)) {}

  const DomainPointer& domain() const override { return groups_->all(); }
  const Lattice& lattice() const override { return domain()->lattice(); }

 private:
  std::vector<SolveReport> solve_all(const QuarkNumbers& x, const SpinorField& b,
                                     const BasisInfo& given) const override {
    return groups_->solve(b, {&x.field}, begins(), [&](const SpinorField& source, std::vector<SpinorField>& quark) {
      return KeptSolver::solve_all({quark[0], x.basis}, source, given);
    });
  }

  std::unique_ptr<ColumnGroups> groups_;
};

}  // namespace

std::unique_ptr<KeptSolver> make_solver(const InversionDescription& d, const NamedGauge& named,
                                        const DomainPointer& domain, bool begins, Session& session,
                                        std::shared_ptr<const NearNullVectors> near_null) {
  if (d.split.empty()) return std::make_unique<KeptSolver>(d, named, domain, begins, session, std::move(near_null));
  if (near_null != nullptr) d.refuse_given({"split"}, "is not for near-null vectors of another solver; leave it out");
  auto groups = std::make_unique<ColumnGroups>(four_integers(d.split, d.called("split")), named, domain, session);
  d.solve.near_null.refuse_given({"mg_save"}, "is of all ranks; leave out " + d.called("split"));
  std::unique_ptr<KeptSolver> made;
  domain->communicator().together([&] { made = std::make_unique<GroupedSolver>(d, std::move(groups), begins); });
  return made;
}

}  // namespace quarksmith::runs
