// Exceptions of Python.
#include "python/objects.hpp"
#include "python/values.hpp"
#include "runs/describe.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

/// Declares an exception of Python for errors of a kind.
template <class Kind>
nb::object bind_error(nb::module_& m, const char* name, nb::handle base, const char* what) {
  nb::exception<Kind> error(m, name, base);
  error.attr("__doc__") = what;
  const auto in_words_of_python = [](const std::exception_ptr& thrown, void* type) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Kind& e) {
      PyErr_SetObject(static_cast<PyObject*>(type), decoded(in_words_of(runs::Door::python, e.what())).ptr());
    }
  };
  nb::register_exception_translator(in_words_of_python, error.ptr());
  return error;
}

/// An argument that was refused, with what is wrong and which one it was.
void raise_refusal(const std::exception_ptr& thrown, void* type) {
  constexpr const char* kinds[] = {"unknown", "missing", "twice",   "no_value",   "type",
                                   "range",   "word",    "applies", "contradicts"};
  try {
    std::rethrow_exception(thrown);
  } catch (const runs::Refusal& refusal) {
    const nb::handle usage_error(static_cast<PyObject*>(type));
    const nb::object error = usage_error(decoded(in_words_of(runs::Door::python, refusal.what())));
    error.attr("kind") = kinds[static_cast<int>(refusal.kind)];
    error.attr("member") = refusal.member;
    error.attr("line") = refusal.line;
    PyErr_SetObject(usage_error.ptr(), error.ptr());
  }
}

}  // namespace

/// Each kind is the one that Python knows as well, where it has one. Those registered last are tried first.
void bind_errors(nb::module_& m) {
  const auto and_also = [](nb::handle first, PyObject* second) { return nb::make_tuple(first, nb::handle(second)); };
  const nb::object error = bind_error<Error>(m, "Error", PyExc_RuntimeError, "Something failed.");
  const nb::object usage = bind_error<UsageError>(
      m, "UsageError", and_also(error, PyExc_ValueError),
      "Something impossible or contradictory was asked for: of the argument `member`, if that alone is wrong, the "
      "`kind` of mistake and the `line` of its file, or 0.");
  usage.attr("kind") = nb::str("");
  usage.attr("member") = nb::str("");
  usage.attr("line") = nb::int_(0);
  bind_error<UnknownName>(m, "UnknownName", usage, "A name that does not exist.");
  bind_error<WrongLattice>(m, "WrongLattice", usage, "Impossible extents, or fields of different lattices.");
  bind_error<MissingKernel>(m, "MissingKernel", usage, "The build lacks a kernel; the text is the row to add.");
  bind_error<NotSU3>(m, "NotSU3", usage, "Links are not SU(3) where they must be.");
  bind_error<BadData>(m, "BadData", error, "Numbers that are not finite.");
  bind_error<OutOfMemory>(m, "OutOfMemory", and_also(error, PyExc_MemoryError), "Too little memory.");
  nb::register_exception_translator(&raise_refusal, usage.ptr());
}

}  // namespace quarksmith::python
