#include "python/values.hpp"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include "python/ranks.hpp"

namespace quarksmith::python {

nb::str decoded(const std::string& text) {
  return nb::str(nb::module_::import_("os").attr("fsdecode")(nb::bytes(text.data(), text.size())));
}

std::string path_of(nb::handle text) {
  const nb::bytes bytes(nb::module_::import_("os").attr("fsencode")(text));
  return {bytes.c_str(), bytes.size()};
}

nb::object plain(nb::handle value) {
  const bool is_scalar =
      nb::hasattr(value, "item") && nb::hasattr(value, "ndim") && nb::cast<int>(value.attr("ndim")) == 0;
  return is_scalar ? value.attr("item")() : nb::borrow(value);
}

ComplexArray complex_array(nb::handle array, const char* name) {
  return nb::cast<ComplexArray>(nb::module_::import_("quarksmith.given").attr("as_numbers")(array, name));
}

Coordinates coordinates_of(nb::handle given, const char* name) {
  std::vector<int> all;
  if (nb::isinstance<nb::iterable>(given))
    for (const nb::handle n : given) {
      all.push_back(whole<int>(n, name));
      if (all.size() > directions) break;
    }
  if (all.size() != directions) throw UsageError(fmt::format("{}: give four whole numbers, x, y, z, t", name));
  return {all[0], all[1], all[2], all[3]};
}

nb::object to_python(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(nb::str(json.data(), json.size()));
}

namespace {

/// All numbers of an array in its order, whatever they are stored as.
std::vector<Complex64> numbers_in(nb::handle array) {
  const nb::object copy = nb::module_::import_("numpy").attr("ascontiguousarray")(array, "complex128");
  const auto all = nb::cast<nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>>(copy);
  return {all.data(), all.data() + all.size()};
}

}  // namespace

CallArguments::CallArguments(const nb::dict& values) {
  for (const auto& [given, value] : values) {
    const auto name = nb::cast<std::string>(given);
    if (name == "run" && nb::hasattr(value, "items")) {
      runs_.emplace("run", run_of(value, false));
      table_.entries.emplace_back(name, runs::Value{runs::Word{"run"}});
      of_runs_ = nb::cast<std::string>(nb::repr(value));
    } else {
      table_.entries.emplace_back(name, value_of(value));
    }
  }
}

runs::Table CallArguments::run_of(nb::handle mapping, bool of_fields) {
  runs::Table table;
  for (const nb::handle item : mapping.attr("items")()) {
    const std::string key = path_of(item[0]);
    if (const nb::object value = plain(item[1]); of_fields && nb::hasattr(value, "ndim"))
      table.entries.emplace_back(key, runs::Value{keep(value, key)});
    else
      table.entries.emplace_back(key, entry_of_run(value, key));
  }
  return table;
}

runs::Value CallArguments::entry_of_run(nb::handle given, const std::string& key) {
  const nb::object value = plain(given);
  if (nb::hasattr(value, "items")) return {run_of(value, key == "field")};
  if (nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value) || nb::hasattr(value, "__fspath__"))
    return {path_of(value)};
  if (nb::isinstance<GaugeObject>(value) || !nb::isinstance<nb::iterable>(value)) {
    runs::Value made = value_of(value);
    if (const auto* word = std::get_if<runs::Word>(&made.value)) made.value = std::string(word->text);
    return made;
  }
  std::vector<runs::Value> all;
  for (const nb::handle one : value) all.push_back(entry_of_run(one, key));
  return {std::move(all)};
}

std::string CallArguments::keep(nb::handle array, const std::string& key) {
  std::string name = "array " + key;
  while (fields_.contains(name)) name += "'";
  fields_.emplace(name, FieldNumbers{numbers_in(array)});
  return name;
}

runs::Value CallArguments::value_of(nb::handle given) {
  const nb::object value = plain(given);
  PyObject* const p = value.ptr();
  if (PyBool_Check(p)) return {p == Py_True};
  if (PyLong_Check(p)) {
    if (long long n = 0; nb::try_cast(value, n)) return {n};
    return {runs::Word{nb::cast<std::string>(nb::str(value))}};  // digits, which have more bits
  }
  if (nb::isinstance<GaugeObject>(value)) {
    const std::string name = fmt::format("gauge field {}", gauges_.size() + 1);
    gauges_.emplace(name, &nb::cast<const GaugeObject&>(value));
    return {runs::Word{name}};
  }
  if (PyUnicode_Check(p) || PyBytes_Check(p) || nb::hasattr(value, "__fspath__")) return {runs::Word{path_of(value)}};
  std::vector<runs::Value> all;
  if (nb::hasattr(value, "items")) {
    for (const nb::handle item : value.attr("items")()) all.push_back({entry_of(item[0], item[1])});
    return {std::move(all)};
  }
  if (nb::isinstance<nb::iterable>(value)) {
    for (const nb::handle one : value) all.push_back(value_of(one));
    return {std::move(all)};
  }
  if (PyNumber_Check(p) != 0) {
    const auto z = nb::cast<std::complex<double>>(value);
    if (z.imag() == 0) return {z.real()};
    return {runs::Word{fmt::format("{}:{}", z.real(), z.imag())}};
  }
  throw nb::type_error(
      fmt::format("{} is no number, text or sequence of them", nb::cast<std::string>(nb::repr(value))).c_str());
}

/// `name=value`, where an array stands for the numbers of a field.
runs::Word CallArguments::entry_of(nb::handle name, nb::handle given) {
  const std::string key = path_of(name);
  const nb::object value = plain(given);
  if (!nb::hasattr(value, "ndim")) return {fmt::format("{}={}", key, runs::word_of(value_of(value)))};
  return {fmt::format("{}={}", key, keep(value, key))};
}

std::string CallArguments::text() const {
  std::string line;
  for (const auto& [name, value] : table_.entries)
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, runs::word_of(value));
  return line + of_runs_;
}

void CallArguments::give(runs::Session& session) const {
  for (const auto& [name, gauge] : gauges_) {
    require_present(gauge->links.domain(), name.c_str());
    session.gauges.emplace(name, on_host(*gauge));
  }
  session.fields.insert(fields_.begin(), fields_.end());
  session.tables.insert(runs_.begin(), runs_.end());
}

DomainPointer CallArguments::domain() const {
  return gauges_.empty() ? nullptr : gauges_.begin()->second->links.domain_pointer();
}

}  // namespace quarksmith::python
