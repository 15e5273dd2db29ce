// Site terms that are made of fields: the clover term against its definition, and every kernel of the family against
// dense matrices: inverses, determinants, exponentials, derivatives.
#include <fmt/format.h>

#include "runtime/fields/expression.hpp"
#include "solvers/actions/hopping_dirac.hpp"
#include "tests/reference/square.hpp"
#include "tests/site_terms.hpp"

namespace {

using namespace quarksmith;
using reference::matrix_exponential, reference::largest_of, reference::log_abs_det, reference::product,
    reference::sum_of, reference::unit;
using reference::SiteMatrices, reference::Square;
using reference::operator*;

constexpr double space = 0.8, time_like = 1.3, diagonal = 3.9;

/// Largest element of a difference.
template <std::size_t n>
double distance(const std::vector<std::array<Complex64, n>>& a, const std::vector<std::array<Complex64, n>>& b) {
  double largest = 0;
  for (std::size_t x = 0; x < a.size(); ++x)
    for (std::size_t k = 0; k < n; ++k) {
      const double d = std::abs(a[x][k] - b[x][k]);
      if (!(d <= largest)) largest = d;  // a NaN sticks
    }
  return largest;
}

class Clover : public support::OnDevice {
 protected:
  StoredTerm term(const HostGauge& gauge) const {
    return support::clover_term(gauge, std::make_shared<Domain>(gauge.lattice, GetParam()), space, time_like, diagonal);
  }
  SiteMatrices dense(const HostGauge& gauge) const { return support::whole_term(download(term(gauge).term())); }

  /// Links rough enough that wrong leaves cannot hide.
  HostGauge gauge_ = weak_gauge(Lattice({4, 4, 6, 8}), 0.6, 4);
};

TEST_P(Clover, IsWhatItsDefinitionSays) {
  for (const Coordinates& extent : {Coordinates{4, 4, 6, 8}, Coordinates{2, 6, 2, 10}}) {
    const HostGauge gauge = weak_gauge(Lattice(extent), 0.6, 4);
    EXPECT_LT(distance(dense(gauge), reference::clover(gauge, diagonal, space, time_like)), 1e-14);
  }
}

TEST_P(Clover, StoredFormatsKeepIt) {
  const StoredTerm clover = term(gauge_);
  for (const auto& [precision, limit] : {std::pair{"double", 0.0}, {"single", 5e-6}, {"half", 5e-4}}) {
    const TermField stored = encode_term(clover.term(), find_precision(precision));
    EXPECT_LE(distance(support::whole_term(download(decode_term(stored))), dense(gauge_)), limit) << precision;
  }
}

TEST_P(Clover, TermIsAppliedInEveryBasis) {
  const SiteMatrices inverse = support::whole_term(download(term(gauge_).inverse()));
  const HostSpinor psi = reference::random_spinor(gauge_.lattice, 2);
  const auto domain = std::make_shared<Domain>(gauge_.lattice, GetParam());
  for (const char* name : {"degrand_rossi", "non_relativistic"}) {
    if (!support::built("double", "r18", "wilson", name)) continue;
    const auto dirac =
        dense::dirac(Action(support::clover_values(space, time_like, diagonal)), gauge_, domain, "r18", "double", name);
    const HoppingTerm& hopping = dynamic_cast<const HoppingDirac&>(*dirac).hopping();
    SpinorField x(domain, find_precision("double"), Subset::full), y = x.like();
    upload(psi, x, hopping.basis());
    for (const Parity parity : {Parity::even, Parity::odd}) hopping.apply_inverse_term(y, 0.7, x, parity);
    EXPECT_LT(support::compare(dense::get_one(y, hopping.basis()),
                               reference::combine(0.7, reference::multiply(inverse, psi), 0, psi))
                  .norm,
              1e-14);
  }
}

ON_EACH_DEVICE(Clover);

Square block_of(const HostTerm& term, int block) { return {6, {term[block].begin(), term[block].end()}}; }
/// Kernels from terms to terms: out and another operand against dense blocks.
class TermKernel : public testing::TestWithParam<support::KernelCase> {
 protected:
  /// A clover term of rough links of that size, and at some sites a number.
  TermField term(int seed, double size, double on_diagonal) const {
    HostGauge gauge = weak_gauge(domain_->lattice(), 0.6, seed);
    const HostGauge flat = unit_gauge(domain_->lattice());
    std::copy(flat.site.begin(), flat.site.begin() + flat.site.size() / 2, gauge.site.begin());
    return encode_term(support::clover_term(gauge, domain_, size, -0.7 * size, on_diagonal).term(),
                       find_precision("double"));
  }
  /// check(blocks of a, of x, of out) at every site.
  template <class Set, class Check>
  void run(const TermField& a, const TermField& x, TermField& out, const Set& set, const Check& check) const {
    const std::vector<HostTerm> before = download(decode_term(a)), given = download(decode_term(x)),
                                old = download(decode_term(out));
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments arguments = arguments_for(*domain_, a.lanes());
      arguments.parity = int(parity);
      arguments.term = a.operand(parity);
      arguments.x = x.operand(parity);
      arguments.out = out.operand(parity);
      set(arguments, parity);
    }
    const std::vector<HostTerm> after = download(decode_term(out));
    for (std::size_t i = 0; i < before.size(); ++i)
      for (const int block : {0, 1})
        check(i, block_of(before[i], block), block_of(given[i], block), block_of(old[i], block),
              block_of(after[i], block));
  }
  auto launch(Complex64 a = 0, double c = 0) const {
    return [=, this](Arguments arguments, Parity) {
      arguments.a = {a.real(), a.imag()};
      arguments.c.re = c;
      GetParam().device->run(*GetParam().kernel, arguments);
    };
  }
  bool is(std::string_view operation) const { return GetParam().kernel->operation == operation; }

  DomainPointer domain_ = std::make_shared<Domain>(Lattice({4, 4, 6, 8}), GetParam().device);
};

TEST_P(TermKernel, AgreesWithDenseBlocks) {
  constexpr double limit = 2e-13;
  TermField a = term(4, 1.1, 3.9), x = term(5, 2.3, 0.4), out = term(6, 0.9, 1.7),
            other(domain_, find_precision("double"));
  double log_det[2] = {0, 0}, summed[2];
  const auto count = [&](std::size_t i, const Square& m) {
    log_det[int(Lattice::parity(domain_->lattice().coordinates((long long)i)))] += log_abs_det(m);
  };
  if (is("add_term")) {
    run(a, x, out, launch(0.7), [&](std::size_t, const Square& t, const Square&, const Square& old, const Square& o) {
      EXPECT_LT(largest_of(sum_of(1, o, -1, sum_of(1, old, 0.7, t))), limit);
    });
  } else if (is("exp_term")) {
    for (const double size : {0.3, 3.0, -3.0})
      run(term(4, size, 0.2), x, out, launch(1.3, 0.8),
          [&](std::size_t, const Square& t, const Square&, const Square&, const Square& o) {
            const Square expected = sum_of(1.3, matrix_exponential(t), 1, unit(6, 0.8));
            EXPECT_LT(largest_of(sum_of(1, o, -1, expected)), limit * largest_of(expected));
          });
  } else if (is("exp_term_adjoint")) {
    for (const double size : {0.3, 3.0, -3.0})
      run(term(4, size, 0.2), x, out, launch(1.3),
          [&](std::size_t, const Square& t, const Square& given, const Square&, const Square& o) {
            // exp of (t, x; 0, t) has that integral above its diagonal.
            Square twice{12}, expected{6};
            for (int i = 0; i < 6; ++i)
              for (int j = 0; j < 6; ++j) {
                twice(i, j) = twice(6 + i, 6 + j) = t(i, j);
                twice(i, 6 + j) = given(i, j);
              }
            const Square all = matrix_exponential(twice);
            for (int i = 0; i < 6; ++i)
              for (int j = 0; j < 6; ++j) expected(i, j) = 1.3 * all(i, 6 + j);
            EXPECT_LT(largest_of(sum_of(1, o, -1, expected)), limit * largest_of(expected));
          });
  } else {
    const double shift = is("invert_twisted_term") ? 0.4 : 0;
    run(
        a, x, out,
        [&](Arguments arguments, Parity parity) {
          arguments.y = other.operand(parity);
          arguments.a.re = shift;
          summed[int(parity)] = reduce(*domain_, *GetParam().kernel, arguments)[0];
        },
        [&](std::size_t i, const Square& t, const Square&, const Square&, const Square& o) {
          const Square square = shift == 0 ? t : sum_of(1, product(t, t), shift, unit(6));
          EXPECT_LT(largest_of(sum_of(1, product(square, o), -1, shift == 0 ? unit(6) : t)), limit);
          count(i, square);
        });
    for (const int parity : {0, 1}) EXPECT_NEAR(summed[parity] / log_det[parity], 1, 1e-13);
    if (shift == 0) return;
    const auto factor = download(other), t = download(a), inverse = download(out);
    for (std::size_t i = 0; i < t.size(); ++i)  // out = C B
      EXPECT_LT(largest_of(sum_of(1, product(block_of(t[i], 1), block_of(factor[i], 1)), -1, block_of(inverse[i], 1))),
                limit);
  }
}

FOR_KERNELS(TermKernel, k.precision == "double" && (k.operation == "add_term" || k.operation.starts_with("exp_term") ||
                                                    k.operation.starts_with("invert_")));

class TermOfSpinors : public testing::TestWithParam<support::KernelCase> {};

TEST_P(TermOfSpinors, AddsTheHermitianPartOfTheirProduct) {
  const Kernel& kernel = *GetParam().kernel;
  const Lattice lattice({4, 4, 6, 8});
  const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
  const BasisInfo& basis = find_basis(kernel.basis);
  SpinorField in(domain, find_precision(kernel.precision), Subset::full, 3), x = in.like();
  TermField out(domain, find_precision(kernel.precision));
  out.fill(0xff);  // not a number
  std::vector<HostSpinor> psi, chi;
  for (int r = 0; r < 3; ++r) {
    psi.push_back(reference::random_spinor(lattice, 1 + r)), chi.push_back(reference::random_spinor(lattice, 11 + r));
    upload(psi[r], in, basis, r), upload(chi[r], x, basis, r);
  }
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(*domain, in.lanes());
    a.parity = int(parity);
    a.in = in.operand(parity), a.x = x.operand(parity), a.out = out.operand(parity);
    a.columns = 3;
    a.a.re = 0.35;
    for (int n = 0; n < 2; ++n, a.y = a.out) GetParam().device->run(kernel, a);  // sets, then adds
  }
  const SiteMatrices ours = support::whole_term(download(out));
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    for (int k = 0; k < 12; ++k)
      for (int l = 0; l < 12; ++l) {
        Complex64 expected = 0;
        for (int r = 0; r < 3 && k / 6 == l / 6; ++r)
          expected -= 0.35 * (psi[r].site[i][k] * std::conj(chi[r].site[i][l]) +
                              chi[r].site[i][k] * std::conj(psi[r].site[i][l]));
        worst = std::max(worst, std::abs(ours[i][12 * k + l] - expected));
      }
  EXPECT_LT(worst, 1e-13);
}

FOR_KERNELS(TermOfSpinors, k.operation == "add_outer" && k.precision == "double");

/// For each pattern of blocks: T is linear in its matrices, and what takes derivatives back is its adjoint,
/// Re tr T(F) X = sum_k Re tr F_k g_k for every matrix of F alone.
TEST(SiteBlocks, DerivativesAreTheAdjointOfTheTerm) {
  for (const auto& device : support::devices())
    for (const ActionInfo& info : actions()) {
      if (info.blocks.empty()) continue;
      SCOPED_TRACE(info.name);
      std::map<std::string, double> given;
      for (const ActionParameter& p : info.parameters) given.emplace(p.name, 0.3 + 0.1 * double(given.size()));
      const ActionValues values(info, given);
      const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 4}), device);
      const StoredTerm made = support::clover_term(weak_gauge(domain->lattice(), 0.6, 3), domain, 2, -1, 0.3);
      const TermField& x = made.term();
      const std::vector<HostTerm> dense_x = download(x);
      const std::vector<int> numbers = fields_of_blocks(info);
      std::vector<std::shared_ptr<LinkField>> by;
      std::vector<const LinkField*> operands;
      for (std::size_t k = 0; k < numbers.size(); ++k)
        operands.push_back(by.emplace_back(dense::links(unit_gauge(domain->lattice()), domain)).get());
      const auto kernel = [&](const char* what) -> const Kernel& {
        return find(device->kernels(), {.operation = what + std::string(info.blocks_of), .precision = "double"});
      };
      Arguments a = arguments_for(*domain, x.lanes());
      set_blocks(a, values, operands);
      a.term = x.operand();
      device->run(kernel("source_"), a);
      for (std::size_t k = 0; k < numbers.size(); ++k)
        for (int mu = 0; mu < directions; ++mu) {
          const bool there = (info.fields[std::size_t(numbers[k])].slots >> mu & 1) != 0;
          // Hermitian matrices in one direction of one field.
          HostGauge hermitian(domain->lattice());
          const HostGauge rough = hot_gauge(domain->lattice(), 5 + int(k));
          for (std::size_t i = 0; i < rough.site.size(); ++i) {
            const Matrix3 u = rough.site[i][mu], v = adjoint(u);
            for (int n = 0; n < 9; ++n) hermitian.site[i][mu][n] = u[n] + v[n];
          }
          const auto one = dense::links(hermitian, domain), none = dense::links(HostGauge(domain->lattice()), domain);
          operands.assign(numbers.size(), none.get());
          operands[k] = one.get();
          TermField t(domain, find_precision("double"));
          Arguments b = arguments_for(*domain, t.lanes());
          set_blocks(b, values, operands);
          b.out = t.operand();
          device->run(kernel("term_"), b);
          const std::vector<HostTerm> dense_t = download(t);
          const HostGauge g = download(*by[k]);
          double left = 0, right = 0, size = 0;
          for (std::size_t i = 0; i < dense_t.size(); ++i) {
            for (const int block : {0, 1})
              for (int r = 0; r < 6; ++r)
                for (int c = 0; c < 6; ++c)
                  left += (dense_t[i][block][6 * r + c] * dense_x[i][block][6 * c + r]).real();
            for (int r = 0; r < 3 && there; ++r)
              for (int c = 0; c < 3; ++c) right += (hermitian.site[i][mu][3 * r + c] * g.site[i][mu][3 * c + r]).real();
            size += std::abs(left);
          }
          EXPECT_NEAR(left, right, 1e-12 * size) << k << " " << mu;
          EXPECT_EQ(there, std::abs(left) > 1e-3) << k << " " << mu;
        }
    }
}

class TermProduct : public testing::TestWithParam<support::KernelCase> {};

TEST_P(TermProduct, AgreesWithDenseBlocks) {
  const Kernel& kernel = *GetParam().kernel;
  const PrecisionInfo& precision = find_precision(kernel.precision);
  const BasisInfo& basis = find_basis(kernel.basis);
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{6, 2, 2, 10}}) {
    const Lattice lattice(extent);
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const support::TestTerm term(kernel, weak_gauge(lattice, 0.6, 4), domain);
    SpinorField x(domain, precision, Subset::full, 2 * kernel.tile), out = x.like();
    for (int r = 0; r < x.rhs(); ++r) upload(reference::random_spinor(lattice, 2 + r), x, basis, r);
    out.fill(0xff);
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(*domain, x.lanes(), x.rhs());
      a.parity = int(parity);
      a.out = out.operand(parity);
      a.x = x.operand(parity);
      a.b.re = 0.7;
      term.set(a);
      GetParam().device->run(kernel, a);
    }
    for (int r = 0; r < x.rhs(); r += term.flavours()) {
      std::vector<HostSpinor> stored;
      for (int f = 0; f < term.flavours(); ++f) stored.push_back(dense::get_one(x, basis, r + f));
      const std::vector<HostSpinor> expected = term.multiply(stored);
      for (int f = 0; f < term.flavours(); ++f)
        support::expect_near(dense::get_one(out, basis, r + f), reference::combine(0.7, expected[f], 0, stored[f]),
                             support::tolerance(kernel.precision, ""),
                             fmt::format("{} right-hand side {}", lattice.text(), r + f));
    }
  }
}

FOR_KERNELS(TermProduct, k.operation.starts_with("apply_"));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TermProduct);

}  // namespace
