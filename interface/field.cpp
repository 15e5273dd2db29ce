// Spinor fields of quarksmith.h.
#include <algorithm>
#include <numeric>

#include "interface/arrays.hpp"
#include "interface/options.hpp"
#include "runtime/fields/order.hpp"
#include "solvers/krylov/blas.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// \throws StatusError the fields do not fit together.
void require_same_kind(const Field& a, const Field& b) {
  const SpinorField &x = a.spinors, &y = b.spinors;
  if (&x.precision() == &y.precision() && a.basis == b.basis && x.subset() == y.subset() && x.rhs() == y.rhs() &&
      x.components() == y.components() && x.slices() == y.slices() && alike(x.domain(), y.domain()))
    return;
  const auto text = [](const Field& f) {
    constexpr const char* sites[] = {"even", "odd", "all"};
    const SpinorField& s = f.spinors;
    return fmt::format("{} {} at {} sites with {} right-hand sides, {} spins and {} slices for hops over {}",
                       s.precision().name, f.basis->name, sites[int(s.subset())], s.rhs(), s.spins(), s.slices(),
                       s.domain().reach());
  };
  throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                    fmt::format("fields of different kinds: {} and {}; create them alike", text(a), text(b)));
}

/// The format of arrays for vector `n` of a field: of right-hand side n / slices its slice n % slices.
SpinorArrays arrays_of(const Field& f, int n, const quarksmith_spinor_format* format) {
  const SpinorArrays arrays(f.lattice(), format, f.spinors.spins(), *f.basis);
  arrays.require_fits(f.spinors.subset());
  if (const int count = f.spinors.rhs() * f.spinors.slices(); n < 0 || n >= count)
    refuse(fmt::format("{} {} of a field that has {}; count from 0",
                       f.spinors.slices() > 1 ? "slice" : "right-hand side", n, count));
  return arrays;
}

}  // namespace

quarksmith_status quarksmith_spinor_format_init(quarksmith_spinor_format* format) {
  return init(__func__, format, [](auto& f) {
    std::iota(f.axes, f.axes + directions, 0);
    f.basis = "degrand_rossi";
  });
}

quarksmith_status quarksmith_field_memory_init(quarksmith_field_memory* memory) { return init(__func__, memory); }

quarksmith_status quarksmith_field_create(quarksmith_context* context, const char* options, quarksmith_field** field) {
  return call<Context>(__func__, "context", context, [&](Context& c) {
    require(field, "field");
    const auto d = read_options<FieldDescription>(options, c);
    const PrecisionInfo& precision = find_precision(d->precision);
    const BasisInfo& basis = find_basis(d->basis);
    const Subset sites = d->sites == "all" ? Subset::full : d->sites == "even" ? Subset::even : Subset::odd;
    SpinorField spinors(c.shared->domain, precision, sites, d->rhs, d->spins, d->slices);
    spinors.fill(0);
    give<Field>(field, c.shared, std::move(spinors), basis);
  });
}

quarksmith_status quarksmith_field_set(quarksmith_field* field, int n, const void* array,
                                       const quarksmith_spinor_format* format) {
  return call<Field>(__func__, "field", field, [&](Field& f) {
    const SpinorArrays arrays = arrays_of(f, n, format);
    SpinorField one = f.spinors.by_slice().columns(n, 1);  // others would be rounded once more
    upload_all(arrays, &array, one);
    f.device().synchronize();
  });
}

quarksmith_status quarksmith_field_get(quarksmith_field* field, int n, void* array,
                                       const quarksmith_spinor_format* format) {
  return call<Field>(__func__, "field", field, [&](Field& f) {
    const SpinorArrays arrays = arrays_of(f, n, format);
    download_all(f.spinors.by_slice().columns(n, 1), arrays, &array);
  });
}

quarksmith_status quarksmith_field_copy(quarksmith_field* to, quarksmith_field* from) {
  return call<Field>(__func__, "to", to, [&](Field& t) {
    const auto f = operand<Field>(from, "from", t);
    require_same_kind(t, *f);
    if (&t == f.get()) throw StatusError(QUARKSMITH_BAD_ARGUMENT, "a field is copied to itself; pass two fields");
    t.spinors.copy_from(f->spinors);
  });
}

quarksmith_status quarksmith_norm2(quarksmith_field* x, double* norm2) {
  return call<Field>(__func__, "x", x, [&](Field& f, Agreement& agree) {
    require(norm2, "norm2");
    agree();
    std::ranges::copy(sums("norm2", f.spinors), norm2);
  });
}

quarksmith_status quarksmith_dot(quarksmith_field* x, quarksmith_field* y, double* dot) {
  return call<Field>(__func__, "x", x, [&](Field& f, Agreement& agree) {
    const auto g = operand<Field>(y, "y", f);
    require_same_kind(f, *g);
    require(dot, "dot");
    agree();
    std::ranges::copy(sums("cdot", f.spinors, &g->spinors), dot);
  });
}

quarksmith_status quarksmith_axpby(const double a[2], quarksmith_field* x, const double b[2], quarksmith_field* y) {
  return call<Field>(__func__, "y", y, [&](Field& g) {
    const auto f = operand<Field>(x, "x", g);
    require_same_kind(*f, g);
    require(a, "a");
    require(b, "b");
    const Complex64 alpha(require_finite(a[0], "a"), require_finite(a[1], "a")),
        beta(require_finite(b[0], "b"), require_finite(b[1], "b"));
    Blas(g.spinors).axpby(alpha, f->spinors, beta, g.spinors);
  });
}

quarksmith_status quarksmith_field_describe(quarksmith_field* field, quarksmith_field_memory* memory) {
  return call<Field>(__func__, "field", field, [&](Field& f) {
    auto& m = require_struct(memory, "quarksmith_field_memory");
    const MemoryOrder order = order_of(f.spinors);
    const Operand operand = f.spinors.operand();
    f.device().synchronize();
    m = {.size = sizeof(m),
         .data = operand.data,
         .scales = operand.norm,
         .words = static_cast<std::size_t>(order.words()),
         .odd = static_cast<std::size_t>(order.parities == 2 ? order.parity_words() : 0),
         .word_bytes = f.spinors.precision().word_bytes,
         .site_words = order.group,
         .vector_words = order.short_vectors ? order.vector : 0,
         .block_sites = order.short_vectors ? site_block : 0,
         .lanes = order.lanes,
         .boxes = f.spinors.domain().layout(order.lanes).boxes()};
  });
}

quarksmith_status quarksmith_field_word(quarksmith_field* field, const int x[4], int n, size_t* word) {
  return call<Field>(__func__, "field", field, [&](Field& f) {
    require(x, "x");
    require(word, "word");
    const MemoryOrder order = order_of(f.spinors);
    const Coordinates site{x[0], x[1], x[2], x[3]};
    for (int mu = 0; mu < directions; ++mu)
      if (x[mu] < 0 || x[mu] >= f.lattice().extent(mu))
        throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("site ({},{},{},{}) is not on the lattice {}", x[0],
                                                               x[1], x[2], x[3], f.lattice().text()));
    const Parity parity = Lattice::parity(site);
    if (!holds(f.spinors.subset(), parity))
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("site ({},{},{},{}) is {}; the field holds the other parity", x[0], x[1], x[2],
                                    x[3], parity == Parity::even ? "even" : "odd"));
    if (n < 0 || n >= order.group)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("word {} of a site of {}; count from 0", n, order.group));
    const auto [block, lane] = f.spinors.domain().layout(order.lanes).position(site);
    const bool second = f.spinors.subset() == Subset::full && parity == Parity::odd;
    *word = static_cast<std::size_t>(order.word(block + (second ? order.blocks : 0), lane, n));
  });
}
