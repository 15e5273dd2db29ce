/// \file
/// Eigenvectors that `eigen` has made, or that are computed first, as first guesses of solves.
#pragma once

#include <functional>

#include "runs/action.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

/// Provenance of eigenvectors in a file: links, action and operator. \param even_odd form of the operator `normal`.
Provenance eigen_provenance(const ActionChoice& choice, const HostGauge& gauge, const std::string& operator_name,
                            const std::string& even_odd, Session& session);

/// Options for first guesses from eigenvectors.
struct DeflationDescription : Description {
  std::string text;                ///< a file, or the number of vectors to compute
  std::string member = "deflate";  ///< name of the member for `text`
  void list(Members& members) override;
  bool is_given() const { return !text.empty(); }
  std::string subject() const { return called(member) + " " + text; }
  /// \throws UsageError the text is neither an existing file nor a number.
  void check() override;
  /// Reads or computes eigenvectors for solves. \param even_odd name of the solves' form. \param look see EigenOptions.
  /// \throws UsageError a file is of another operator or other links; Error vectors did not reach their tolerance.
  std::shared_ptr<const Deflation> make(const ActionChoice& choice, const GaugeLinks& gauge,
                                        const DomainPointer& domain, const SolveSettings& settings,
                                        const std::string& even_odd, Session& session,
                                        const std::function<void()>& look = {}) const;
};

}  // namespace quarksmith::runs
