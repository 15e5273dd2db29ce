/// \file
/// Eigenvectors that `eigen` has made, or that are computed first, as first guesses of solves.
#pragma once

#include <functional>

#include "runs/action.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

/// What a file of eigenvectors states of their operator. \param even_odd form of operator normal.
Provenance eigen_provenance(const ActionChoice& choice, const HostGauge& gauge, const std::string& operator_name,
                            const std::string& even_odd, Session& session);

/// First guesses from eigenvectors.
struct DeflationDescription : Description {
  std::string text;                ///< a file, or how many vectors are to be computed
  std::string member = "deflate";  ///< that gives it
  void list(Members& members) override;
  bool is_given() const { return !text.empty(); }
  std::string subject() const { return called(member) + " " + text; }
  /// \throws UsageError neither a file that is there nor a number.
  void check() override;
  /// Eigenvectors for solves with these settings. \param even_odd their form, by name. \param look as of EigenOptions.
  /// \throws UsageError they are of another operator, or other links; Error not found to their tolerance.
  std::shared_ptr<const Deflation> make(const ActionChoice& choice, const HostGauge& gauge, const DomainPointer& domain,
                                        const SolveSettings& settings, const std::string& even_odd, Session& session,
                                        const std::function<void()>& look = {}) const;
};

}  // namespace quarksmith::runs
