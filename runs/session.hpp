/// \file
/// The session of a run: ranks, device, files and log; opening of configurations.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "runs/describe.hpp"
#include "runtime/clock.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/gauge_links.hpp"
#include "runtime/fields/given_field.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/lattice/partition.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

/// A file that an option names.
struct NamedFile {
  std::string member;          ///< member that names it
  std::filesystem::path path;  ///< empty: not asked for
  bool locks_itself = false;   ///< the name is claimed by the code that writes the file, not by Session::claim
  bool made_again = false;     ///< a repeated run makes it again: an existing file is kept if its content is the same
  /// What happens to an existing file, unless --overwrite or `made_again` decides.
  Existing existing = Existing::refuse;
  std::string label = {};  ///< name of the member in messages of the door
};

/// The surroundings of a run: options of all runs, ranks, device, log, requests to end, and fields in memory. The run
/// leaves its results in the session, for whoever called it.
class Session : public Description {
 public:
  // --- options ---
  std::string device = "auto", grid, policy;
  std::filesystem::path json;
  bool quiet = false, overwrite = false;
  std::string log_level = "info";
  int colours = 0;               ///< of links; 0: three for generated links, for a file those that it has
  bool ignore_checksum = false;  ///< files whose checksums fail are read, with a warning

  /// Features that a run uses, and thereby the options that it has besides those for messages.
  enum Use : unsigned {
    computes = 1,    ///< a device: option device
    shares = 2,      ///< a lattice divided among ranks: grid
    crosses = 4,     ///< halo exchange of spinors: policy
    reports = 8,     ///< a report: json
    replaces = 16,   ///< output files: overwrite
    colourful = 32,  ///< links of any group SU(N): colours
    reads = 64,      ///< configurations: ignore_checksum
  };
  unsigned uses = computes | shares | crosses;
  void list(Members& members) override;

  // --- set by a calling program ---
  bool in_memory = false;                     ///< results are returned in memory, so that no output file is required
  std::shared_ptr<Communicator> ranks_given;  ///< ranks that compute together; null: all that were started together
  std::optional<Lattice> lattice_given;       ///< lattices of its global extents are divided like it, without `grid`
  std::function<void(const std::string& line, bool warning)> take_line;  ///< empty: lines go to standard error
  std::function<void(const std::string& text)>
      take_text;                    ///< empty: text goes to standard output, or if in_memory nowhere
  std::function<bool()> wants_end;  ///< whether the run should end, as at SIGINT; asked often
  /// Configurations and fields, by names that can be used in place of file names.
  std::map<std::string, GaugeLinks, std::less<>> gauges;
  std::map<std::string, FieldNumbers, std::less<>> fields;
  std::map<std::string, Table, std::less<>> tables;  ///< in the same way, what RUN.toml would say
  /// Takes the report of each trajectory that has ended, as JSON; whether the run is to end with it.
  std::function<bool(const std::string& trajectory)> after_trajectory;

  // --- what runs ask for ---
  /// What a TOML file says, or the table in memory that has its name. \throws as read_toml.
  Table table(const std::filesystem::path& path) const;
  /// Checks the files that a run will write, `json` among them, and takes their names: before any work.
  /// \param inputs files that must not be replaced before or after they are read.
  /// \param of_json what happens to an existing file of `json`.
  /// \param later files that are checked here, but claimed only when they are written.
  /// \throws UsageError a file exists and `overwrite` was not given, two members name one file, its ending is that of
  /// another kind of file, or `overwrite` was given without a file; Error it cannot be written, or another run has it.
  void claim(const std::vector<NamedFile>& files, std::vector<NamedFile> inputs = {},
             Existing of_json = Existing::refuse, std::vector<NamedFile> later = {});
  /// Notes a file that is read: to be called before it is. \throws UsageError this run writes it.
  void reading(const std::string& member, const std::filesystem::path& path) const;
  /// The claim on an output file. \throws Error it was not claimed.
  Output& output(const std::filesystem::path& path);
  Existing existing() const { return overwrite ? Existing::replace : Existing::refuse; }
  /// The processes that compute together.
  Communicator& ranks() const { return *all_ranks(); }
  std::shared_ptr<Communicator> all_ranks() const { return ranks_given ? ranks_given : Communicator::world(); }
  /// The ranks in the grid of `grid`, or in one that suits the lattice.
  Partition partition() const;
  /// For runs that cannot divide a lattice among ranks.
  /// \throws UsageError several ranks were started.
  void require_one_rank(std::string_view command) const;
  /// Opens the chosen device. The ranks of a host use its GPUs in turn unless `device` names one.
  /// \throws UsageError some ranks have a GPU and others none.
  std::shared_ptr<Device> open_device();
  /// The name of the device that was opened; empty: none was.
  const std::string& opened_device() const { return opened_; }
  /// The domain of a lattice on the chosen device. \param reach of its kernels (runtime/fields/field.hpp).
  DomainPointer open_domain(const Lattice& lattice, int reach = 1);
  /// Writes a file that was claimed, on rank 0.
  void write(const std::filesystem::path& path, const std::string& text);
  /// Whether the report is wanted, by `json` or a calling program.
  bool reports_wanted() const { return !json.empty() || in_memory; }
  /// Writes a report, which is JSON, to the file of `json`, if one was given, and keeps it for the program that calls.
  void report(const std::string& result);
  /// The last report; `null` if there was none.
  const std::string& reported() const { return reported_; }
  /// Prints text of the result, on rank 0 only.
  void print(const std::string& text);
  /// Writes a line to the log on rank 0, unless `quiet` or the log level is above `info`.
  void info(const std::string& line) const;
  /// Writes a line to the log on rank 0, unless the log level is `error`.
  void warn(const std::string& line) const;
  /// Warns with `subject: line`, but only the first time for each subject.
  void warn_once(const std::string& subject, const std::string& line);
  /// Whether this is the first time that the run asks about a subject.
  bool is_first(const std::string& subject) { return warned_.insert(subject).second; }
  /// Whether lines of progress are shown, and whether a bar can be: on a terminal.
  bool shows_progress() const;
  bool has_terminal() const;
  /// \throws Interrupted a signal has arrived, or the calling program wants to end, and there is no Stops to handle it.
  void look() const;
  /// The signal that has arrived, SIGINT if the calling program wants to end; 0: none.
  int signal() const;
  /// Sets the line of messages about an end by a signal that states which files are kept and how to continue.
  void set_closing_line(const std::string& what);
  const std::string& closing_line() const { return at_end_; }
  /// Number of Stops objects that handle signals themselves.
  int looked_after = 0;
  /// Seconds since the session began; time limits count from there.
  double elapsed() const { return now() - begun_; }

 private:
  std::map<std::filesystem::path, Output> outputs_;
  mutable std::vector<NamedFile> read_;  ///< a log, like its lines
  std::vector<NamedFile> written_;       ///< now or later
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
  GaugeLinks gauge;
  std::string origin;  ///< for provenance: file and checksum, or the rule that made it
};
/// Whether a text of --gauge stands for generated links, not for a file.
bool is_generated(const std::string& gauge);
/// Forms of the value of --gauge.
inline constexpr const char* gauge_forms =
    "FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED, hot:X,Y,Z,T:SEED or peer-random:X,Y,Z,T:SEED";
/// The field in memory that has this name; null if there is none.
const GaugeLinks* links_in_memory(const std::string& name, const Session& session);
/// Reads, generates or takes from memory the links that `text` names, on the local lattice. \param lattice `X,Y,Z,T`,
/// for files that do not record it.
NamedGauge open_gauge(const std::string& text, const std::string& lattice, Session& session);

/// \throws UsageError the links have another number of colours than the run supports, or than was asked for.
void require_colours(int colours, const std::string& name, Session& session);

/// Adds allow_non_su3, without which links that are not SU(3) are refused.
void list_allow_non_su3(Members::Adder add, bool& allowed);
/// \throws NotSU3 the links deviate from SU(3) by more than the limit, and that is not allowed.
void require_su3(const GaugeLinks& links, const std::string& origin, bool allowed, Session& session);
/// Deviations of links from SU(N), as text.
std::string deviation_text(const Unitarity& u);

/// Adds a member for the format of the configuration file that member `of` names, and one for bits if not null.
void list_format(Members::Adder add, std::string& format, std::string_view of, int* bits = nullptr);
/// `format`, or if it is empty the format that a file name suggests.
/// \throws UsageError the name suggests none.
std::string output_format(const std::string& name, const std::string& format);
/// `bits`, or if that is 0 the default of a format.
int output_bits(const std::string& format, int bits = 0);

/// Progress of long work: a bar on a terminal, occasional lines elsewhere, nothing if quiet.
class Progress {
 public:
  Progress(std::string what, double total, Session& session);
  ~Progress();
  /// Starts the clock for estimates of the remaining time. \param done of the total, before this.
  void begin(double done);
  /// Shows progress. \param done of the total. \param note shown next to the bar.
  void show(double done, const std::string& note = "");

 private:
  Session& session_;
  std::string what_;
  double total_, shown_ = -1e9;
  bool terminal_, active_;
  std::size_t width_ = 0;
  double start_, begun_ = 0;
};

/// Seconds as text: 93 is `1 min 33 s`.
std::string duration_text(double seconds);

/// Families of kernels that `bench` times.
std::span<const std::string_view> timed_families();

}  // namespace quarksmith::runs
