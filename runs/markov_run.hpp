/// \file
/// Markov chains, which go on from any configuration that they have written to the same bits.
#pragma once

#include "runs/configuration_writer.hpp"
#include "runs/markov_chain.hpp"
#include "runs/print.hpp"
#include "runs/stops.hpp"

namespace quarksmith::runs {

/// A part of a chain: its report and files. What an earlier part has reported stays in the report.
class MarkovRun : public ResumableRun {
 public:
  /// Start and end of a run.
  struct Chain {
    const char *one, *many;         ///< names of its steps: `sweep`, `sweeps`
    const char* list;               ///< key of the report with an entry for each step
    std::vector<const char*> same;  ///< keys that must agree with the report of an earlier part; none: that is not read
    Json results;                   ///< the report before any step
    std::string resumed;            ///< the file from which it continues; empty: it starts anew
    std::uint64_t first, end;       ///< steps that are done at the start, and at the end
    bool from_first = false;        ///< whether users count steps from `first`
    std::vector<NamedFile> inputs = {};
  };
  /// Claims its files. \param o,stops outlive this.
  MarkovRun(const MarkovDescription& o, Session& session, Stops& stops, Chain chain);

 protected:
  /// Makes a step. \return what is worth to show of it.
  virtual std::string advance() = 0;
  virtual HostGauge configuration() const = 0;
  /// The record of a configuration from which a run can continue.
  virtual ExtraRecord state() const = 0;
  /// Adds the steps of this part to a report.
  virtual void add_to(Json& report) const = 0;
  /// Called when a configuration was given to be written, with what that took.
  virtual void wrote(double) {}
  /// Called after the last step of this part.
  virtual void conclude() {}
  std::optional<HostGauge> left() const { return session_.in_memory ? std::optional(configuration()) : std::nullopt; }
  std::uint64_t first() const { return chain_.first; }
  std::uint64_t done() const { return done_; }
  /// Seconds since the first step began.
  double seconds() const { return now() - begun_; }
  void report() const;

  bool ends_ = false;  ///< the program that called wants no more steps

 private:
  Json previous_results();
  PathLock claim();
  Existing of_configurations() const { return o_.goes_on(session_) ? Existing::resume : session_.existing(); }
  bool saves_at(std::uint64_t n) const {
    return o_.save_every > 0 && n < chain_.end && (n - (chain_.from_first ? chain_.first : 0)) % o_.save_every == 0;
  }
  void save();
  double steps() const final { return double(chain_.end - chain_.first); }
  bool has_more() const final { return done_ < chain_.end && !ends_; }
  void begin(Progress&) final;
  void step(Progress& progress) final;
  void finish() final;
  void fail(const Error& error) final;
  std::string kept() const final;
  std::string too_short() const final;

  const MarkovDescription& o_;
  Chain chain_;
  std::uint64_t done_, saved_;
  double begun_ = 0;
  Existing of_json_ = Existing::refuse;
  PathLock prefix_;
  ConfigurationWriter writer_;
};

}  // namespace quarksmith::runs
