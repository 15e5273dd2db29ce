/// \file
/// Monomials of RUN.toml.
#pragma once

#include <functional>
#include <memory>

#include "runs/table_reader.hpp"
#include "solvers/hmc/fermion_monomials.hpp"

#include "runs/session.hpp"

namespace quarksmith::runs {

/// The run to which monomials belong.
struct RunPlace {
  Lattice lattice;                        ///< the local lattice
  std::filesystem::path folder;           ///< start of relative paths in its file
  int colours = 3;                        ///< of its links
  const Session& session;                 ///< with fields in memory
  std::function<void()> look = {};        ///< called during solves; may end them by an exception
  int reach = 1;                          ///< sites of the longest hop of its operators
  std::vector<std::string> remarks = {};  ///< messages about what was chosen for monomials, a line each
};

/// Reads a monomial from its table. \param place its `reach` is raised to that of the monomial's operator.
/// \throws UsageError a key is missing or wrong; the message names file, line and remedy.
std::unique_ptr<Monomial> read_monomial(TableReader table, RunPlace& place);

}  // namespace quarksmith::runs
