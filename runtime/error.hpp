/// \file
/// Errors that name what went wrong, with which operands, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace quarksmith {

/// Something failed: data corrupt, file unreadable, no convergence. The command ends with status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something impossible or contradictory. The command ends with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace quarksmith
