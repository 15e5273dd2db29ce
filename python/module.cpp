// The module quarksmith._quarksmith: objects and their methods.
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "python/arrays.hpp"
#include "python/expressions.hpp"
#include "python/forces.hpp"
#include "python/objects.hpp"
#include "python/ranks.hpp"
#include "python/values.hpp"
#include "runs/ranks.hpp"
#include "runtime/error.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith::python {
namespace {

/// The memory of an object, which lives as long as an array of it.
nb::object memory_of(nb::handle self, const MemoryView& view) {
  const auto [kind, number] = view.device->identity().dlpack;
  view.device->synchronize();
  const nb::ndarray<nb::array_api, double> array(view.data, view.shape.size(), view.shape.data(), self, nullptr,
                                                 nb::dtype<double>(), kind, number);
  return nb::cast(array);
}

template <class Object>
nb::object memory(nb::handle self) {
  return memory_of(self, view_of(numbers_of(nb::cast<const Object&>(self))));
}

/// The buffer is that of the array, which NumPy and memoryview take it from.
template <class Object>
int get_buffer(PyObject* self, Py_buffer* buffer, int flags) noexcept {
  buffer->obj = nullptr;
  try {
    return PyObject_GetBuffer(memory<Object>(self).ptr(), buffer, flags);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  return -1;
}

template <class Object>
PyType_Slot* slots() {
  static PyType_Slot all[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer<Object>)}, {0, nullptr}};
  return all;
}

/// Numbers of right-hand sides: one of a single one.
template <class T>
nb::object numbers_of_columns(const std::vector<T>& all) {
  if (all.size() == 1) return nb::cast(all[0]);
  auto numbers = std::make_unique_for_overwrite<T[]>(all.size());
  std::copy(all.begin(), all.end(), numbers.get());
  return nb::cast(array_of(std::move(numbers), {all.size()}));
}

/// Sums and multiples. NumPy leaves products with its numbers to the field, whose memory it would take otherwise.
template <class Object, class Number>
void bind_algebra(nb::class_<Object>& c) {
  const auto sum = [](Number a, const Object& x, Number b, const Object& y) {
    const Busy busy;
    return combined(a, x, b, y);
  };
  c.attr("__array_ufunc__") = nb::none();
  c.def("__add__", [sum](const Object& x, const Object& y) { return sum(1, x, 1, y); }, nb::is_operator());
  c.def("__sub__", [sum](const Object& x, const Object& y) { return sum(1, x, -1, y); }, nb::is_operator());
  c.def("__neg__", [sum](const Object& x) { return sum(-1, x, 0, x); });
  c.def("__mul__", [sum](const Object& x, Number a) { return sum(a, x, 0, x); }, nb::is_operator());
  c.def("__rmul__", [sum](const Object& x, Number a) { return sum(a, x, 0, x); }, nb::is_operator());
  c.def("__truediv__", [sum](const Object& x, Number a) { return sum(1. / a, x, 0, x); }, nb::is_operator());
  const auto products = [](const Object& x, const Object& y) {
    const Busy busy;
    return dots(x, y);
  };
  c.def(
      "dot", [products](const Object& x, const Object& y) { return numbers_of_columns(products(x, y)); },
      nb::arg("other"),
      "Scalar product: sum conj(psi) chi of each right-hand side, Re sum tr U^+ V, or of momenta sum -tr P Q.");
  c.def(
      "norm",
      [products](const Object& x) {
        std::vector<double> all;
        for (const auto z : products(x, x)) all.push_back(std::sqrt(std::real(z)));
        return numbers_of_columns(all);
      },
      "The root of the scalar product with itself.");
}

/// `KIND(details on EXTENT, device='cpu')`
std::string text_of(const char* kind, const std::string& details, const Domain& domain) {
  return std::string(kind) + "(" + details + " on " + domain.lattice().global_text() + ", device='" +
         domain.device().name() + "')";
}

/// What fields have in common.
template <class Object, const Domain& (*domain)(const Object&), int (*lanes)(const Object&)>
void bind_field(nb::class_<Object>& c) {
  c.def(
      "__dlpack__",
      [](nb::handle self, const nb::kwargs& how) { return memory<Object>(self).attr("__dlpack__")(**how); },
      nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"));
  c.def(
      "__dlpack_device__", [](nb::handle self) { return memory<Object>(self).attr("__dlpack_device__")(); },
      nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
  c.def_prop_rw(
      "report", [](const Object& f) { return f.report.is_valid() ? f.report : nb::object(nb::none()); },
      [](Object& f, nb::object report) { f.report = std::move(report); },
      nb::for_getter(nb::sig("def report(self) -> quarksmith.calls.Report")),
      nb::for_setter(nb::sig("def report(self, report: quarksmith.calls.Report, /) -> None")),
      "What the call reports that has left it.");
  c.def("lexicographic", &lexicographic<Object>, nb::arg("out") = nb::none(),
        nb::sig("def lexicographic(self, out: typing.Any = None) -> typing.Any"),
        "Copy of the numbers of this rank's part, lexicographic: axes (right-hand side,) t, z, y, x, then those of a "
        "site. In the array `out`, if one is given, which may be in the memory of their GPU.");
  c.def("assign", &assign<Object>, nb::arg("numbers").none(), nb::sig("def assign(self, numbers: typing.Any) -> None"),
        "Takes numbers in the order of lexicographic().");
  c.def(
      "sites",
      [](const Object& f) {
        std::vector<std::size_t> shape;
        std::vector<long long> sites;
        {
          const Busy busy;
          sites = sites_of(domain(f), lanes(f), shape);
        }
        auto numbers = std::make_unique_for_overwrite<std::int64_t[]>(sites.size());
        std::copy(sites.begin(), sites.end(), numbers.get());
        return array_of(std::move(numbers), shape);
      },
      "Which site of this rank's part each place of the memory holds, as ((t Z + z) Y + y) X + x, or -1: axes parity, "
      "block, place.");
}

const Domain& domain_of_momenta(const MomentumObject& p) { return p.momenta.domain(); }
int lanes_of_momenta(const MomentumObject& p) { return p.momenta.lanes(); }
const Domain& domain_of_gauge(const GaugeObject& u) { return u.links.domain(); }
int lanes_of_gauge(const GaugeObject& u) { return u.links.lanes(); }
const Domain& domain_of_spinors(const SpinorObject& f) { return f.field.domain(); }
int lanes_of_spinors(const SpinorObject& f) { return f.field.lanes(); }

nb::tuple tuple_of(const Coordinates& x) { return nb::make_tuple(x[0], x[1], x[2], x[3]); }

nb::tuple offset_of(const Lattice& lattice) {
  return tuple_of({lattice.origin(0), lattice.origin(1), lattice.origin(2), lattice.origin(3)});
}

GaugeAverages averages_of(const GaugeObject& u) {
  const Busy busy;
  return gauge_averages(u.links);
}

void bind_lattice(nb::module_& m) {
  nb::class_<LatticeObject>(
      m, "Lattice",
      "Extents x, y, z, t on a device; fields of one lattice go together. Several ranks hold a part each.")
      .def(
          "__init__",
          [](LatticeObject* self, nb::handle extent, const std::string& device, nb::handle grid) {
            const Coordinates extents = coordinates_of(extent, "extent");
            std::optional<Coordinates> parts;
            if (!grid.is_none()) parts = coordinates_of(grid, "grid");
            const Busy busy;
            new (self) LatticeObject{domain_of(Partition{Communicator::world(), parts}.local_lattice(extents), device)};
          },
          nb::arg("extent").none(), nb::arg("device") = "auto", nb::arg("grid") = nb::none(),
          nb::sig("def __init__(self, extent: collections.abc.Sequence[int], device: str = 'auto', "
                  "grid: collections.abc.Sequence[int] | None = None) -> None"),
          "Of several ranks, grid is their number along x, y, z, t; by default that with the smallest boundaries.")
      .def_prop_ro(
          "extent", [](const LatticeObject& l) { return tuple_of(l.domain->lattice().global_extent()); },
          nb::sig("def extent(self) -> tuple[int, int, int, int]"), "Extents x, y, z, t of the whole lattice.")
      .def_prop_ro(
          "part", [](const LatticeObject& l) { return tuple_of(l.domain->lattice().extent()); },
          nb::sig("def part(self) -> tuple[int, int, int, int]"),
          "Extents of the part that this rank holds: those of its arrays.")
      .def_prop_ro(
          "offset", [](const LatticeObject& l) { return offset_of(l.domain->lattice()); },
          nb::sig("def offset(self) -> tuple[int, int, int, int]"), "Coordinates of the first site of that part.")
      .def_prop_ro(
          "grid", [](const LatticeObject& l) { return tuple_of(l.domain->lattice().grid()); },
          nb::sig("def grid(self) -> tuple[int, int, int, int]"), "Parts along x, y, z, t.")
      .def_prop_ro(
          "device", [](const LatticeObject& l) { return l.domain->device().name(); }, "Name of the device.")
      .def("__repr__", [](const LatticeObject& l) {
        const Lattice& lattice = l.domain->lattice();
        return "Lattice(" + tuple_text(lattice.global_extent()) + ", device='" + l.domain->device().name() + "'" +
               (lattice.ranks() > 1 ? ", grid=" + tuple_text(lattice.grid()) : "") + ")";
      });
}

void bind_gauge(nb::module_& m) {
  nb::class_<GaugeObject> c(m, "GaugeField", nb::type_slots(slots<GaugeObject>()),
                            "Links in double precision on a device; boundary phases are beside them.");
  c.def_prop_ro(
       "lattice", [](const GaugeObject& u) { return LatticeObject{u.links.domain_pointer()}; }, "Its lattice.")
      .def_prop_ro(
          "colours", [](const GaugeObject& u) { return u.links.colours(); }, "N of SU(N).")
      .def_prop_ro(
          "phase", [](const GaugeObject& u) { return u.phase; }, "Phases of the boundary found in a file: x, y, z, t.")
      .def(
          "plaquette", [](const GaugeObject& u) { return averages_of(u).plaquette; }, "Average plaquette, 1 for units.")
      .def(
          "averages",
          [](const GaugeObject& u) {
            const GaugeAverages a = averages_of(u);
            nb::dict d;
            d["plaquette"] = a.plaquette;
            d["space_plaquette"] = a.space_plaquette;
            d["time_plaquette"] = a.time_plaquette;
            d["link_trace"] = a.link_trace;
            return d;
          },
          nb::sig("def averages(self) -> dict[str, float]"), "Averages of plaquettes and of Re tr U / N.");
  c.def(
      "moved",
      [](const GaugeObject& u, const MomentumObject& p, double step) {
        const Busy busy;
        return moved(u, p, step);
      },
      nb::arg("momenta"), nb::arg("step"), "exp(step P) U");
  bind_algebra<GaugeObject, double>(c);
  c.def("__repr__", [](const GaugeObject& u) {
    return text_of("GaugeField", "links of " + std::to_string(u.links.colours()) + " colours", u.links.domain());
  });
  c.def(
      "copy",
      [](const GaugeObject& u) {
        const Busy busy;
        return on_device(on_host(u), u.links.domain_pointer());
      },
      "Another field with the same numbers.");
  bind_field<GaugeObject, domain_of_gauge, lanes_of_gauge>(c);
}

void bind_momenta(nb::module_& m) {
  nb::class_<MomentumObject> c(m, "Momenta", nb::type_slots(slots<MomentumObject>()),
                               "Momenta of the links, P = i p_a T_a, in double precision on a device.");
  c.def(
      "__init__",
      [](MomentumObject* self, const LatticeObject& lattice, nb::handle given_seed, nb::handle given_trajectory,
         nb::handle given_colours) {
        const auto seed = given_seed.is_none() ? 0 : whole<std::uint64_t>(given_seed, "seed"),
                   trajectory = whole<std::uint64_t>(given_trajectory, "trajectory");
        const int colours = whole<int>(given_colours, "colours");
        const bool is_drawn = !given_seed.is_none();
        const Busy busy;
        new (self) MomentumObject(is_drawn ? draw_momenta(lattice.domain, colours, seed, trajectory)
                                           : make_momenta(lattice.domain, colours));
      },
      nb::arg("lattice"), nb::arg("seed") = nb::none(), nb::arg("trajectory").none() = 0, nb::arg("colours").none() = 3,
      nb::sig("def __init__(self, lattice: Lattice, seed: int | None = None, trajectory: int = 0, colours: int = 3) "
              "-> None"),
      "Zero, or with a seed as that trajectory of hmc draws them: p_a of variance 1.");
  c.def_prop_ro(
      "lattice", [](const MomentumObject& p) { return LatticeObject{p.momenta.domain_pointer()}; }, "Its lattice.");
  c.def(
      "kinetic",
      [](const MomentumObject& p) {
        const Busy busy;
        return kinetic_energy(p);
      },
      "sum -tr P^2");
  bind_algebra<MomentumObject, double>(c);
  c.def("__repr__", [](const MomentumObject& p) {
    return text_of("Momenta", "of " + std::to_string(p.momenta.colours()) + " colours", p.momenta.domain());
  });
  bind_field<MomentumObject, domain_of_momenta, lanes_of_momenta>(c);
}

void bind_spinors(nb::module_& m) {
  nb::class_<SpinorObject> c(m, "Spinors", nb::type_slots(slots<SpinorObject>()),
                             "Right-hand sides, sources or quark fields in double precision on a device.");
  c.def(
       "__init__",
       [](SpinorObject* self, const LatticeObject& lattice, nb::handle rhs, nb::handle spins) {
         const int columns = whole<int>(rhs, "rhs"), each = whole<int>(spins, "spins");
         const Busy busy;
         new (self) SpinorObject(make_spinors(lattice.domain, columns, each));
       },
       nb::arg("lattice"), nb::arg("rhs").none() = 1, nb::arg("spins").none() = 4,
       nb::sig("def __init__(self, lattice: Lattice, rhs: int = 1, spins: int = 4) -> None"),
       "Zero; spins=1 of staggered quarks.")
      .def_prop_ro(
          "lattice", [](const SpinorObject& f) { return LatticeObject{f.field.domain_pointer()}; }, "Its lattice.")
      .def_prop_ro(
          "rhs", [](const SpinorObject& f) { return f.field.rhs(); }, "How many there are.")
      .def_prop_ro(
          "spins", [](const SpinorObject& f) { return f.field.spins(); }, "4, or 1 of staggered quarks.")
      .def_prop_ro(
          "basis", [](const SpinorObject& f) { return std::string(f.basis->name); },
          "Gamma basis of the memory; lexicographic() has degrand_rossi.")
      .def(
          "copy",
          [](const SpinorObject& f) {
            const Busy busy;
            return copy(f);
          },
          "Another field with the same numbers.");
  bind_algebra<SpinorObject, std::complex<double>>(c);
  c.def("require_fits", &require_fits<SpinorObject>, nb::sig("def require_fits(self, out: typing.Any) -> None"),
        nb::arg("out"), "Raises UsageError unless lexicographic(out=out) can write there.");
  c.def(
      "__rmatmul__",
      [](const SpinorObject& f, nb::handle given) {
        const ComplexArray matrix = complex_array(given, "the matrix before Spinors");
        if (matrix.ndim() != 2 || matrix.shape(0) != 4 || matrix.shape(1) != 4)
          throw UsageError("the matrix before Spinors has no 4 rows of 4 numbers, as gamma('g5') has");
        Spin4 g;
        std::copy_n(matrix.data(), 16, &g[0][0]);
        const Busy busy;
        return turned(g, f);
      },
      nb::sig("def __rmatmul__(self, matrix: typing.Any, /) -> Spinors"),
      "A 4x4 matrix in the basis of lexicographic() times the spins: gamma('g5') @ psi.", nb::is_operator());
  c.def("__repr__", [](const SpinorObject& f) {
    return text_of("Spinors", "rhs=" + std::to_string(f.field.rhs()) + ", spins=" + std::to_string(f.field.spins()),
                   f.field.domain());
  });
  bind_field<SpinorObject, domain_of_spinors, lanes_of_spinors>(c);
}

}  // namespace

void bind_objects(nb::module_& m) {
  bind_lattice(m);
  bind_momenta(m);
  bind_gauge(m);
  bind_spinors(m);
  bind_source(m);
  bind_gamma(m);
  bind_arrays(m);
}

}  // namespace quarksmith::python

NB_MODULE(_quarksmith, m) {
  m.doc() = "Fields and commands of Quarksmith.";
  m.attr("version") = QUARKSMITH_VERSION;
  m.attr("build_folder") = QUARKSMITH_BUILD_FOLDER;
  quarksmith::python::bind_errors(m);
  quarksmith::python::bind_objects(m);
  quarksmith::python::bind_calls(m);
  quarksmith::python::bind_expressions(m);
  quarksmith::python::bind_forces(m);
  quarksmith::python::bind_ranks(m);
  quarksmith::runs::divide_processors(*quarksmith::Communicator::self(), false);
}
