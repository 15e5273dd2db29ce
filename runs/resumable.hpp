/// \file
/// Runs whose steps follow each other, and go on from any configuration that they have written to the same bits:
/// sweeps, trajectories.
#pragma once

#include <string>
#include <vector>

#include "runs/command.hpp"
#include "runs/configuration_writer.hpp"
#include "runs/print.hpp"
#include "runs/stops.hpp"

namespace quarksmith::runs {

/// What users say of such a run.
struct ResumableDescription : Description {
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

/// A run step by step: its report and files, what is told at an end before the end. What an earlier part of it has told
/// stays in the report.
class ResumableRun {
 public:
  /// Where it begins and ends.
  struct Chain {
    const char *one, *many;         ///< its steps in words: `sweep`, `sweeps`
    const char* list;               ///< of the report: an entry for each step
    std::vector<const char*> same;  ///< keys in which the report of an earlier part is alike; none: it is not asked for
    Json results;                   ///< the report before any step
    std::string resumed;            ///< the file from which it goes on; empty: it begins
    std::uint64_t first, end;       ///< steps that were done there, and at the end
    bool from_first = false;        ///< users count steps from there
    std::vector<NamedFile> inputs = {};
  };
  /// Claims its files. \param o,stops outlive this.
  ResumableRun(const ResumableDescription& o, Session& session, Stops& stops, Chain chain);
  virtual ~ResumableRun() = default;
  /// Does what is left. Whatever ends it, there is a configuration of the last step, if configurations are kept.
  Outcome operator()();

 protected:
  /// Makes a step and its entry. \return what is worth to show of it.
  virtual std::string step() = 0;
  virtual HostGauge configuration() const = 0;
  /// That of the configuration, from which a run goes on.
  virtual ExtraRecord state() const = 0;
  /// For a line of progress.
  virtual std::string title() const = 0;
  /// Called before the report is written.
  virtual void tell() {}
  /// Called when a configuration was given to be written, with what that took.
  virtual void wrote(double) {}
  /// Called after the last step of this part.
  virtual void finish() {}

  Json& entry(std::uint64_t n) { return reported_[chain_.list][n - reported_["first"].get<std::uint64_t>()]; }
  std::uint64_t first() const { return chain_.first; }
  std::uint64_t done() const { return done_; }
  /// Seconds since the first step began.
  double seconds() const { return now() - begun_; }

  Session& session_;
  Json reported_;
  bool ends_ = false;  ///< the program that called wants no more steps

 private:
  Json previous_results();
  PathLock claim();
  Existing of_configurations() const { return o_.goes_on(session_) ? Existing::resume : session_.existing(); }
  bool saves_at(std::uint64_t n) const {
    return o_.save_every > 0 && n < chain_.end && (n - (chain_.from_first ? chain_.first : 0)) % o_.save_every == 0;
  }
  void work();
  void save();
  std::string kept() const;
  void update_closing_line() const { session_.set_closing_line(kept()); }

  const ResumableDescription& o_;
  Stops& stops_;
  Chain chain_;
  std::uint64_t done_, saved_;
  double begun_ = 0;
  Existing of_json_ = Existing::refuse;
  PathLock prefix_;
  ConfigurationWriter writer_;
};

}  // namespace quarksmith::runs
