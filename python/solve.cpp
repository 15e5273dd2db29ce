#include "python/solve.hpp"

#include <fmt/format.h>

#include "python/ranks.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

struct ReadDescription : runs::Description {
  std::string file, lattice;
  void list(runs::Members& members) override {
    auto add = members.of(*this);
    add("file", file, runs::gauge_forms).required().positional();
    add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
  }
};

runs::NamedGauge run(const ReadDescription& d, runs::Session& session) {
  runs::NamedGauge named = runs::open_gauge(d.file, d.lattice, session);
  runs::report(session, {{"origin", named.origin},
                         {"lattice", named.gauge.lattice().global_extent()},
                         {"colours", named.gauge.colours()}});
  session.open_device();
  return named;
}

}  // namespace

const runs::Command read_command = {.name = "read",
                                    .help = "Read a configuration, or make one by a rule",
                                    .uses = runs::Session::computes | runs::Session::shares | runs::Session::colourful,
                                    .make = runs::task<ReadDescription>,
                                    .leaves = "gauge"};

SolveCall::SolveCall() {
  session_.uses = runs::Session::shares | runs::Session::replaces;
  described_.list(members_);
  session_.list(members_);
}

void SolveCall::open(const runs::Table& values, DomainPointer domain) {
  runs::fill(members_, values, {runs::Door::python, name, {}});
  const runs::NamedGauge named = runs::open_gauge(described_.action.gauge, described_.action.lattice, session_);
  domain_ = domain != nullptr ? domain : domain_of(named.gauge.lattice(), "auto");
  kept_ = runs::make_solver(described_, named, domain_, true, session_);
}

SpinorObject SolveCall::right_hand_sides(int count) const {
  return {SpinorField(domain_, find_precision("double"), Subset::full, count, kept_->action().spins()),
          &kept_->basis()};
}

Solved SolveCall::solve(const SpinorObject& rhs, const SpinorObject* guess, SpinorObject& x) const {
  const SpinorField& b = rhs.field;
  require_present(*kept_->domain(), "solver");
  require_present(b.domain(), "rhs");
  kept_->check(b, "rhs");
  if (guess != nullptr) {
    check_beside(*guess, "guess", b);
    kept_->require_guess("guess", "deflate");
  }
  check_beside(x, "out", b);
  const auto memory = [](const SpinorObject& f) { return f.field.operand().data; };
  if (memory(x) == memory(rhs)) throw UsageError("out is rhs; give another field");
  if (guess == nullptr)
    x.field.fill(0);
  else if (memory(x) != memory(*guess))
    move_columns(*guess, x);
  const std::vector<SolveReport> reports = kept_->solve({x.field, *x.basis}, b, *rhs.basis);
  auto all = runs::Json::array();
  for (const SolveReport& r : reports) all.push_back(runs::to_json(r));
  return {runs::json_text({{"solves", all}, {"provenance", runs::to_json(kept_->provenance())}}),
          kept_->failure(reports)};
}

void SolveCall::check_beside(const SpinorObject& given, const char* name, const SpinorField& b) const {
  kept_->check(given.field, name);
  if (given.field.rhs() != b.rhs())
    throw UsageError(
        fmt::format("{} has {} right-hand sides, rhs has {}; give one for each", name, given.field.rhs(), b.rhs()));
}

}  // namespace quarksmith::python
