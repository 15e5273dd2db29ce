/// \file
/// Options of functions of quarksmith.h: texts of `name=value` that fill descriptions.
#pragma once

#include <string>
#include <string_view>

#include "interface/handle.hpp"
#include "runs/grouped_solver.hpp"

namespace quarksmith::interface {

/// The word for the links of a handle in options that name a configuration.
inline constexpr const char* links_word = "links";

/// Fills a description, or a command. \param function name of the function or command in quarksmith_help.
/// \throws runs::Refusal, UsageError as runs::fill; StatusError a quote has no end.
void read_options(runs::Members& members, const char* options, std::string_view function);

/// Takes the statement of an action that `action=FILE.py` or `FILE.py:NAME` names: its parameters are options from here
/// on. \throws UsageError there is none.
void state_action(const char* options);

/// The sites of an even-odd form, of the option `parity`.
inline Parity kept_sites(const std::string& parity) { return parity == "odd" ? Parity::odd : Parity::even; }

/// The session of a call, with results in memory.
struct CallSession : runs::Session {
  /// Of this process alone.
  CallSession();
  /// The session is that of the ranks of a handle.
  void use(const Handle& handle);
};

/// A description without the options of messages, with an action on the links of a handle.
struct OnLinks : runs::Description {
  OnLinks();
  void list(runs::Members& members) override;
  /// The action, on these links, without provenance. \throws UsageError it has several masses, which only solves at
  /// once take.
  runs::ActionChoice choose(const GaugeLinks& gauge);
  CallSession session;
  runs::ActionDescription action;
};

struct OperatorDescription : OnLinks {
  static constexpr const char *function = "operator", *what = "An action's operator on the links, to apply";
  void list(runs::Members& members) override;
  void check() override;
  /// The link storage that was asked for, else the default for the action on these links.
  std::string storage(const Action& chosen, const Gauge& on) const;
  std::string precision = "double", even_odd = "none", parity = "even", reconstruct = "12", basis = "non_relativistic";
};

struct SolverDescription : runs::InversionDescription {
  static constexpr const char *function = "solver", *what = "An action's operator on the links, to invert";
  SolverDescription();
  void list(runs::Members& members) override;
  CallSession session;
  bool guess = false;
};

/// Options of shifted solves, which have only one method.
struct ShiftedSolve : runs::SolveDescription {
  using SolveDescription::SolveDescription;
  std::vector<std::string> solvers() const override { return {"multishift"}; }

 protected:
  void list_method(runs::Members::Adder add) override;
};

struct ShiftedDescription : OnLinks {
  static constexpr const char *function = "shifted", *what = "Its normal equations with shifts";
  void list(runs::Members& members) override;
  void check() override;
  ShiftedSolve solve{action};
  std::string parity = "even";
  bool guess = false, together = false;
};

struct QuarkDescription : OnLinks {
  static constexpr const char *function = "quark", *what = "A quark of molecular dynamics";
  void list(runs::Members& members) override;
  void check() override;
  std::string even_odd, stout_directions = "xyzt";
  double stout_rho = 0, tolerance = 1e-10;
  int stout_steps = 0;
};

struct FieldDescription : runs::Description {
  static constexpr const char *function = "field", *what = "Spinors on the device";
  void list(runs::Members& members) override;
  std::string precision = "double", basis = "non_relativistic", sites = "all";
  int rhs = 1, spins = 4, slices = 1;
};

/// Reads the options of a function. \param on what it is called on: its ranks, and fields of actions if it has them.
template <class D, class H>
std::unique_ptr<D> read_options(const char* options, const H& on) {
  auto description = std::make_unique<D>();
  if constexpr (requires { description->session; }) description->session.use(on);
  if constexpr (requires { description->session.fields = on.fields; }) description->session.fields = on.fields;
  state_action(options);
  runs::Members members = members_of(*description);
  read_options(members, options, D::function);
  return description;
}

}  // namespace quarksmith::interface
