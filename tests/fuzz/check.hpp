/// \file
/// Reads a damaged file through the library and judges what comes of it.
#pragma once

#include "tests/fuzz/corpus.hpp"
#include "tests/fuzz/mutate.hpp"

namespace quarksmith::fuzz {

/// What reading a file came to.
struct Verdict {
  enum class Kind {
    refused,      ///< by one error that names the file
    unchanged,    ///< what it held was read
    unprotected,  ///< other numbers, and the reader tells that the file records nothing to check them by
    report,       ///< a defect of ours
    silent        ///< other numbers were accepted in a format with a checksum
  };
  Kind kind = Kind::refused;
  std::string what;
};

/// \param folder where the file is written.
Verdict check(const Original& original, const std::string& bytes, const std::filesystem::path& folder, Dice& dice);

}  // namespace quarksmith::fuzz
