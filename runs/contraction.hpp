/// \file
/// Columns of propagators, whether just solved or read from a file, and the correlators that commands write of them.
#pragma once

#include "runs/print.hpp"
#include "runs/propagator.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith::runs {

/// Checksum of the links as they are used, the same on any grid of ranks and for any format of a file.
std::string gauge_digest(const HostGauge& gauge, const Session& session);
Json to_json(const Provenance& all);
/// What --correlators and --json write.
Json json_of(const PropagatorResult& result);
Json json_of(const Saving& saving);

/// What correlators need beside columns; the file of a propagator states all of it.
struct Contraction {
  double plaquette = 0;
  int source_t = 0;
  Complex64 time_phase = 1;  ///< of the boundary
  Provenance provenance;     ///< as JSON shows it
  std::string sink;          ///< empty for staggered quarks, which have none
};
/// All of it from an opened file.
Contraction contraction_of(const PropagatorReader& file, const Lattice& lattice, const std::string& sink);
/// Of what a run states in its header.
Contraction contraction_of(const PropagatorHeader& header, double plaquette, int source_t, Complex64 time_phase,
                           const std::string& sink);

/// The columns of a quark and the reports of their solves.
class Columns {
 public:
  /// \param masses of staggered quarks; none: Dirac quarks.
  Columns(const DomainPointer& domain, const std::vector<double>& masses);

  /// What is told of the solve of column n = 3 a + colour.
  ColumnSolve& solve(int n, const ColumnReport& report);
  /// Takes a solution before a sink, from a file or from where it was solved for, in a basis.
  void take(int n, const HostSpinor& column) { quark_.take(n, column); }
  void take(int n, const SpinorField& column, const BasisInfo& basis) { quark_.take(n, column, basis); }
  /// The same numbers as files have them.
  void give(int n, HostSpinor& column) const { quark_.give(n, column); }
  /// Notes what is made of it as it is.
  void note(int n, const HostSpinor& column, const ColumnReport& report, Communicator& ranks);
  /// Leaves it as the sink does.
  void smear(int n, const QuarkSmearing& sink, const std::shared_ptr<const LinkField>& links) {
    quark_.smear(n, sink, links);
  }
  /// What it has taken, given away.
  QuarkColumns release() { return std::move(quark_); }
  const QuarkColumns& quark() const { return quark_; }
  /// The largest of each propagator of it.
  std::vector<double> residuals() const;
  /// One line of all of them: iterations, the largest residual, seconds.
  std::string summary() const;
  /// All that there is but the columns.
  PropagatorResult result(const Contraction& c);
  /// That of a run that ends before it has all columns.
  PropagatorResult unfinished(const Contraction& c) const;

 private:
  QuarkColumns quark_;
  std::map<std::pair<int, int>, ColumnSolve> solves_;  ///< in the order in which they are told
};

/// Whether rank 0 sees a file: what others see may lag behind on shared file systems.
bool exists_on_root(const std::filesystem::path& path, Session& session);
/// Where the columns of a run go to, or come from.
struct ColumnStore {
  std::unique_ptr<PropagatorFile> file;        ///< to write, null without --out
  std::unique_ptr<PropagatorReader> finished;  ///< or one of this very calculation that an earlier run has finished
};
/// \param contracts correlators are asked for: of a finished file they are made again.
ColumnStore open_columns(const std::filesystem::path& out, const Lattice& lattice, const PropagatorHeader& header,
                         bool contracts, Session& session);
/// Reads column `n` = 3 a + colour of a finished file. \throws Error it does not match its checksum.
void read_sound(const PropagatorReader& file, const std::filesystem::path& path, int n, HostSpinor& column);

/// Whether --json has what an unfinished run wrote there, which a run that goes on replaces.
bool has_unfinished(Session& session);
/// \throws UsageError it is of another calculation than `header` states.
void require_same_unfinished(const PropagatorHeader& header, Session& session);

/// Writes JSON, or CSV if the name ends in .csv: one line a time slice, complex values in two columns.
void write_correlators(const std::filesystem::path& path, const PropagatorResult& result, Session& session);

}  // namespace quarksmith::runs
