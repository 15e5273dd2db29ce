/// \file
/// A configuration in another format.
#pragma once

#include "runs/session.hpp"

namespace quarksmith::runs {

struct ConvertDescription : Description {
  std::string in, out, format, lattice;
  int bits = 0;
  void list(Members& members) override;
};

struct ConvertResult {
  Coordinates lattice;  ///< extents of the whole one
  std::string format;   ///< of the file that was written
  int bits;             ///< of its reals
};
/// \throws UsageError a member is missing or wrong; Error a file cannot be read or written.
ConvertResult run(ConvertDescription& description, Session& session);

}  // namespace quarksmith::runs
