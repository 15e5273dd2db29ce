#include "runs/grouped_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runs/contraction.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

/// The ranks of a group, their session, and what they solve on.
struct GroupOfRanks {
  GroupOfRanks(const InversionDescription& d, const NamedGauge& of_all, const DomainPointer& domain, Session& session)
      : groups(of_all.gauge.lattice, domain->communicator_pointer(), four_integers(d.split, d.called("split"))),
        named{HostGauge(groups.lattice(), of_all.gauge.colours()), of_all.origin},
        all(domain),
        own(std::make_shared<Domain>(groups.lattice(), domain->device_pointer(), groups.ranks(), domain->reach())) {
    d.solve.near_null.refuse_given({"mg_save"}, "is of all ranks; leave out " + d.called("split"));
    const std::vector<const Complex64*> to_all(groups.count(), of_all.gauge.site.at(0));
    groups.hand_out(of_all.gauge.site.each(), to_all, named.gauge.site.at(0));
    named.gauge.phase = of_all.gauge.phase;
    for (const auto& [name, field] : session.fields) {
      const std::size_t each = field.numbers.size() / groups.of_all().sites();
      auto& whole = messages.fields[name] = {std::vector<Complex64>(each * groups.lattice().sites()), field.hop};
      groups.hand_out(each, {std::size_t(groups.count()), field.numbers.data()}, whole.numbers.data());
    }
    messages.ranks_given = groups.ranks();
    messages.quiet = session.quiet;
    messages.log_level = groups.own() != 0 ? "error" : session.log_level;
    messages.take_line = [&session](const std::string& line, bool warning) {
      warning ? session.warn(line) : session.info(line);
    };
    messages.wants_end = [&session] { return session.wants_end && session.wants_end(); };  // set anew by each call
  }

  RankGroups groups;
  NamedGauge named;
  DomainPointer all, own;
  Session messages;
};

/// Fields in double of all sites come and go column by column: column n is of group n modulo their number.
class GroupedSolver final : public KeptSolver {
 public:
  GroupedSolver(const InversionDescription& d, std::unique_ptr<GroupOfRanks> group, bool begins)
      : KeptSolver(d, group->named, group->own, begins, group->messages), group_(std::move(group)) {}

  const DomainPointer& domain() const override { return group_->all; }
  const Lattice& lattice() const override { return group_->all->lattice(); }

 private:
  std::vector<SolveReport> solve_all(const QuarkNumbers& x, const SpinorField& b,
                                     const BasisInfo& given) const override {
    const RankGroups& groups = group_->groups;
    const int count = (b.rhs() - groups.own() + groups.count() - 1) / groups.count();
    std::optional<SpinorField> source, quark;
    if (count > 0) {
      source.emplace(KeptSolver::domain(), find_precision("double"), Subset::full, count, b.components());
      quark.emplace(source->like());
    }
    hand_out(b, source);
    if (begins()) hand_out(x.field, quark);
    std::vector<SolveReport> mine;
    groups.all_ranks()->together([&] {
      if (count > 0) mine = KeptSolver::solve_all({*quark, x.basis}, *source, given);
    });
    bring_back(quark, x.field);
    Json packed = Json::array();
    for (const SolveReport& r : mine) packed.push_back(to_json(r));
    std::vector<SolveReport> reports(b.rhs());
    for (int g = 0; g < groups.count(); ++g) {
      const auto bytes = Json::to_cbor(packed);
      int n = g;
      for (const Json& r :
           Json::from_cbor(groups.all_ranks()->broadcast({bytes.begin(), bytes.end()}, groups.first_of(g)))) {
        reports[n] = solve_report_of(r);
        n += groups.count();
      }
    }
    return reports;
  }

  /// Visits the columns that groups have at a time: visit(first one, one for each group, null where there is none).
  template <class Visit>
  void in_turn(int columns, const Lattice& lattice, int colours, const Visit& visit) const {
    const int count = group_->groups.count();
    std::vector<HostSpinor> host(std::min(count, columns), HostSpinor(lattice, colours));
    for (int first = 0; first < columns; first += count) {
      std::vector<HostSpinor*> of_groups(count, nullptr);
      for (int g = 0; g < count && first + g < columns; ++g) of_groups[g] = &host[g];
      visit(first, of_groups);
    }
  }
  void hand_out(const SpinorField& from, std::optional<SpinorField>& to) const {
    HostSpinor whole(group_->groups.lattice(), from.colours());
    in_turn(from.rhs(), lattice(), from.colours(), [&](int first, const std::vector<HostSpinor*>& of_groups) {
      std::vector<const Complex64*> numbers(of_groups.size(), nullptr);
      for (std::size_t g = 0; g < of_groups.size(); ++g) {
        if (of_groups[g] == nullptr) continue;
        download(from, *of_groups[g], as_stored, first + static_cast<int>(g));
        numbers[g] = of_groups[g]->site.at(0);
      }
      group_->groups.hand_out(whole.site.each(), numbers, whole.site.at(0));
      if (numbers[group_->groups.own()] != nullptr) upload(whole, *to, as_stored, first / group_->groups.count());
    });
  }
  void bring_back(const std::optional<SpinorField>& from, SpinorField& to) const {
    HostSpinor whole(group_->groups.lattice(), to.colours());
    in_turn(to.rhs(), lattice(), to.colours(), [&](int first, const std::vector<HostSpinor*>& of_groups) {
      std::vector<Complex64*> numbers(of_groups.size(), nullptr);
      for (std::size_t g = 0; g < of_groups.size(); ++g)
        if (of_groups[g] != nullptr) numbers[g] = of_groups[g]->site.at(0);
      if (numbers[group_->groups.own()] != nullptr) download(*from, whole, as_stored, first / group_->groups.count());
      group_->groups.bring_back(whole.site.each(), whole.site.at(0), numbers);
      for (std::size_t g = 0; g < of_groups.size(); ++g)
        if (of_groups[g] != nullptr) upload(*of_groups[g], to, as_stored, first + static_cast<int>(g));
    });
  }

  std::unique_ptr<GroupOfRanks> group_;
  /// Numbers travel as they are stored: those of fields on the host are in this basis.
  const BasisInfo& as_stored = find_basis("degrand_rossi");
};

}  // namespace

std::unique_ptr<KeptSolver> make_solver(const InversionDescription& d, const NamedGauge& named,
                                        const DomainPointer& domain, bool begins, Session& session) {
  if (d.split.empty()) return std::make_unique<KeptSolver>(d, named, domain, begins, session);
  std::unique_ptr<KeptSolver> made;
  auto group = std::make_unique<GroupOfRanks>(d, named, domain, session);
  domain->communicator().together([&] { made = std::make_unique<GroupedSolver>(d, std::move(group), begins); });
  return made;
}

}  // namespace quarksmith::runs
