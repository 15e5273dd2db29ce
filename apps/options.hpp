/// \file
/// Options that several subcommands share, and how their texts are read.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <nlohmann/json.hpp>

#include "runtime/clock.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "runtime/lattice/partition.hpp"
#include "runtime/text.hpp"

namespace quarksmith::apps {

/// A file that an option names.
struct NamedFile {
  std::string option;
  std::filesystem::path path;  ///< empty: not asked for
  bool locks_itself = false;   ///< what writes it takes the name
  bool made_again = false;     ///< by a run that has been done: stays if it is the same
  /// What becomes of a file of that name, if neither --overwrite nor the above says it.
  Existing existing = Existing::refuse;
};

/// Choices that subcommands share.
struct CommonOptions {
  std::string device = "auto", grid, policy;
  std::filesystem::path json;
  bool quiet = false, overwrite = false;
  std::string log_level = "info";
  int colours = 0;         ///< of links; 0: three of those that are made, of a file those that it has
  bool takes_any = false;  ///< whether a command takes links of other colours than three

  /// What a command has a use for, besides messages.
  enum Use : unsigned {
    computes = 1,    ///< --device
    shares = 2,      ///< a lattice among ranks: --grid
    crosses = 4,     ///< boundaries of ranks with spinors: --policy
    reports = 8,     ///< --json
    replaces = 16,   ///< files: --overwrite
    colourful = 32,  ///< links of any group SU(N): --colours
  };
  /// Adds --quiet, --log-level and what `uses` names.
  void add_to(CLI::App& command, unsigned uses);
  /// Checks the files that a command will write, --json among them, and takes their names: before any work.
  /// \param inputs files that must not be replaced before or after they are read.
  /// \param of_json what becomes of an existing file of --json.
  /// \throws UsageError a file exists and --overwrite was not given, two options name one file, its ending is that of
  /// another kind of file, or --overwrite was given without a file; Error it cannot be written, or another run has it.
  void claim(const std::vector<NamedFile>& files, const std::vector<NamedFile>& inputs = {},
             Existing of_json = Existing::refuse) const;
  /// The name of a file that was claimed.
  Output& output(const std::filesystem::path& path) const;
  Existing existing() const { return overwrite ? Existing::replace : Existing::refuse; }
  /// The processes that were started together, or those that a caller has.
  static Communicator& ranks() { return *all_ranks(); }
  static std::shared_ptr<Communicator> all_ranks();
  /// These in the grid of --grid, or in the one that suits a lattice.
  Partition partition() const;
  /// For commands that do not share a lattice among ranks.
  /// \throws UsageError several ranks were started.
  void require_one_rank(std::string_view command) const;
  /// The device chosen. Ranks of one host take its GPUs in turn unless --device names one.
  /// \throws UsageError some ranks have a GPU and others none.
  std::shared_ptr<Device> open_device() const;
  /// Lattice, device and ranks. \param reach of its kernels (runtime/fields/field.hpp)
  DomainPointer open_domain(const Lattice& lattice, int reach = 1) const;
  /// Writes a file that was claimed, on rank 0.
  void write(const std::filesystem::path& path, const std::string& text) const;
  /// Whether there is somebody to tell the result: --json, or a caller.
  bool reports_wanted() const;
  /// Tells the caller `result`, and writes it to the file of --json, if one was given.
  void write_json(const nlohmann::ordered_json& result) const;
  /// One line of rank 0 on standard error, unless --quiet or a log level above `info`.
  void info(const std::string& line) const;
  /// One line of rank 0 on standard error unless the log level is `error`.
  void warn(const std::string& line) const;

 private:
  std::shared_ptr<std::map<std::filesystem::path, Output>> outputs_ =
      std::make_shared<std::map<std::filesystem::path, Output>>();
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
/// The field of a caller that has this name; null if there is none.
const HostGauge* links_in_memory(const std::string& name);
/// This rank's part of one of those, or of links in memory.
NamedGauge open_gauge(const std::string& text, const std::string& lattice, const CommonOptions& common);

/// Adds --allow-non-su3, without which links that are not SU(3) are refused.
void add_allow_non_su3(CLI::App& command, bool& allowed);
/// \throws NotSU3 the links deviate from SU(3) by more than the limit, and that is not allowed.
void require_su3(const HostGauge& links, const std::string& origin, bool allowed, const CommonOptions& common);
/// Both deviations of links in words.
std::string deviation_text(const Unitarity& u);

/// Adds --format of the configuration that an option or argument `of` names, and --bits where they can be chosen.
void add_format(CLI::App& command, std::string& format, std::string_view of, int* bits = nullptr);
/// `format`, or if it is empty the format that a file name suggests.
/// \throws UsageError it suggests none.
std::string output_format(const std::string& name, const std::string& format);
/// `bits`, or if they are 0 those of the reals that a format stores unless asked otherwise.
int output_bits(const std::string& format, int bits = 0);

/// Progress of long work: a bar on a terminal, a line now and then elsewhere, nothing if quiet.
class Progress {
 public:
  Progress(std::string what, double total, const CommonOptions& common);
  ~Progress();
  /// From here on time counts, for what is left: so much is done already.
  void begin(double done);
  /// `done` of the total; `note` is shown beside the bar.
  void show(double done, const std::string& note = "");

 private:
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

void add_info(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_convert(CLI::App& app, int& status);
void add_links(CLI::App& app, int& status);
void add_smear(CLI::App& app, int& status);
void add_flow(CLI::App& app, int& status);
void add_apply(CLI::App& app, int& status);
void add_heatbath(CLI::App& app, int& status);
void add_hmc(CLI::App& app, int& status);
void add_propagator(CLI::App& app, int& status);
void add_correlators(CLI::App& app, int& status);
void add_measure(CLI::App& app, int& status);
void add_eigen(CLI::App& app, int& status);
void add_multigrid(CLI::App& app, int& status);
void add_solve_bench(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_accuracy(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_scaling(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_model(CLI::App& app, int& status);

}  // namespace quarksmith::apps
