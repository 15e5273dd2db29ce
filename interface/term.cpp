// Site terms of quarksmith.h.
#include <numeric>

#include "interface/arrays.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// Largest number in a term that is taken for one, and scale.
constexpr double most_number = 1e10;

/// The format of arrays of site terms, checked.
class TermArrays {
 public:
  TermArrays(Device& device, const Lattice& lattice, const quarksmith_term_format& format)
      : device_(device),
        columns_(choice(format.order, "order", "QUARKSMITH_ROWS or QUARKSMITH_COLUMNS")),
        colour_spin_(choice(format.index, "index", "QUARKSMITH_SPIN_COLOUR or QUARKSMITH_COLOUR_SPIN")),
        scale_(require_finite(format.scale, "scale")),
        sites_(lattice, format, 72) {
    if (!(std::abs(scale_) >= 1 / most_number && std::abs(scale_) <= most_number))
      refuse(fmt::format("scale {}; use 1, or 1 / (2 kappa)", scale_));
  }

  /// Whole blocks of all sites. \param power 1; -1 of the inverse, which the scale divides.
  std::vector<Complex64> read(const void* array, const char* name, int power) const {
    require(array, name);
    const ArraysOnHost<const void> there(device_, &array, 1, sites_);
    std::vector<Complex64> all(static_cast<std::size_t>(sites_.lattice().sites()) * 72);
    const double scale = power > 0 ? scale_ : 1 / scale_;
    sites_.for_each_site(Subset::full, [&](long long site, const Coordinates&, long long place) {
      const Reals<const void> reals = sites_.at(there.arrays()[0], place);
      for (int block = 0; block < 2; ++block) {
        Complex64* const a = all.data() + 72 * site + 36 * block;
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j <= i; ++j) {
            const int n = number(block, i, j);
            const Complex64 z = scale * (i == j ? Complex64(reals[n]) : Complex64(reals[n], reals[n + 1]));
            a[6 * own(i) + own(j)] = z;
            a[6 * own(j) + own(i)] = std::conj(z);
          }
      }
    });
    return all;
  }

 private:
  /// The place of element (i, j), i >= j, among the reals of a site.
  int number(int block, int i, int j) const {
    if (!columns_) return i == j ? 6 * block + i : 12 + 30 * block + 2 * (i * (i - 1) / 2 + j);
    return 36 * block + (i == j ? i : 6 + 2 * (j * (11 - j) / 2 + i - j - 1));
  }
  /// The index 3 s + c.
  int own(int i) const { return colour_spin_ ? 3 * (i % 2) + i / 2 : i; }

  Device& device_;
  bool columns_, colour_spin_;
  double scale_;
  SiteArrays sites_;
};

/// Largest modulus of an element of A B - 1.
double deviation(const std::vector<Complex64>& a, const std::vector<Complex64>& b) {
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); n += 36)
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) {
        Complex64 sum = i == j ? -1 : 0;
        for (std::size_t k = 0; k < 6; ++k) sum += a[n + 6 * i + k] * b[n + 6 * k + j];
        if (const double off = std::abs(sum); !(off <= largest)) largest = off;
      }
  return largest;
}

}  // namespace

quarksmith_status quarksmith_term_format_init(quarksmith_term_format* format) {
  return init(__func__, format, [](auto& f) {
    std::iota(f.axes, f.axes + directions, 0);
    f.scale = 1;
  });
}

quarksmith_status quarksmith_gauge_term(quarksmith_gauge* gauge, const char* name, const void* term,
                                        const void* inverse, const quarksmith_term_format* format) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(name, "name");
    const TermArrays arrays(g.device(), g.lattice(), require_struct(format, "quarksmith_term_format"));
    std::vector<Complex64> blocks = arrays.read(term, "term", 1);
    for (std::size_t n = 0; n < blocks.size(); ++n)
      if (!(std::abs(blocks[n]) <= most_number))
        throw StatusError(QUARKSMITH_BAD_DATA,
                          fmt::format("a number of the term of site {} is not finite, or beyond 1e10", n / 72));
    if (inverse != nullptr)
      if (const double off = deviation(blocks, arrays.read(inverse, "inverse", -1)); !(off <= 1e-4))
        throw StatusError(QUARKSMITH_BAD_DATA,
                          fmt::format("term times inverse deviates by {:.1e} from 1; pass both in the order of the "
                                      "format, or NULL for the inverse",
                                      off));
    agree(std::string_view(name), inverse != nullptr, format->scale);
    g.fields[name] = {std::move(blocks)};
  });
}
