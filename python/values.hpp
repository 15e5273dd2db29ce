/// \file
/// Conversion of Python values to values of runs, and of reports to Python.
#pragma once

#include <fmt/format.h>

#include <limits>

#include "python/objects.hpp"
#include "runs/session.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {

/// Text that may hold names of files in any bytes, as os.fsdecode has it.
nb::str decoded(const std::string& text);
/// A text or path in the bytes that names of files have.
std::string path_of(nb::handle text);
/// A scalar of NumPy or another library, or an array without axes, as a number of Python; all else unchanged.
nb::object plain(nb::handle value);
/// An array of complex numbers in the order of its axes, from any of numbers. \throws UsageError as given.as_numbers.
using ComplexArray = nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>;
ComplexArray complex_array(nb::handle array, const char* name);
/// An array of NumPy that owns its numbers.
template <class T>
nb::ndarray<nb::numpy, T> array_of(std::unique_ptr<T[]> numbers, const std::vector<std::size_t>& shape) {
  T* const data = numbers.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return {data, shape.size(), shape.data(), owner};
}
/// A whole number of an argument. \throws UsageError it is another thing, or T cannot hold it.
template <class T>
T whole(nb::handle given, const char* name) {
  const nb::object value = plain(given);
  if (T n{}; PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()) && nb::try_cast(value, n)) return n;
  using Limits = std::numeric_limits<T>;
  throw UsageError(fmt::format("{}: give a whole number from {} to {}", name, Limits::min(), Limits::max()));
}
/// Four whole numbers, x, y, z, t. \throws UsageError it is another thing.
Coordinates coordinates_of(nb::handle given, const char* name);
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
  std::map<std::string, FieldNumbers> fields_;
  std::map<std::string, runs::Table> runs_;
  std::string of_runs_;  ///< as text
};

}  // namespace quarksmith::python
