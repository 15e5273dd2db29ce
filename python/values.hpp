/// \file
/// Conversion of Python values to values of runs, and of reports to Python.
#pragma once

#include "python/objects.hpp"
#include "runs/session.hpp"

namespace quarksmith::python {

/// Text that may hold names of files in any bytes, as os.fsdecode has it.
nb::str decoded(const std::string& text);
/// A text or path in the bytes that names of files have.
std::string path_of(nb::handle text);
/// A scalar of NumPy or another library, or an array without axes, as a number of Python; all else unchanged.
nb::object plain(nb::handle value);
/// JSON as dictionaries, lists, texts and numbers: None where a number is not finite.
nb::object to_python(const std::string& json);

/// The arguments of a call from Python; its objects must outlive this.
class CallArguments {
 public:
  /// \param values by the names of members; a text may also stand for a number.
  /// \throws nb::type_error a value is no number, text, field, or sequence or mapping of these.
  explicit CallArguments(const nb::dict& values);
  const runs::Table& table() const { return table_; }
  /// All arguments in one line.
  std::string text() const;
  /// Hands the fields to a session, in which they are found by the names that table() has for them.
  void give(runs::Session& session) const;
  /// The domain of the links among the arguments; null if there are none.
  DomainPointer domain() const;

 private:
  runs::Value value_of(nb::handle given);
  runs::Word entry_of(nb::handle name, nb::handle given);
  /// What RUN.toml would say. \param key under which the value stands; arrays of `field` are numbers of fields.
  runs::Value entry_of_run(nb::handle given, const std::string& key);
  runs::Table run_of(nb::handle mapping, bool of_fields);
  /// The name of a field in memory.
  std::string keep(nb::handle array, const std::string& key);

  runs::Table table_;
  std::map<std::string, const GaugeObject*> gauges_;
  std::map<std::string, std::vector<Complex64>> fields_;
  std::map<std::string, runs::Table> runs_;
  std::string of_runs_;  ///< as text
};

}  // namespace quarksmith::python
