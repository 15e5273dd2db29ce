/// \file
/// Eigenvalues and eigenvectors of the operators of an action.
#pragma once

#include "runs/action.hpp"
#include "solvers/eigen/eigenpairs.hpp"

namespace quarksmith::runs {

struct EigenDescription : Description {
  ActionDescription action;
  std::string kind = "normal", even_odd = "symmetric";
  EigenOptions options;
  std::filesystem::path out;
  std::string compress, reconstruct = "12", time_limit;
  void list(Members& members) override;
  void check() override;
};

struct EigenResult {
  std::string even_odd;  ///< form of the operator
  Provenance provenance;
  std::vector<double> values = {}, residuals = {};  ///< ascending in modulus; |A v - lambda v| of each
  long long applications = 0;                       ///< of the positive operator to one vector
  double seconds = 0;
  bool converged = false;
  struct Compressed {
    Coordinates block;
    int vectors;                            ///< of the basis of a block
    double factor;                          ///< by which the file is smaller than one of all vectors
    std::vector<double> values, residuals;  ///< of the vectors that are restored from it
  };
  std::optional<Compressed> compressed = {};
  /// Eigenvectors on all sites, zero where an even-odd form has none; only in memory, and not of domain-wall quarks.
  std::optional<SpinorField> vectors = {};
  const BasisInfo* basis = nullptr;  ///< of the vectors
};
/// \throws UsageError a member is missing or wrong; Error not all were found to the tolerance; Interrupted.
EigenResult run(EigenDescription& description, Session& session);

}  // namespace quarksmith::runs
