// quarksmith measure: measurements on many configurations, from one file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "runs/checkpoints.hpp"
#include "runs/column_groups.hpp"
#include "runs/command.hpp"
#include "runs/contraction.hpp"
#include "runs/measure_report.hpp"
#include "runs/measure_run.hpp"
#include "runs/print.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

constexpr const char* record_format = "quarksmith measurements 1";

/// What is the same in all files of a run.
Provenance file_attributes(const RunKeys& keys) {
  return {{"format", record_format}, {"run", Json(keys).dump()}, {"program_version", QUARKSMITH_VERSION}};
}

std::string text_attribute(const Provenance& all, const char* key) {
  const auto found = all.find(key);
  const auto* text = found == all.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

/// One run of the command.
class Measurements final : public ResumableRun {
 public:
  Measurements(const MeasureDescription& o, const ConfigurationList& list, const MeasurePlan& plan, NamedGauge first,
               Session& session, Stops& stops)
      : ResumableRun(session, stops, o.time_limit),
        o_(o),
        list_(list),
        plan_(plan),
        extent_(first.gauge.lattice().global_extent()),
        first_(std::move(first)),
        result_{plan.keys} {}

  MeasureResult operator()() {
    find_earlier();
    session_.claim({{"out", o_.out, false, false, of_out_}}, inputs(), of_json(), written_meanwhile());
    work();
    return std::move(result_);
  }

 private:
  std::string title() const override { return "measure"; }
  double steps() const override { return static_cast<double>(list_.all.size()); }
  bool has_more() const override { return next_ < list_.all.size(); }
  std::string kept() const override {
    if (result_.finished) return fmt::format("{} is finished", o_.out.string());
    if (o_.out.empty())
      return fmt::format("{} of {} configurations were measured, and nothing is kept: that takes --out FILE.h5", done(),
                         list_.all.size());
    return fmt::format("{} of {} configurations are kept in {}: the same command line goes on from there", done(),
                       list_.all.size(), where());
  }
  std::string too_short() const override {
    return measured_ > 0 ? "" : "no configuration was measured in this time; give more";
  }
  /// A time limit leaves results in memory to the caller.
  void stop() override {
    if (o_.out.empty()) report(session_, json_of(result_));
  }

  /// Where the records of single configurations are until there are all of them.
  std::filesystem::path records() const { return o_.out.string() + ".records"; }
  std::filesystem::path record_of(const std::string& label) const { return records() / (label + ".h5"); }
  std::string where() const {
    return of_out_ == Existing::replace && !session_.overwrite ? o_.out.string() : records().string();
  }

  std::vector<NamedFile> inputs() const {
    std::vector<NamedFile> all = {{"RUN.toml", o_.run}};
    for (const Configuration& c : list_.all) all.push_back({"[configurations]", c.gauge});
    return all;
  }

  /// Of gauge fixing, a file a configuration.
  std::vector<NamedFile> written_meanwhile() const {
    std::vector<NamedFile> all;
    for (const Configuration& c : list_.all) {
      const auto number = static_cast<std::uint64_t>(c.number);
      const auto& [links, transformation] = plan_.fixing_files;
      if (!links.empty()) all.push_back({"[gauge_fixing] out", configuration_name(links, number)});
      if (!transformation.empty())
        all.push_back({"[gauge_fixing] transformation", configuration_name(transformation, number, ".h5")});
    }
    return all;
  }

  /// Configurations of the list; files may hold others.
  int done() const {
    return static_cast<int>(std::count_if(list_.all.begin(), list_.all.end(),
                                          [&](const Configuration& c) { return done_.contains(c.label()); }));
  }

  /// JSON of this very run is replaced, also where it was being written when that was killed.
  Existing of_json() const {
    const auto found = json_in(session_.json, session_.ranks());
    const bool own = found.is_object() && found.value("run", Json()) == Json(plan_.keys);
    return own ? Existing::replace : done_.empty() ? Existing::refuse : Existing::resume;
  }

  /// Takes the records that are in a file of this run. \throws UsageError it is of another one.
  void take(const std::filesystem::path& path) {
    const RecordReader found(path);
    if (text_attribute(found.attributes(), "format") != record_format)
      throw UsageError(fmt::format("{}: is no file of `quarksmith measure`; choose another --out", path.string()));
    const auto keys = keys_in(nlohmann::json::parse(text_attribute(found.attributes(), "run"), nullptr, false));
    if (const std::string other = keys ? differences(*keys, plan_.keys) : "its run is damaged"; !other.empty())
      throw UsageError(
          fmt::format("{}: was written by another run than {}: {}; choose another --out, or begin anew "
                      "with --overwrite",
                      path.string(), o_.run.string(), other));
    for (const std::string& label : found.names())
      done_[label] = text_attribute(found.attributes(label), "gauge_digest");
  }

  /// What an earlier part of this run has left: rank 0 looks.
  void find_earlier() {
    if (o_.out.empty()) return;
    if (session_.overwrite) {
      of_out_ = Existing::replace;
      return;
    }
    std::string labels;
    bool finished = false;
    session_.ranks().together([&] {
      if (session_.ranks().rank() != 0) return;
      finished = std::filesystem::exists(o_.out);
      if (finished) take(o_.out);
      if (std::filesystem::is_directory(records()))
        for (const auto& entry : std::filesystem::directory_iterator(records())) {
          if (entry.path().extension() != ".h5" || done_.contains(entry.path().stem().string())) continue;
          try {
            take(entry.path());
          } catch (const UsageError&) {
            throw;
          } catch (const Error& e) {
            session_.warn(fmt::format("{}; it is measured again", e.what()));
          }
        }
      labels = nlohmann::json(done_).dump();
    });
    done_ = nlohmann::json::parse(session_.ranks().broadcast(labels)).get<std::map<std::string, std::string>>();
    if (!done_.empty()) of_out_ = Existing::resume;
    if (session_.ranks().largest(finished) != 0) of_out_ = Existing::replace;
  }

  /// \throws UsageError the record of a configuration is of other links than it has.
  void begin(Progress& progress) override {
    for (const Configuration& c : list_.all) {
      const auto record = done_.find(c.label());
      if (record == done_.end()) continue;
      if (stops_.due()) throw Stopped{};
      const std::string now = gauge_digest(gauge_of(c).gauge, session_);
      if (record->second != now)
        throw UsageError(fmt::format(
            "{}: configuration {} was measured on other links (checksum {}) than {} has (checksum {}); give "
            "back those links, choose another --out, or begin anew with --overwrite",
            where(), c.number, record->second, c.gauge, now));
    }
    if (done() > 0)
      session_.info(fmt::format("{} of {} configurations are done in {}", done(), list_.all.size(), where()));
    skip_done(progress);
  }
  void skip_done(Progress& progress) {
    while (has_more() && done_.contains(list_.all[next_].label())) progress.show(double(++next_));
  }

  /// \throws UsageError its lattice is not that of the others.
  NamedGauge gauge_of(const Configuration& c) {
    NamedGauge named = &c == &list_.all[0] && first_ ? std::move(*first_) : open_configuration(c, list_, session_);
    first_.reset();
    if (named.gauge.lattice().global_extent() != extent_)
      throw UsageError(fmt::format("{}: lattice {}, of the first configuration {}; measure them in runs of their own",
                                   c.gauge, named.gauge.lattice().global_text(), fmt::join(extent_, "x")));
    return named;
  }

  void step(Progress& progress) override {
    const Configuration& c = list_.all[next_];
    NamedGauge named = gauge_of(c);
    const auto solves = static_cast<double>(plan_.solves(named.gauge.lattice()));
    const auto show = [&](double part, const std::string& note) {
      progress.show(double(next_) + (solves > 0 ? part / solves : 0),
                    fmt::format("configuration {} {}", c.number, note));
    };
    MeasureRun run(plan_, c, std::move(named), session_, stops_, show, o_.split);
    keep(c, run());
    session_.info(run.spent());
    skip_done(progress);
  }

  void keep(const Configuration& c, const Record& record) {
    if (o_.out.empty())
      result_.records.push_back(record);
    else
      write(c, record);
    done_[c.label()] = text_attribute(record.attributes, "gauge_digest");
    ++measured_;
  }

  /// Writes a record at once or not at all.
  void write(const Configuration& c, const Record& record) {
    session_.ranks().together([&] {
      if (session_.ranks().rank() == 0) std::filesystem::create_directories(records());
    });
    RecordFile file(file_attributes(plan_.keys));
    file.add(record);
    Output output(record_of(c.label()), Existing::replace, session_.ranks());
    write_text(output, std::move(file).bytes());
  }

  /// Joins the records into one file, in the order of their numbers, then removes them.
  void finish() override {
    if (o_.out.empty()) {
      result_.finished = true;
      return report(session_, json_of(result_));
    }
    std::map<std::string, std::filesystem::path> where;
    session_.ranks().together([&] {
      if (session_.ranks().rank() != 0) return;
      for (const auto& [label, digest] : done_) where[label] = record_of(label);
      if (std::filesystem::exists(o_.out) && !session_.overwrite) {
        const RecordReader earlier(o_.out);
        for (const std::string& label : earlier.names()) where[label] = o_.out;
      }
      if (!session_.reports_wanted()) return;
      std::filesystem::path opened;
      std::optional<RecordReader> from;
      for (const auto& [label, file] : where) {
        if (file != opened) from.emplace(opened = file);
        result_.records.push_back(from->read(label));
      }
    });
    join_records(session_.output(o_.out), file_attributes(plan_.keys), where);
    session_.info(fmt::format("wrote {}", o_.out.string()));
    result_.finished = true;
    update_closing_line();
    report(session_, json_of(result_));
    if (session_.ranks().rank() == 0) remove_records();
  }

  /// The records that are in the joined file now; what else is in the folder stays.
  void remove_records() const {
    std::error_code ignored;
    for (const auto& [label, digest] : done_) {
      clear_stale_lock(record_of(label));
      for (const char* ending : {"", ".part"}) std::filesystem::remove(record_of(label).string() + ending, ignored);
    }
    std::filesystem::remove(records(), ignored);
  }

  const MeasureDescription& o_;
  const ConfigurationList& list_;
  const MeasurePlan& plan_;
  Coordinates extent_;
  std::optional<NamedGauge> first_;
  std::map<std::string, std::string> done_;  ///< labels, and the digests of their links
  std::size_t next_ = 0;                     ///< in the list; those before it are done, once that is known
  int measured_ = 0;                         ///< by this run
  MeasureResult result_;
  Existing of_out_ = Existing::refuse;
};

MeasureGraph graph_on(const ConfigurationList& list, const MeasurePlan& plan, NamedGauge first, Session& session,
                      Stops& stops) {
  const Lattice lattice = first.gauge.lattice();
  MeasureRun run(plan, list.all[0], std::move(first), session, stops, {});
  std::vector<double> seconds;
  for (int n = 0; n < static_cast<int>(plan.quarks.size()); ++n) seconds.push_back(run.seconds_per_iteration(n));
  MeasureGraph graph = graph_of(plan, list, lattice, seconds);
  if (session.ranks().rank() == 0) print_graph(graph, plan, session);
  report(session, json_of(graph));
  return graph;
}

}  // namespace

void MeasureDescription::list(Members& members) {
  auto add = members.of(*this);
  add("run", run, "RUN.toml: configurations, sources, quarks, propagators, correlators (docs/howto-measure.md)")
      .required()
      .positional();
  add("out", out, "results (HDF5), a group a configuration; an unfinished run is continued");
  add("dry_run", dry_run, "show what would be made in which order, its solves and its memory, and no more");
  list_split(add, split, " (default: chosen, docs/howto-groups.md; 1,1,1,1: one group)");
  add("time_limit", time_limit,
      "stop with the configurations so far written within this time: SECONDS, MM:SS or HH:MM:SS");
}

namespace commands {
extern constinit const Command measure = {.name = "measure",
                                          .help = "Measure on many configurations what one file says",
                                          .place = 120,
                                          .uses = Session::reads | Session::computes | Session::shares |
                                                  Session::crosses | Session::reports | Session::replaces,
                                          .make = task<MeasureDescription>};
}

MeasureResult run(MeasureDescription& o, Session& session) {
  enter(o, session, commands::measure);
  if (o.out.empty() && !o.dry_run && !session.in_memory) throw UsageError("measure needs --out FILE.h5, or --dry-run");
  if (o.dry_run) {
    o.refuse_given({"out", "time_limit", "split"},
                   "belongs to measurements, which --dry-run does not make; leave it out");
    session.claim({}, {{"RUN.toml", o.run}});
  }
  const Table tree = session.table(o.run);
  TableReader file(tree, o.run.string(), "run");
  const ConfigurationList list = read_configurations(file, o.run.parent_path(), session);
  Stops stops(o.time_limit, solve_patience, session);
  NamedGauge first = open_configuration(list.all[0], list, session);
  const MeasurePlan plan = read_measure(file, o.run.parent_path(), first.gauge.lattice(), session);
  if (o.dry_run) return {plan.keys, false, {}, graph_on(list, plan, std::move(first), session, stops)};
  return Measurements(o, list, plan, std::move(first), session, stops)();
}

}  // namespace quarksmith::runs
