/// \file
/// Monomials of RUN.toml.
#pragma once

#include <memory>

#include "apps/toml_file.hpp"
#include "solvers/hmc/fermion_monomials.hpp"

namespace quarksmith::apps {

/// A monomial by its table. \param reach becomes at least that of its operator.
std::unique_ptr<Monomial> read_monomial(TomlReader table, int& reach);

}  // namespace quarksmith::apps
