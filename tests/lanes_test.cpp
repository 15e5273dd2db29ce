// The same bits whatever the boxes that lanes cover: parts of a lattice may have others than the whole.
#include <fmt/format.h>

#include <cstring>

#include "runtime/fields/gauge.hpp"
#include "runtime/ranks/padded_lattice.hpp"
#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/normal.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Domains made for longer hops have room for fewer boxes here, which several lanes then cover: two, or one where
/// registers hold no more than two numbers in double.
const Lattice& lattice() {
  static const Lattice all({4, 4, 4, Device::cpu()->full_lanes(sizeof(double)) > 2 ? 8 : 4});
  return all;
}

DomainPointer domain_of(int reach) {
  return std::make_shared<Domain>(lattice(), Device::cpu(), Communicator::self(), reach);
}

struct OperatorCase {
  std::string action;
  EvenOddForm form;
};

/// What an operator makes of vectors, and a solve with its square.
struct Found {
  std::vector<HostSpinor> vectors;
  std::vector<double> numbers;
  int boxes;
};

Found found_with(const OperatorCase& c, int reach) {
  const ActionInfo& info = find_action(c.action);
  const BasisInfo& basis = find_basis("non_relativistic");
  std::map<std::string, double> values;
  for (const ActionParameter& p : info.parameters)
    if (p.required) values.emplace(p.name, p.name.starts_with("csw") ? 1.2 : 0.3);
  const Action action({info, values, info.chain.empty() ? 1 : 4});
  const HostGauge gauge = weak_gauge(lattice(), 0.4, 3);
  const auto dirac = dense::dirac(action, gauge, domain_of(reach));
  const SystemOperator system(*dirac, c.form, 1);
  SpinorField b = system.a().field(1), x = b.like(), y = b.like();
  Found found{{}, {}, b.domain().layout(b.lanes()).boxes()};
  const auto keep = [&](const SpinorField& f) {
    const SpinorField slices = f.by_slice();
    for (int n = 0; n < slices.rhs(); ++n) download(slices, found.vectors.emplace_back(lattice()), basis, n);
  };
  SpinorField slices = b.by_slice();
  for (int n = 0; n < slices.rhs(); ++n) upload(reference::random_spinor(lattice(), unsigned(n)), slices, basis, n);
  for (const Dagger dagger : {Dagger::no, Dagger::yes}) {
    system.a().apply(x, b, dagger);
    keep(x);
  }
  const Blas blas(b);
  const Complex64 dot = blas.dot(b, x);
  found.numbers = {blas.norm2(x), dot.real(), dot.imag()};
  const NormalOperator normal(system.a(), 1);
  KrylovBatch cg(normal, normal, Method::hermitian_cg, 1);
  y.fill(0);
  SolverOptions options;
  options.tolerance = 1e-12;
  found.numbers.push_back(cg.solve(y, b, options, {1e-12})[0].iterations);
  keep(y);
  return found;
}

class Lanes : public testing::TestWithParam<OperatorCase> {};

TEST_P(Lanes, GiveTheSameBits) {
  const Found wide = found_with(GetParam(), 1), narrow = found_with(GetParam(), 3);
  ASSERT_NE(wide.boxes, narrow.boxes);
  EXPECT_EQ(wide.numbers, narrow.numbers);
  ASSERT_EQ(wide.vectors.size(), narrow.vectors.size());
  for (std::size_t n = 0; n < wide.vectors.size(); ++n) {
    const auto &one = wide.vectors[n].site, &other = narrow.vectors[n].site;
    EXPECT_EQ(std::memcmp(one.data(), other.data(), sizeof(one[0]) * one.size()), 0) << "vector " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Actions, Lanes,
    testing::Values(OperatorCase{"wilson", EvenOddForm::none}, OperatorCase{"clover", EvenOddForm::asymmetric},
                    OperatorCase{"wilson", EvenOddForm::symmetric},
                    OperatorCase{"twisted_mass", EvenOddForm::symmetric},
                    OperatorCase{"twisted_doublet", EvenOddForm::asymmetric},
                    OperatorCase{"domain_wall", EvenOddForm::asymmetric},
                    OperatorCase{"moebius", EvenOddForm::symmetric}, OperatorCase{"naive", EvenOddForm::none},
                    OperatorCase{"staggered", EvenOddForm::asymmetric}, OperatorCase{"d234", EvenOddForm::none}),
    [](const auto& info) { return fmt::format("{}_{}", info.param.action, int(info.param.form)); });

/// Devices copy the link of a direction piece by piece: where these lie, also in the order of a GPU.
TEST(StoredSites, GroupsOfASiteAreItsWords) {
  constexpr int half_sites = 72;
  for (const bool short_vectors : {false, true})
    for (const auto& [group, word_bytes] : {std::pair{18, 8}, {12, 8}, {18, 4}, {12, 4}, {14, 2}, {8, 2}}) {
      const int lanes = short_vectors ? 1 : 4;
      const MemoryOrder order(short_vectors, group, directions, word_bytes, half_sites / lanes, 2, lanes);
      const MemoryOrder alone(short_vectors, group, 1, word_bytes, half_sites / lanes, 2, lanes);
      Operand operand;
      char memory = 0;
      operand.data = &memory;
      const StoredSites field = stored_sites(order, operand, word_bytes);
      const int pieces = stored_sites(alone, operand, word_bytes).pieces;
      ASSERT_EQ(field.pieces, directions * pieces);
      const int in_piece = field.piece_bytes / word_bytes;
      for (int mu = 0; mu < directions; ++mu) {
        const StoredSites links = group_of(field, mu, pieces);
        for (const int parity : {0, 1})
          for (int block = 0; block < half_sites / lanes; ++block)
            for (int lane = 0; lane < lanes; ++lane) {
              const int slot = slot_of(order, parity, block, lane);
              for (int n = 0; n < group; ++n) {
                const long long piece =
                    (static_cast<long long>(slot / links.row) * links.pieces + n / in_piece) * links.row +
                    slot % links.row;  // as runtime/targets/gpu/site_kernels.hpp counts them
                const long long word = (links.data - &memory) / word_bytes + piece * in_piece + n % in_piece;
                ASSERT_EQ(word, order.word(parity * order.blocks + block, lane, mu * group + n));
              }
            }
      }
    }
}

}  // namespace
