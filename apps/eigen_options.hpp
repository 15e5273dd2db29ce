/// \file
/// Eigenvectors on command lines: made by `eigen`, used by --deflate.
#pragma once

#include <functional>

#include "apps/action_options.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::apps {

/// What a file of eigenvectors states of their operator. \param even_odd form of operator normal.
Provenance eigen_provenance(const ActionChoice& choice, const HostGauge& gauge, const std::string& operator_name,
                            const std::string& even_odd, const CommonOptions& common);

/// What --deflate names, or a key.
struct DeflationOption {
  std::string text;                ///< a file, or how many vectors are to be computed
  std::string name = "--deflate";  ///< of messages
  void add_to(CLI::App& command);
  bool given() const { return !text.empty(); }
  std::string said() const { return name + " " + text; }
  /// \throws UsageError neither a file that is there nor a number.
  void check() const;
  /// Eigenvectors for solves with these settings. \param even_odd their form, by name. \param look as of EigenOptions.
  /// \throws UsageError they are of another operator, or other links; Error not found to their tolerance.
  std::shared_ptr<const Deflation> make(const ActionChoice& choice, const HostGauge& gauge, const DomainPointer& domain,
                                        const SolveSettings& settings, const std::string& even_odd,
                                        const CommonOptions& common, const std::function<void()>& look = {}) const;
};

}  // namespace quarksmith::apps
