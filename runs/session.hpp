/// \file
/// What surrounds a run, and how configurations are opened in it.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "runs/describe.hpp"
#include "runtime/clock.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/lattice/partition.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

/// A file that an option names.
struct NamedFile {
  std::string member;          ///< that names it
  std::filesystem::path path;  ///< empty: not asked for
  bool locks_itself = false;   ///< what writes it takes the name
  bool made_again = false;     ///< by a run that has been done: stays if it is the same
  /// What becomes of a file of that name, if neither --overwrite nor the above says it.
  Existing existing = Existing::refuse;
  std::string label = {};  ///< the member in the words of a door
};

/// What surrounds a run: what all runs can be told, ranks, device, log, the wish to end, and what is in memory. It is
/// passed to the run, which leaves its results to whoever called it.
class Session : public Description {
 public:
  // --- what users say ---
  std::string device = "auto", grid, policy;
  std::filesystem::path json;
  bool quiet = false, overwrite = false;
  std::string log_level = "info";
  int colours = 0;               ///< of links; 0: three of those that are made, of a file those that it has
  bool ignore_checksum = false;  ///< files whose checksums fail are read, with a warning

  /// What a run has a use for, besides messages.
  enum Use : unsigned {
    computes = 1,    ///< device
    shares = 2,      ///< a lattice among ranks: grid
    crosses = 4,     ///< boundaries of ranks with spinors: policy
    reports = 8,     ///< json
    replaces = 16,   ///< files: overwrite
    colourful = 32,  ///< links of any group SU(N): colours
    reads = 64,      ///< configurations: ignore_checksum
  };
  unsigned uses = computes | shares | crosses;
  void list(Members& members) override;

  // --- what a program that calls gives, and takes over ---
  bool in_memory = false;  ///< results are taken in memory: none of the files of a run has to be named
  std::shared_ptr<Communicator> ranks_given;  ///< which compute together; null: all that were started together
  std::function<void(const std::string& line, bool warning)> take_line;  ///< empty: lines go to standard error
  std::function<void(const std::string& text)>
      take_text;                    ///< empty: it goes to standard output, or if in_memory nowhere
  std::function<bool()> wants_end;  ///< whether to end, as at SIGINT; asked often
  /// Configurations, and numbers of fields of all sites in lexicographic order, under names that stand in the place of
  /// names of files.
  std::map<std::string, HostGauge, std::less<>> gauges;
  std::map<std::string, std::vector<Complex64>, std::less<>> fields;
  std::map<std::string, Table, std::less<>> tables;  ///< in the same way, what RUN.toml would say
  /// Takes the report of each trajectory that has ended, as JSON; whether the run is to end with it.
  std::function<bool(const std::string& trajectory)> after_trajectory;

  // --- what runs ask for ---
  /// What a TOML file says, or the table in memory that has its name. \throws as read_toml.
  Table table(const std::filesystem::path& path) const;
  /// Checks the files that a run will write, `json` among them, and takes their names: before any work.
  /// \param inputs files that must not be replaced before or after they are read.
  /// \param of_json what becomes of an existing file of `json`.
  /// \param later files that it writes meanwhile, and takes the names of then.
  /// \throws UsageError a file exists and `overwrite` was not given, two members name one file, its ending is that of
  /// another kind of file, or `overwrite` was given without a file; Error it cannot be written, or another run has it.
  void claim(const std::vector<NamedFile>& files, std::vector<NamedFile> inputs = {},
             Existing of_json = Existing::refuse, std::vector<NamedFile> later = {});
  /// The name of a file that was claimed.
  Output& output(const std::filesystem::path& path);
  Existing existing() const { return overwrite ? Existing::replace : Existing::refuse; }
  /// The processes that compute together.
  Communicator& ranks() const { return *all_ranks(); }
  std::shared_ptr<Communicator> all_ranks() const { return ranks_given ? ranks_given : Communicator::world(); }
  /// These in the grid of `grid`, or in the one that suits a lattice.
  Partition partition() const;
  /// For runs that do not share a lattice among ranks.
  /// \throws UsageError several ranks were started.
  void require_one_rank(std::string_view command) const;
  /// The device chosen. Ranks of one host take its GPUs in turn unless `device` names one.
  /// \throws UsageError some ranks have a GPU and others none.
  std::shared_ptr<Device> open_device();
  /// The name of the device that was opened; empty: none was.
  const std::string& opened_device() const { return opened_; }
  /// Lattice, device and ranks. \param reach of its kernels (runtime/fields/field.hpp)
  DomainPointer open_domain(const Lattice& lattice, int reach = 1);
  /// Writes a file that was claimed, on rank 0.
  void write(const std::filesystem::path& path, const std::string& text);
  /// Whether there is somebody to take the report: `json`, or a program.
  bool reports_wanted() const { return !json.empty() || in_memory; }
  /// Writes a report, which is JSON, to the file of `json`, if one was given, and keeps it for the program that calls.
  void report(const std::string& result);
  /// The last report; `null`: there was none.
  const std::string& reported() const { return reported_; }
  /// Text of the result: of rank 0 alone.
  void print(const std::string& text);
  /// One line of rank 0 for the log, unless `quiet` or a log level above `info`.
  void info(const std::string& line) const;
  /// One line of rank 0 for the log, unless the log level is `error`.
  void warn(const std::string& line) const;
  /// The same, `subject: line`, unless something was said of the subject so.
  void warn_once(const std::string& subject, const std::string& line);
  /// Whether lines of progress are shown, and whether a bar can be: on a terminal.
  bool shows_progress() const;
  bool has_terminal() const;
  /// \throws Interrupted a signal has come, or the program that calls wants to end, and no Stops looks for itself.
  void look() const;
  /// The signal that has come, SIGINT where the program that calls wants to end; 0: none.
  int signal() const;
  /// What an end by a signal says of the files of the run, and of what goes on from where: one line.
  void set_closing_line(const std::string& what);
  const std::string& closing_line() const { return at_end_; }
  /// How many look for signals themselves.
  int looked_after = 0;
  /// Seconds since it began, from which time limits count.
  double elapsed() const { return now() - begun_; }

 private:
  std::map<std::filesystem::path, Output> outputs_;
  std::string reported_ = "null", opened_, at_end_ = "finished files are kept";
  double begun_ = now();
  std::set<std::string> warned_;
};

/// `a,b,c,d` as four numbers.
/// \throws UsageError anything else; the message names `option`.
std::array<double, 4> four_numbers(const std::string& text, const std::string& option);
Coordinates four_integers(const std::string& text, const std::string& option);

/// A gauge field and what is known of its origin.
struct NamedGauge {
  HostGauge gauge;
  std::string origin;  ///< for provenance: file and checksum, or the rule that made it
};
/// Whether a gauge field is one that is made, not read.
bool is_generated(const std::string& gauge);
/// What --gauge takes.
inline constexpr const char* gauge_forms =
    "FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED, hot:X,Y,Z,T:SEED or peer-random:X,Y,Z,T:SEED";
/// The field in memory that has this name; null if there is none.
const HostGauge* links_in_memory(const std::string& name, const Session& session);
/// This rank's part of one of those, or of links in memory.
NamedGauge open_gauge(const std::string& text, const std::string& lattice, Session& session);

/// \throws UsageError links of other colours than a run takes, or than were asked for.
void require_colours(const HostGauge& gauge, const std::string& name, Session& session);

/// Adds allow_non_su3, without which links that are not SU(3) are refused.
void list_allow_non_su3(Members::Adder add, bool& allowed);
/// \throws NotSU3 the links deviate from SU(3) by more than the limit, and that is not allowed.
void require_su3(const HostGauge& links, const std::string& origin, bool allowed, Session& session);
/// Both deviations of links in words.
std::string deviation_text(const Unitarity& u);

/// Adds the format of the configuration that a member `of` names, and bits where they can be chosen.
void list_format(Members::Adder add, std::string& format, std::string_view of, int* bits = nullptr);
/// `format`, or if it is empty the format that a file name suggests.
/// \throws UsageError it suggests none.
std::string output_format(const std::string& name, const std::string& format);
/// `bits`, or if they are 0 those of the reals that a format stores unless asked otherwise.
int output_bits(const std::string& format, int bits = 0);

/// Progress of long work: a bar on a terminal, a line now and then elsewhere, nothing if quiet.
class Progress {
 public:
  Progress(std::string what, double total, Session& session);
  ~Progress();
  /// From here on time counts, for what is left: so much is done already.
  void begin(double done);
  /// `done` of the total; `note` is shown beside the bar.
  void show(double done, const std::string& note = "");

 private:
  Session& session_;
  std::string what_;
  double total_, shown_ = -1e9;
  bool terminal_, active_;
  std::size_t width_ = 0;
  double start_, begun_ = 0;
};

/// `93` -> `1 min 33 s`
std::string duration_text(double seconds);

/// Families of kernels that `bench` times.
std::span<const std::string_view> timed_families();

}  // namespace quarksmith::runs
