#include "python/ranks.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "runs/ranks.hpp"
#include "python/objects.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {

namespace {

int joined = 1;  // ranks

}  // namespace

Communicator& ranks() {
  Communicator& found = runs::joined_ranks(false);
  joined = found.size();
  return found;
}

void require_present(const Domain& domain, const char* name) {
  if (&domain.communicator() == &ranks()) return;
  throw UsageError(fmt::format("{} of {} ranks, calls are now of {} others; use_ranks chose them", name,
                               domain.communicator().size(), ranks().size()));
}

namespace {

/// Rank and number of ranks.
std::pair<int, int> place() {
  const Busy busy;
  return {ranks().rank(), ranks().size()};
}

/// Chooses the ranks, and joins them.
template <class... Arguments>
auto choosing(void (*choose)(Arguments...)) {
  return [choose](Arguments... arguments) {
    {
      const Busy busy(Busy::Joins::no);
      choose(arguments...);
    }
    return place();
  };
}

}  // namespace

void bind_ranks(nb::module_& m) {
  m.def("ranks", &place, "Rank of this process, and how many there are.");
  m.def("use_communicator", choosing(&Communicator::use), nb::arg("number"),
        "Calls are of the ranks of a communicator, by its number in Fortran.");
  m.def("use_self", choosing(&Communicator::use_self), "Calls are of this process alone.");
  m.def("use_all", choosing(&Communicator::use_all), "Calls are of all ranks that were started.");
  m.def("joined", [] { return joined; }, "How many ranks calls are of so far; 1 before the first call.");
  m.def(
      "launched",
      [] { return std::ranges::any_of(launcher_variables, [](const char* v) { return std::getenv(v) != nullptr; }); },
      "Whether a launcher has started this process.");
  m.def("mpi_library", &Communicator::library, "The MPI library in words; empty without one.");
  m.def(
      "meet_in_error",
      [](const std::string& message) {
        const nb::gil_scoped_release release;
        const runs::Meeting m = runs::meet_in_error(message);
        return std::pair(m.all, m.alike);
      },
      nb::arg("message"), "Whether all ranks have failed, and with the same message; waits for seconds.");
  m.def("abort", &Communicator::abort, nb::arg("status"), "Ends all ranks.");
}

}  // namespace quarksmith::python
