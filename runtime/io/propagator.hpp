/// \file
/// Propagators in HDF5: one dataset a column, written one after another, so that an interrupted run can continue.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A value of an attribute: text, number or list of numbers.
using ProvenanceValue =
    std::variant<std::string, double, long long, std::vector<double>, std::vector<long long>, std::vector<Complex64>>;
using Provenance = std::map<std::string, ProvenanceValue>;

/// The value as text, for messages.
std::string text_of(const ProvenanceValue& value);

/// Report of the solve of one column.
struct ColumnReport {
  double iterations = 0, residual = 0, seconds = 0, gflops = 0;
  std::string solver, precision, even_odd, links;  ///< how it was solved; columns of one file may differ in this
  std::vector<double> midpoint;  ///< domain-wall quarks: |psi|^2 amid the fifth dimension, summed over sites, by t
};

/// The columns of a file: datasets `/column/<a>/<colour>`, or for eigenvectors `/column/<number>/<slice>`.
struct PropagatorForm {
  bool staggered = false;  ///< colour vectors, and `a` is the index of the mass; else spinors, and `a` is the spin
  int first = 4;           ///< number of values of `a`
  bool midpoint = false;   ///< reports have the midpoint sums of domain-wall quarks
  bool vectors = false;    ///< eigenvectors, not a propagator
  int each = 3;            ///< number of columns for each `a`

  int columns() const { return each * first; }
  int column(int a, int b) const { return each * a + b; }
  int components() const { return staggered ? 3 : 12; }
  friend bool operator==(const PropagatorForm&, const PropagatorForm&) = default;
};

/// Key of a provenance for the digest of an action's formula; the library's own actions, unchanged, have none.
constexpr const char* formula_key = "formula_digest";
/// The provenance that a file with provenance `found` must have to be used: `own`, but with an empty formula digest if
/// only the file has one.
Provenance wanted_of(Provenance own, const Provenance& found);

/// Attributes of a file, and the form of its columns.
struct PropagatorHeader {
  Provenance provenance;  ///< decides whether two runs compute the same columns
  Provenance remarks;     ///< not compared: names, versions, how the first columns were solved
  PropagatorForm form;

  PropagatorHeader(Provenance p = {}, Provenance r = {}, PropagatorForm f = {})
      : provenance(std::move(p)), remarks(std::move(r)), form(f) {}
};

/// A file that is written column by column. docs/files.md describes the format: HDF5, followed by a seal that repeats
/// its structure, so that damage is detected without libhdf5, which crashes on some damaged files. It is written as
/// `<path>.part` and renamed by finish(). All datasets are laid out when the file is created, so that writing a column
/// changes no structure: a run that is killed leaves a readable file, and each rank writes its sites in place. Each
/// column has a checksum, the same on any grid of ranks. All calls but `has` and `report` are collective, and so is the
/// destructor; if one rank throws, all do.
class PropagatorFile {
 public:
  using Provenance = quarksmith::Provenance;

  /// Creates `<path>.part`, or continues it if its provenance is equal.
  /// \param overwrite replaces a finished file, and discards a partial one that is damaged or of other provenance,
  /// instead of refusing.
  /// \throws UsageError a finished file exists, or a partial one of other provenance or of the former format; Error the
  /// file is damaged or cannot be written.
  PropagatorFile(const std::filesystem::path& path, const Lattice& lattice, const PropagatorHeader& header,
                 bool overwrite, Communicator& communicator = *Communicator::self());
  ~PropagatorFile();

  /// Whether an earlier run has written this column; one whose report is damaged does not count.
  bool has(int first, int colour) const;
  /// Whether anything was written for this column: if so, and `has` or `read` rejects it, it is damaged.
  bool touched(int first, int colour) const;
  ColumnReport report(int first, int colour) const;
  /// \return false: the column does not match its checksum.
  [[nodiscard]] bool read(int first, int colour, HostSpinor& column) const;
  /// \throws Error the disk is full or fails; earlier columns are kept.
  void write(int first, int colour, const HostSpinor& column, const ColumnReport& report);
  /// Starts to write a column in the background, or writes it if there are several ranks. One at a time: all other
  /// calls wait for it, and complete it. \throws Error an earlier column could not be written.
  void begin_write(int first, int colour, std::shared_ptr<const HostSpinor> column, const ColumnReport& report);
  /// Closes the file and gives it its final name.
  void finish();

 private:
  void wait() const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A finished or partial file, opened for reading. All calls but those without arguments, `has` and `report` are
/// collective.
class PropagatorReader {
 public:
  /// \throws Error the file is missing, damaged, of the former format, or holds something else.
  /// \param vectors whether the file must hold eigenvectors (true) or a propagator (false); none: either.
  explicit PropagatorReader(const std::filesystem::path& path, Communicator& communicator = *Communicator::self(),
                            std::optional<bool> vectors = false);
  ~PropagatorReader();

  /// All attributes.
  const Provenance& provenance() const;
  const PropagatorForm& form() const;
  const Coordinates& extent() const;
  /// One attribute. \throws Error it is missing or of another type.
  template <class T>
  const T& value(const std::string& key) const {
    const auto found = provenance().find(key);
    const T* held = found == provenance().end() ? nullptr : std::get_if<T>(&found->second);
    if (held == nullptr) missing(key);
    return *held;
  }
  bool has(int first, int colour) const;
  /// Whether anything was written for this column: if so, and `has` rejects it, it is damaged.
  bool touched(int first, int colour) const;
  ColumnReport report(int first, int colour) const;
  /// The column's checksum in hexadecimal.
  std::string checksum(int first, int colour) const;
  /// Reads the local lattice's sites of a column. \return false: the column does not match its checksum.
  /// \throws Error it cannot be read, or `column` is of another lattice.
  [[nodiscard]] bool read(int first, int colour, HostSpinor& column) const;
  /// \throws UsageError `header` states another calculation; the message ends with `remedy`.
  void require(const PropagatorHeader& header, const Coordinates& lattice, const std::string& remedy) const;

 private:
  [[noreturn]] void missing(const std::string& key) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Whether a file is in HDF5, whatever its content.
bool is_hdf5(const std::filesystem::path& path);

/// Reads a column of a finished file, each rank its local lattice. Collective.
/// \throws Error the file is missing, damaged, or of another lattice.
void read_propagator_column(const std::filesystem::path& path, int first, int colour, HostSpinor& column,
                            Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
