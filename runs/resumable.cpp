#include "runs/resumable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runs/checkpoints.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {

void ResumableDescription::list_files(Members::Adder& add, const std::string& many, double most,
                                      const std::string& resumed) {
  add("save_every", save_every, fmt::format("also write a configuration every so many {}", many)).range(1, most).open();
  add("out", out, fmt::format("write PREFIX_<{}>.ildg", many));
  add("resume", resume, resumed);
  add("time_limit", time_limit,
      "stop with configuration and JSON written within this time: SECONDS, MM:SS or HH:MM:SS");
}

void ResumableDescription::check() {
  if (!out.empty()) return;
  refuse_given({"save_every"}, fmt::format("belongs to {} PREFIX; leave it out", called("out")));
  if (resume == "auto")
    refuse(Refusal::Kind::applies, "resume", fmt::format("auto belongs to {} PREFIX; name a file", called("out")));
}

std::string ResumableDescription::file_to_resume(const Session& session) const {
  return goes_on(session) ? last_configuration(out, session.ranks()) : resume;
}

ResumableRun::ResumableRun(const ResumableDescription& o, Session& session, Stops& stops, Chain chain)
    : session_(session),
      o_(o),
      stops_(stops),
      chain_(std::move(chain)),
      done_(chain_.first),
      saved_(chain_.first),
      writer_(session, o.out, of_configurations(), [this](std::uint64_t number, double seconds) {
        saved_ = number;
        stops_.wrote(seconds);
        update_closing_line();
      }) {
  reported_ = previous_results();
  prefix_ = claim();
}

/// The report of an earlier part of this run, or a new one.
Json ResumableRun::previous_results() {
  if (chain_.same.empty() || (chain_.resumed.empty() && !o_.goes_on(session_))) return chain_.results;
  Json same;
  for (const char* key : chain_.same) same[key] = chain_.results[key];
  auto found = previous_json(session_.json, same, "first", chain_.list, chain_.first, session_.ranks());
  if (!found) return chain_.results;
  of_json_ = Existing::replace;
  return *found;
}

/// The files of a run: their prefix and the last name are its own from the start, and the others can be written.
PathLock ResumableRun::claim() {
  if (o_.goes_on(session_) && of_json_ == Existing::refuse) of_json_ = Existing::resume;
  std::vector<NamedFile> inputs = chain_.inputs, outputs;
  inputs.push_back({"resume", chain_.resumed});
  if (!o_.out.empty())
    outputs.push_back({"out", configuration_name(o_.out, chain_.end), false, false, of_configurations()});
  session_.claim(outputs, inputs, of_json_);
  if (o_.out.empty()) return {};
  for (std::uint64_t n = chain_.first + 1; n < chain_.end && o_.save_every > 0; ++n)
    if (saves_at(n)) Output(configuration_name(o_.out, n), of_configurations(), session_.ranks());
  return lock_run(o_.out, chain_.resumed, session_.ranks());
}

Outcome ResumableRun::operator()() {
  if (o_.out.empty() && !session_.in_memory) session_.info("configurations are not kept: that takes --out PREFIX");
  update_closing_line();
  begun_ = now();
  try {
    work();
  } catch (const Stopped&) {  // the step at hand is given up
  } catch (const Error& e) {
    if (session_.ranks().size() > 1) throw;  // of ranks not all may have met it
    bool saved = false;
    try {
      writer_.wait();
      if (done_ != saved_) {
        save();
        writer_.wait();
        saved = true;
      }
    } catch (const Error&) {  // the first one says why the run ends
    }
    if (!saved) throw;
    throw Error(fmt::format("{}; {}", e.what(), kept()));
  }
  writer_.wait();
  finish();
  save();
  writer_.wait();
  runs::report(session_, reported_);  // with the time that the last file took
  Outcome left;
  if (session_.in_memory) left.gauge = configuration();
  if (done_ == chain_.end || ends_) return left;
  stops_.end();
  if (done_ == chain_.first)
    throw Error(fmt::format("--time-limit {}: no {} was finished in this time; give more", o_.time_limit, chain_.one));
  session_.warn("--time-limit: " + kept());
  return left;
}

void ResumableRun::work() {
  Progress progress(title(), double(chain_.end - chain_.first), session_);
  for (double longest = 0; done_ < chain_.end && !stops_.due(longest) && !ends_;) {
    const double begun = now();
    const std::string note = step();
    ++done_;
    longest = std::max(longest, now() - begun);
    update_closing_line();
    progress.show(double(done_ - chain_.first), note);
    writer_.look();
    if (saves_at(done_)) save();
  }
}

/// Writes the report and begins to write the configuration: where it is, all its steps are told.
void ResumableRun::save() {
  const double begun = now();
  writer_.wait();
  tell();
  runs::report(session_, reported_);
  if (!o_.out.empty() && (done_ > saved_ || done_ == chain_.end)) {
    writer_.write(done_, chain_.end, configuration(), {state()});
    wrote(now() - begun);
  } else {
    saved_ = done_;
  }
  stops_.wrote(now() - begun);
  update_closing_line();
}

/// What there is to go on from, and how.
std::string ResumableRun::kept() const {
  if (o_.out.empty())
    return fmt::format("{} of {} {} were made, and no configuration is kept: that takes --out PREFIX", done_,
                       chain_.end, chain_.many);
  if (saved_ == 0) return fmt::format("no {} is kept: the same command begins anew", chain_.one);
  const std::string file = saved_ == chain_.first ? chain_.resumed : configuration_name(o_.out, saved_).string();
  const std::string rest = chain_.from_first ? fmt::format(" --{} {}", chain_.many, chain_.end - saved_) : "";
  return fmt::format("{} has {} of {} {}: {} goes on from there", file, saved_, chain_.end, chain_.many,
                     o_.goes_on(session_) ? "the same command line"
                     : o_.resume.empty()  ? "the same command line without --overwrite"
                                          : fmt::format("--resume {}{}", file, rest));
}

}  // namespace quarksmith::runs
