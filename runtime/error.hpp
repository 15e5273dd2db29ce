/// \file
/// Errors whose messages name what went wrong, the operands, and a remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace quarksmith {

/// A failure at run time: data corrupt, file unreadable, no convergence. The command ends with status 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something impossible or contradictory. The command ends with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Kinds that callers distinguish; the C interface has a status for each.

/// A name of a device, precision, storage, basis, method or format that does not exist.
class UnknownName : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Impossible extents, or fields of different lattices.
class WrongLattice : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The build lacks a kernel; the message is the profile row to add.
class MissingKernel : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Links are not SU(3) where they must be.
class NotSU3 : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Numbers that are not finite.
class BadData : public Error {
 public:
  using Error::Error;
};

/// A device or the host has not enough memory.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace quarksmith
