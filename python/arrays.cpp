// Numbers of fields in arrays of other libraries; pools of theirs.
#include "python/arrays.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "python/values.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/spinor_array.hpp"

namespace quarksmith::python {

namespace {

using Numbers = nb::ndarray<nb::numpy, std::complex<double>>;

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  return n;
}

/// An array of complex numbers in memory of a device.
struct DeviceArray {
  char* data;
  std::vector<std::size_t> shape;
  std::vector<long long> strides;  ///< bytes
  int word;                        ///< bytes of a number
  void* stream;                    ///< in whose order its library uses it
};

/// None: it is in memory of the host. \throws UsageError as arrays.on_device.
std::optional<DeviceArray> device_array(nb::handle array, const char* name, bool written) {
  const nb::object found = nb::module_::import_("quarksmith.arrays").attr("on_device")(array, name, written);
  if (found.is_none()) return {};
  return DeviceArray{reinterpret_cast<char*>(nb::cast<std::uintptr_t>(found.attr("address"))),
                     nb::cast<std::vector<std::size_t>>(nb::list(found.attr("shape"))),
                     nb::cast<std::vector<long long>>(nb::list(found.attr("strides"))),
                     nb::cast<int>(found.attr("word")),
                     reinterpret_cast<void*>(nb::cast<std::uintptr_t>(found.attr("stream")))};
}

/// The numbers of a field in such an array: columns of spinors, or matrices of each direction.
class NumbersOnDevice {
 public:
  /// \throws UsageError it is in other memory than the field.
  NumbersOnDevice(const DeviceArray& array, const SpinorObject& f) : NumbersOnDevice(array, f.field.domain(), 0) {
    count_ = f.field.rhs();
    order_.rotated = f.field.spins() == 4;
    if (order_.rotated) std::ranges::copy(f.basis->rotation, order_.rotation);
  }
  NumbersOnDevice(const DeviceArray& array, const LinkField& u) : NumbersOnDevice(array, u.domain(), directions) {}

  void read(SpinorField& field) const {
    for_each(field, [&](const SpinorArray& part, int n) { copy_array(part, field, n); });
  }
  void read(LinkField& field) const {
    for_each(field, [&](const SpinorArray& part, int n) { copy_array(part, field, n); });
  }
  template <class Field>
  void write(const Field& field) const {
    for_each(field, [&](const SpinorArray& part, int n) { copy_array(field, n, part); });
  }

 private:
  /// Axes are column, t, z, y, x, (spin,) colour, or t, z, y, x, direction, row, column of the matrix.
  NumbersOnDevice(const DeviceArray& array, const Domain& domain, std::size_t outer)
      : stream_(array.stream), next_bytes_(array.strides[outer]) {
    const std::string mine = domain.device().name(), holder = domain.device().holder_of(array.data);
    if (holder != mine)
      throw UsageError(
          fmt::format("the array is in the memory of {}, the field on {}; copy it to the host, or make "
                      "the field on the device of the array",
                      holder.empty() ? "a GPU" : holder, mine));
    const auto step = [&](std::size_t axis) { return array.strides[axis] / array.word; };
    const std::size_t x = outer == 0 ? directions : directions - 1, last = array.strides.size() - 1;
    order_.single = array.word == 2 * sizeof(float);
    order_.place_bytes = array.word;
    for (std::size_t mu = 0; mu < directions; ++mu) order_.step[mu] = step(x - mu);
    order_.spin = step(last - 1);
    order_.colour = step(last);
    order_.data = array.data;
  }
  /// In the order of the stream of the array.
  template <class Field, class Copy>
  void for_each(const Field& field, const Copy& copy) const {
    Device& device = field.domain().device();
    device.follow(stream_);
    device.begin_for_caller();
    SpinorArray part = order_;
    for (int n = 0; n < count_; ++n, part.data += next_bytes_) copy(part, n);
    device.end_for_caller();
  }

  SpinorArray order_;  ///< of the first column or direction
  int count_ = directions;
  void* stream_;
  long long next_bytes_;
};

void take(const NumbersOnDevice& from, SpinorObject& f) { from.read(f.field); }
void give(const SpinorObject& f, const NumbersOnDevice& to) { to.write(f.field); }
void take(const NumbersOnDevice& from, GaugeObject& u) { from.read(u.links); }
void give(const GaugeObject& u, const NumbersOnDevice& to) { to.write(u.links); }

// Of momenta fields hold the numbers that generators are multiplied by, which the host finds.
void take(const NumbersOnDevice& from, MomentumObject& p) {
  LinkField matrices(p.momenta.domain_pointer(), p.momenta.precision(), full_storage(p.momenta.colours()));
  from.read(matrices);
  const HostGauge host = download(matrices);
  write(p, host.site.at(0));
}
void give(const MomentumObject& p, const NumbersOnDevice& to) {
  const LinkField matrices =
      upload(download(p.momenta), p.momenta.domain_pointer(), p.momenta.precision(), full_storage(p.momenta.colours()));
  to.write(matrices);
  p.momenta.domain().device().synchronize();  // before the matrices go
}

/// \throws UsageError an array has another shape than the field.
template <class Object>
void require_shape(const Object& object, const std::vector<std::size_t>& found, const char* name) {
  const std::vector<std::size_t> shape = lexicographic_shape(numbers_of(object));
  if (found != shape)
    throw UsageError(std::string(name) + ": the array has shape " + tuple_text(found) + ", the field " +
                     tuple_text(shape) + " in lexicographic order; reshape it");
}

/// Where the numbers of a field are to go: an array of a device, or one of NumPy.
struct Destination {
  std::optional<NumbersOnDevice> there;
  nb::object here;
};

template <class Object>
Destination destination_of(const Object& object, nb::handle out) {
  const nb::module_ arrays = nb::module_::import_("quarksmith.arrays");
  const std::vector<std::size_t> shape = lexicographic_shape(numbers_of(object));
  if (const auto there = device_array(out, "out", true)) {
    require_shape(object, there->shape, "out");
    return {NumbersOnDevice(*there, numbers_of(object)), {}};
  }
  return {{}, arrays.attr("require_writable")(out, nb::tuple(nb::cast(shape)))};
}

/// \throws UsageError, on all ranks, the array of one has another shape or is in other memory.
template <class Object>
NumbersOnDevice source_on_device(const Object& object, const DeviceArray& array, Communicator& ranks) {
  std::optional<NumbersOnDevice> from;
  ranks.together([&] {
    require_shape(object, array.shape, "assign");
    from.emplace(array, numbers_of(object));
  });
  return *from;
}

template <class Object>
Numbers numbers_in_order(const Object& object) {
  const std::vector<std::size_t> shape = lexicographic_shape(numbers_of(object));
  auto numbers = std::make_unique_for_overwrite<Complex64[]>(product(shape));
  {
    const Busy busy;
    read(numbers_of(object), numbers.get());
  }
  return array_of(std::move(numbers), shape);
}

}  // namespace

template <class Object>
nb::object lexicographic(const Object& object, nb::handle out) {
  if (out.is_none()) return nb::cast(numbers_in_order(object));
  const Destination to = destination_of(object, out);
  if (to.there) {
    const Busy busy;
    give(object, *to.there);
  } else {
    to.here[nb::ellipsis()] = numbers_in_order(object);
  }
  return nb::borrow(out);
}

template <class Object>
void require_fits(const Object& object, nb::handle out) {
  destination_of(object, out);
}

template <class Object>
void assign(Object& object, nb::handle given) {
  const auto& field = numbers_of(object);
  Communicator& ranks = domain_of(field).communicator();
  if (const auto there = device_array(given, "assign: the array", false)) {
    const Busy busy;
    return take(source_on_device(object, *there, ranks), object);
  }
  const ComplexArray numbers = complex_array(given, "assign: the array");
  const Busy busy;
  ranks.together([&] { require_shape(object, {numbers.shape_ptr(), numbers.shape_ptr() + numbers.ndim()}, "assign"); });
  write(object, numbers.data());
}

template nb::object lexicographic(const GaugeObject&, nb::handle);
template nb::object lexicographic(const MomentumObject&, nb::handle);
template nb::object lexicographic(const SpinorObject&, nb::handle);
template void require_fits(const SpinorObject&, nb::handle);
template void assign(GaugeObject&, nb::handle);
template void assign(MomentumObject&, nb::handle);
template void assign(SpinorObject&, nb::handle);

namespace {

/// Address, shape, strides in bytes, and bytes of a complex number; 0: there are none.
nb::tuple layout_of(nb::handle array) {
  const auto a = nb::cast<nb::ndarray<>>(array);
  const int bytes = a.dtype().bits / 8;
  const bool is_complex = a.dtype().code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  nb::list shape, strides;
  for (std::size_t n = 0; n < a.ndim(); ++n) {
    shape.append(a.shape(n));
    strides.append(a.stride(n) * bytes);
  }
  const bool known = is_complex && (bytes == 2 * sizeof(double) || bytes == 2 * sizeof(float));
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(a.data()), nb::tuple(shape), nb::tuple(strides),
                        known ? bytes : 0);
}

/// Functions of Python that give memory and take it back.
class Pool {
 public:
  Pool(nb::object allocate, nb::object release) : allocate_(std::move(allocate)), release_(std::move(release)) {}

  void* allocate(std::size_t bytes, void* stream) {
    const nb::gil_scoped_acquire gil;
    try {
      nb::object made = allocate_(bytes, reinterpret_cast<std::uintptr_t>(stream));
      const nb::object address = nb::hasattr(made, "ptr") ? nb::object(made.attr("ptr")) : made;
      void* const memory = address.is_none() ? nullptr : reinterpret_cast<void*>(nb::cast<std::uintptr_t>(address));
      if (memory != nullptr) given_[memory] = std::move(made);
      return memory;
    } catch (const nb::python_error& error) {
      if (error.matches(PyExc_MemoryError)) return nullptr;
      throw Error(fmt::format("the pool of the calling program: {}", error.what()));
    } catch (const nb::cast_error&) {
      throw Error("the pool of the calling program returned no address; return one, or an object with ptr");
    }
  }
  void release(void* memory, void* stream) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire gil;
    try {
      if (!release_.is_none())
        release_(reinterpret_cast<std::uintptr_t>(memory), reinterpret_cast<std::uintptr_t>(stream));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("release of a pool");
    }
    given_.erase(memory);
  }

 private:
  nb::object allocate_, release_;
  std::map<void*, nb::object> given_;  ///< what keeps memory, by its address
};

void use_pool(nb::object allocate, nb::object release, const std::string& device) {
  auto pool = std::make_unique<Pool>(std::move(allocate), std::move(release));
  {
    const Busy busy;
    device_named(device)->use({[p = pool.get()](std::size_t bytes, void* stream) { return p->allocate(bytes, stream); },
                               [p = pool.get()](void* memory, void* stream) { p->release(memory, stream); }});
  }
  static_cast<void>(pool.release());  // kept for ever, as devices are
}

}  // namespace

void bind_arrays(nb::module_& m) {
  m.def("dlpack_layout", &layout_of,
        nb::sig("def dlpack_layout(array: typing.Any) -> tuple[int, tuple[int, ...], "
                "tuple[int, ...], int]"),
        nb::arg("array"), "Address, shape, strides in bytes, and bytes of a complex number; 0: there are none.");
  m.def("use_pool", &use_pool,
        nb::sig("def use_pool(allocate: collections.abc.Callable[[int, int], typing.Any], "
                "release: collections.abc.Callable[[int, int], object] | None, device: str) -> None"),
        nb::arg("allocate"), nb::arg("release").none(), nb::arg("device"));
  m.def(
      "device_name",
      [](const std::string& device) {
        const Busy busy;
        return device_named(device)->name();
      },
      nb::arg("device"), "`cpu` or `TARGET:N`, also of `auto`.");
}

}  // namespace quarksmith::python
