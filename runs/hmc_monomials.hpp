/// \file
/// Monomials of RUN.toml.
#pragma once

#include <functional>
#include <memory>

#include "runs/table_reader.hpp"
#include "solvers/hmc/fermion_monomials.hpp"

#include "runs/session.hpp"

namespace quarksmith::runs {

/// Of a run.
struct RunPlace {
  Lattice lattice;                        ///< this rank's part
  std::filesystem::path folder;           ///< from which paths in its file start
  int colours = 3;                        ///< of its links
  const Session& session;                 ///< with fields in memory
  std::function<void()> look = {};        ///< of its solves
  int reach = 1;                          ///< sites of the longest hop of its operators
  std::vector<std::string> remarks = {};  ///< what is worth to know of its monomials, a line each
};

/// A monomial by its table. \param place whose reach becomes at least that of its operator.
std::unique_ptr<Monomial> read_monomial(TableReader table, RunPlace& place);

}  // namespace quarksmith::runs
