#include "runs/markov_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runs/checkpoints.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {

void MarkovDescription::list_files(Members::Adder& add, const std::string& many, double most,
                                   const std::string& resumed) {
  add("save_every", save_every, fmt::format("also write a configuration every so many {}", many)).range(1, most).open();
  add("out", out, fmt::format("write PREFIX_<{}>.ildg", many));
  add("resume", resume, resumed);
  add("time_limit", time_limit,
      "stop with configuration and JSON written within this time: SECONDS, MM:SS or HH:MM:SS");
}

void MarkovDescription::check() {
  if (!out.empty()) return;
  refuse_given({"save_every"}, fmt::format("belongs to {} PREFIX; leave it out", called("out")));
  if (resume == "auto")
    refuse(Refusal::Kind::applies, "resume", fmt::format("auto belongs to {} PREFIX; name a file", called("out")));
}

std::string MarkovDescription::file_to_resume(const Session& session) const {
  return goes_on(session) ? last_configuration(out, session.ranks()) : resume;
}

MarkovRun::MarkovRun(const MarkovDescription& o, Session& session, Stops& stops, Chain chain)
    : ResumableRun(session, stops, o.time_limit),
      o_(o),
      chain_(std::move(chain)),
      done_(chain_.first),
      saved_(chain_.first),
      writer_(session, o.out, of_configurations(), [this](std::uint64_t number, double seconds) {
        saved_ = number;
        stops_.wrote(seconds);
        update_closing_line();
      }) {
  chain_.results = previous_results();
  prefix_ = claim();
}

/// The report of an earlier part of this run, or a new one.
Json MarkovRun::previous_results() {
  if (chain_.same.empty() || (chain_.resumed.empty() && !o_.goes_on(session_))) return chain_.results;
  Json same;
  for (const char* key : chain_.same) same[key] = chain_.results[key];
  auto found = previous_json(session_.json, same, "first", chain_.list, chain_.first, session_.ranks());
  if (!found) return chain_.results;
  of_json_ = Existing::replace;
  auto& entries = (*found)[chain_.list].get_ref<Json::array_t&>();
  entries.resize(chain_.first - (*found)["first"].get<std::uint64_t>());
  return *found;
}

/// The files of a run: their prefix and the last name are its own from the start, and the others can be written.
PathLock MarkovRun::claim() {
  if (o_.goes_on(session_) && of_json_ == Existing::refuse) of_json_ = Existing::resume;
  std::vector<NamedFile> inputs = chain_.inputs, outputs, later;
  inputs.push_back({"resume", chain_.resumed});
  if (!o_.out.empty())
    outputs.push_back({"out", configuration_name(o_.out, chain_.end), false, false, of_configurations()});
  for (std::uint64_t n = chain_.first + 1; n < chain_.end && o_.save_every > 0 && !o_.out.empty(); ++n)
    if (saves_at(n)) later.push_back({"out", configuration_name(o_.out, n)});
  session_.claim(outputs, inputs, of_json_, later);
  if (o_.out.empty()) return {};
  for (const NamedFile& file : later) Output(file.path, of_configurations(), session_.ranks());
  return lock_run(o_.out, chain_.resumed, session_.ranks());
}

void MarkovRun::begin(Progress&) {
  if (o_.out.empty() && !session_.in_memory) session_.info("configurations are not kept: that takes --out PREFIX");
  begun_ = now();
}

void MarkovRun::step(Progress& progress) {
  const std::string note = advance();
  ++done_;
  progress.show(double(done_ - chain_.first), note);
  writer_.look();
  if (saves_at(done_)) save();
}

/// A configuration of the last step is written where an error ends the run, if configurations are kept.
void MarkovRun::fail(const Error& error) {
  if (session_.ranks().size() > 1) return;  // of ranks not all may have met it
  try {
    writer_.wait();
    if (done_ == saved_) return;
    save();
    writer_.wait();
  } catch (const Error&) {  // the first one says why the run ends
    return;
  }
  throw Error(fmt::format("{}; {}", error.what(), kept()));
}

void MarkovRun::finish() {
  writer_.wait();
  conclude();
  save();
  writer_.wait();
  report();  // with the time that the last file took
}

void MarkovRun::report() const {
  Json all = chain_.results;
  add_to(all);
  runs::report(session_, all);
}

/// Writes the report and begins to write the configuration: where it is, all its steps are told.
void MarkovRun::save() {
  const double begun = now();
  writer_.wait();
  report();
  if (!o_.out.empty() && (done_ > saved_ || done_ == chain_.end)) {
    writer_.write(done_, chain_.end, configuration(), {state()});
    wrote(now() - begun);
  } else {
    saved_ = done_;
  }
  stops_.wrote(now() - begun);
  update_closing_line();
}

std::string MarkovRun::too_short() const {
  return done_ > chain_.first ? "" : fmt::format("no {} was finished in this time; give more", chain_.one);
}

std::string MarkovRun::kept() const {
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
