#include "solvers/krylov/block_blas.hpp"

#include <algorithm>

#include "runtime/clock.hpp"

namespace quarksmith {
namespace {

/// Pivots below which a factorisation is repeated for the sake of orthogonality.
constexpr double small_pivot = 1e-6;
constexpr int most_groups = Team::most_rhs / 4;  ///< pairs of groups of one reduction

}  // namespace

BlockBlas::BlockBlas(const LinearOperator& a, std::size_t numbers, int places)
    : numbers_(numbers), matrix_(a.domain()->device_pointer(), sizeof(Complex64) * numbers * places) {
  const auto kernel = [&](std::string_view name) {
    const Components components = a.components();
    return &find(
        a.domain()->device().kernels(),
        {.operation = name, .precision = a.precision().name, .spins = components.spins, .colours = components.colours});
  };
  dot_ = kernel("block_dot");
  product_ = kernel("block_product");
  update_ = kernel("block_update");
}

Dense BlockBlas::dot(const SpinorField& x, int x_columns, const SpinorField& y, int y_columns) const {
  Dense m(x_columns, y_columns);
  const int all = padded(x_columns) / group;
  for (int first_y = 0; first_y < y_columns;) {
    const int others = std::min(padded(y_columns - first_y) / group, std::max(most_groups / all, 1));
    for (int first_x = 0; first_x < x_columns;) {
      const int groups = std::min(padded(x_columns - first_x) / group, most_groups);
      Arguments a = x.arguments();
      a.rhs = group * groups * others;
      a.columns = group * groups;
      a.x = x.select(x.operand(), first_x);
      a.y = y.select(y.operand(), first_y);
      const std::vector<double> sums = reduce(x.domain(), *dot_, a);
      for (int i = 0; i < std::min(group * groups, x_columns - first_x); ++i)
        for (int j = 0; j < std::min(group * others, y_columns - first_y); ++j) {
          const int pair = j / group * groups + i / group;
          const double* at =
              &sums.at(static_cast<std::size_t>(pair * group) * dot_->sums + 2 * (group * (i % group) + j % group));
          m(first_x + i, first_y + j) = {at[0], at[1]};
        }
      first_x += group * groups;
    }
    first_y += group * others;
  }
  return m;
}

void BlockBlas::stage(std::initializer_list<const Dense*> matrices) {
  std::vector<Complex64> all;
  std::size_t first = 0;
  for (const Dense* m : matrices) {
    const int width = padded(static_cast<int>(m->cols()));
    all.resize(first + std::size_t(m->rows()) * width);
    for (int i = 0; i < m->rows(); ++i)
      std::copy_n(m->data() + i * m->cols(), m->cols(), all.begin() + static_cast<std::ptrdiff_t>(first) + i * width);
    first += numbers_;
  }
  matrix_.device().upload(matrix_.data(), all.data(), sizeof(Complex64) * all.size());
}

void BlockBlas::combine(const Kernel& kernel, const SpinorField& x, const SpinorField* z, SpinorField& y,
                        const Dense& m, int place) const {
  Arguments a = x.arguments();
  a.rhs = padded(static_cast<int>(m.cols()));
  a.columns = static_cast<int>(m.rows());
  a.x = x.operand();
  a.y = y.operand();
  if (z != nullptr) a.z = z->operand();
  a.scalars = static_cast<double*>(matrix_.data()) + 2 * numbers_ * place;
  x.device().run(kernel, a);
}

void BlockBlas::product(const SpinorField& x, SpinorField& y, const Dense& m, int place) const {
  combine(*product_, x, nullptr, y, m, place);
}

void BlockBlas::update(const SpinorField& x, const SpinorField& z, SpinorField& y, const Dense& m, int place) const {
  combine(*update_, x, &z, y, m, place);
}

void BlockBlas::orthonormalise(SpinorField& q, SpinorField& work, int& width, Dense& s, double cut, bool scaled) {
  s = Dense::Identity(width, width);
  for (int pass = 0; pass < 3 && width > 0; ++pass) {
    const Dense gram = dot(q, width, q, width);
    const double start = now();
    const RankRevealing f = factorise(gram, cut, scaled && pass == 0);
    s = (f.s * s).eval();
    width = static_cast<int>(f.s.rows());
    host_seconds_ += now() - start;
    if (width == 0) break;
    stage({&f.t});
    product(q, work, f.t);
    std::swap(q, work);
    if (f.pivots[0] > small_pivot * f.pivots[1]) break;
  }
}

}  // namespace quarksmith
