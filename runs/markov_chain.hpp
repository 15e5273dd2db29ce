/// \file
/// Markov chains of configurations, sweep by sweep or trajectory by trajectory: what all of them are asked for.
#pragma once

#include "runs/session.hpp"

namespace quarksmith::runs {

struct MarkovDescription : Description {
  std::string out, resume, time_limit;
  std::uint64_t save_every = 0;

  /// Whether it goes on from the last configuration of `out`, if there is one.
  bool goes_on(const Session& session) const {
    return !out.empty() && (resume == "auto" || (resume.empty() && !session.overwrite));
  }
  /// The configuration from which it goes on; empty: it begins.
  std::string file_to_resume(const Session& session) const;
  void check() override;

 protected:
  /// \param many what its steps are called. \param most of them. \param resumed what `resume` does.
  void list_files(Members::Adder& add, const std::string& many, double most, const std::string& resumed);
};

}  // namespace quarksmith::runs
