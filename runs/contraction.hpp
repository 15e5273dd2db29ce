/// \file
/// Columns of propagators, from solves or from a file, and the correlators that commands write for them.
#pragma once

#include "runs/print.hpp"
#include "runs/propagator.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith::runs {

/// Checksum of links, the same on any grid of ranks and for any file format.
std::string gauge_digest(const HostGauge& gauge, const Session& session);
Json to_json(const Provenance& all);
/// A report with all its members, and back.
Json to_json(const SolveReport& report);
SolveReport solve_report_of(const Json& json);
/// The JSON of --correlators and --json.
Json json_of(const PropagatorResult& result);
Json json_of(const Saving& saving);

/// Data for correlators in addition to columns; propagator files contain all of it.
struct Contraction {
  double plaquette = 0;
  int source_t = 0;
  Complex64 time_phase = 1;  ///< of the boundary
  Provenance provenance;     ///< as JSON shows it
  std::string sink;          ///< empty for staggered quarks, which have none
};
/// Reads the data from an open file.
Contraction contraction_of(const PropagatorReader& file, const Lattice& lattice, const std::string& sink);
/// Takes the data from the header of a run.
Contraction contraction_of(const PropagatorHeader& header, double plaquette, int source_t, Complex64 time_phase,
                           const std::string& sink);

/// The columns of a quark and the reports of their solves.
class Columns {
 public:
  /// \param masses of staggered quarks; none: Dirac quarks.
  Columns(const DomainPointer& domain, const std::vector<double>& masses);

  /// Adds the report of the solve of column n = 3 a + colour.
  ColumnSolve& solve(int n, const ColumnReport& report);
  /// Sets a column before smearing of the sink, from a file or a solve.
  void take(int n, const HostSpinor& column) { quark_.take(n, column); }
  void take(int n, const SpinorField& column, const BasisInfo& basis) { quark_.take(n, column, basis); }
  /// Gets a column, in the basis of files.
  void give(int n, HostSpinor& column) const { quark_.give(n, column); }
  /// Records the norms that are needed of a column before smearing of the sink.
  void note(int n, const HostSpinor& column, const ColumnReport& report, Communicator& ranks);
  /// Smears the sink of a column.
  void smear(int n, const QuarkSmearing& sink, const std::shared_ptr<const LinkField>& links) {
    quark_.smear(n, sink, links);
  }
  /// Moves the columns out of this object.
  QuarkColumns release() { return std::move(quark_); }
  const QuarkColumns& quark() const { return quark_; }
  /// The largest residual of each propagator.
  std::vector<double> residuals() const;
  /// A line about all solves: iterations, the largest residual, seconds.
  std::string summary() const;
  /// The result without the columns.
  PropagatorResult result(const Contraction& c);
  /// The result of a run that ends before all columns are solved.
  PropagatorResult unfinished(const Contraction& c) const;

 private:
  QuarkColumns quark_;
  std::map<std::pair<int, int>, ColumnSolve> solves_;  ///< in the order of reports
};

/// Whether rank 0 sees a file: what others see may lag behind on shared file systems.
bool exists_on_root(const std::filesystem::path& path, Session& session);
/// The file to which the columns of a run are written, or from which they come.
struct ColumnStore {
  std::unique_ptr<PropagatorFile> file;        ///< to write, null without --out
  std::unique_ptr<PropagatorReader> finished;  ///< or the finished file of an earlier run of the same calculation
};
/// \param contracts whether correlators are wanted, so that they are made again from a finished file.
ColumnStore open_columns(const std::filesystem::path& out, const Lattice& lattice, const PropagatorHeader& header,
                         bool contracts, Session& session);
/// Reads column `n` = 3 a + colour of a finished file. \throws Error it does not match its checksum.
void read_sound(const PropagatorReader& file, const std::filesystem::path& path, int n, HostSpinor& column);

/// Whether the file of --json is of an unfinished run, so that a run that continues replaces it.
bool has_unfinished(Session& session);
/// \throws UsageError the file of --json is of another calculation than `header`.
void require_same_unfinished(const PropagatorHeader& header, Session& session);

/// Writes JSON, or CSV if the name ends in .csv: one line a time slice, complex values in two columns.
void write_correlators(const std::filesystem::path& path, const PropagatorResult& result, Session& session);

}  // namespace quarksmith::runs
