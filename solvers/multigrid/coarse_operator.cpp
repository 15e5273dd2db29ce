#include "solvers/multigrid/coarse_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/error.hpp"
#include "runtime/fields/site_random.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/dense.hpp"

namespace quarksmith {
namespace {

constexpr int points = 1 + 2 * directions;  ///< the site itself, then (+mu, -mu)
constexpr int probes = 12;                  ///< right-hand sides of a probe

/// Site at a point of the stencil; -1 where it is the same as at an earlier one.
std::vector<int> stencil_sites(const Lattice& lattice, long long site) {
  std::vector<int> all = {static_cast<int>(site)};
  for (int mu = 0; mu < directions; ++mu)
    for (const int step : {+1, -1}) {
      const int there = static_cast<int>(lattice.neighbour(site, mu, step));
      all.push_back(std::find(all.begin(), all.end(), there) == all.end() ? there : -1);
    }
  return all;
}

/// A colour for each site, so that no two sites of a stencil share one.
std::vector<int> colouring(const Lattice& lattice) {
  std::vector<int> colour(static_cast<std::size_t>(lattice.sites()), -1);
  const Coordinates& extent = lattice.extent();
  const bool fours = std::all_of(extent.begin(), extent.end(), [](int n) { return n % 4 == 0; });
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    if (fours) {
      colour[i] = (x[0] + x[2] + x[3]) % 4 * 4 + (x[1] + x[2] + 3 * x[3]) % 4;
      continue;
    }
    std::set<int> taken;
    for (const int near : stencil_sites(lattice, i))
      if (near >= 0)
        for (const int far : stencil_sites(lattice, near))
          if (far >= 0) taken.insert(colour[far]);
    for (colour[i] = 0; taken.contains(colour[i]);) ++colour[i];
  }
  return colour;
}

}  // namespace

/// M on P e, and its restriction.
class CoarseOperator::Probe {
 public:
  Probe(const Transfer& transfer, const LinearOperator& fine)
      : transfer_(&transfer),
        fine_(&fine),
        coarse_(transfer.coarse_field(probes)),
        in_(transfer.fine_field(probes)),
        out_(in_.like()) {}
  /// The matrices of all sites: [point][site rows rows], by column.
  std::vector<std::vector<Complex64>> matrices();
  /// out = P^+ M P in
  void apply(SpinorField& out, const SpinorField& in) {
    SpinorField psi = in_.columns(0, in.rhs()), chi = out_.columns(0, in.rhs());
    transfer_->prolong(psi, in);
    fine_->apply(chi, psi, Dagger::no);
    transfer_->restrict_to(out, chi);
  }

 private:
  const Transfer* transfer_;
  const LinearOperator* fine_;
  SpinorField coarse_, in_, out_;
};

std::vector<std::vector<Complex64>> CoarseOperator::Probe::matrices() {
  const Lattice& lattice = transfer_->coarse_domain()->lattice();
  const int rows = 2 * transfer_->vectors();
  const auto sites = static_cast<std::size_t>(lattice.sites());
  std::vector<std::vector<Complex64>> all(points, std::vector<Complex64>(sites * rows * rows));
  const std::vector<int> colour = colouring(lattice);
  const int colours = 1 + *std::max_element(colour.begin(), colour.end());
  std::vector<std::vector<int>> near;
  for (std::size_t i = 0; i < sites; ++i) near.push_back(stencil_sites(lattice, static_cast<long long>(i)));
  for (int k = 0; k < colours; ++k)
    for (int first = 0; first < rows; first += probes) {
      for (int n = 0; n < probes; ++n) {
        std::vector<Complex64> unit(sites * rows);
        for (std::size_t i = 0; i < sites; ++i)
          if (colour[i] == k) unit[i * rows + first + n] = 1;
        set_numbers(coarse_, n, unit);
      }
      apply(coarse_, coarse_);
      for (int n = 0; n < probes; ++n) {
        const std::vector<Complex64> image = numbers_of(coarse_, n);
        for (std::size_t i = 0; i < sites; ++i)
          for (int p = 0; p < points; ++p)
            if (near[i][p] >= 0 && colour[near[i][p]] == k)
              std::copy_n(&image[i * rows], rows, &all[p][(i * rows + first + n) * rows]);
      }
    }
  return all;
}

class CoarseOperator::Reduced final : public LinearOperator {
 public:
  explicit Reduced(const CoarseOperator& c) : c_(&c) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
    SpinorField even = c_->even_.columns(0, in.rhs()), odd = c_->odd_.columns(0, in.rhs()),
                other = c_->other_.columns(0, in.rhs());
    c_->run(c_->hops_[1], odd, Parity::odd, 0, nullptr, 1, in, Parity::even);
    c_->run(c_->inverse_[1], other, Parity::odd, 0, nullptr, 1, odd, Parity::odd);
    c_->run(c_->hops_[0], even, Parity::even, 0, nullptr, 1, other, Parity::odd);
    c_->run(c_->inverse_[0], out, Parity::even, 1, &in, -1, even, Parity::even);
  }
  Subset subset() const override { return Subset::even; }
  const DomainPointer& domain() const override { return c_->domain_; }
  const PrecisionInfo& precision() const override { return *c_->precision_; }
  int slices() const override { return c_->slices_; }
  double flops() const override { return c_->flops(); }

 private:
  const CoarseOperator* c_;
};

CoarseOperator::CoarseOperator(const Transfer& transfer, const LinearOperator& fine, int rhs)
    : domain_(transfer.coarse_domain()),
      precision_(&transfer.precision()),
      slices_(transfer.coarse_slices()),
      rows_(2 * transfer.vectors()),
      tiles_((rows_ + panel_rows - 1) / panel_rows),
      apply_(&find(domain_->device().kernels(), {.operation = "coarse_apply", .precision = precision_->name})),
      even_(half(Subset::even, rhs)),
      odd_(half(Subset::odd, rhs)),
      other_(odd_.like()),
      reduced_(std::make_unique<Reduced>(*this)) {
  if (domain_->lattice().parts() > 1)
    throw UsageError("multigrid: coarse lattices of several ranks are not supported; use one rank, or bicgstab");
  Probe probe(transfer, fine);
  const std::vector<std::vector<Complex64>> all = probe.matrices();
  const long long sites = domain_->lattice().sites();
  const std::size_t size = static_cast<std::size_t>(rows_) * rows_;
  std::vector<std::vector<Complex64>> inverse(1, std::vector<Complex64>(all[0].size()));
  bool singular = false;
#pragma omp parallel for schedule(static) reduction(|| : singular)
  for (long long i = 0; i < sites; ++i) {  // by column, as the inverse of a transpose
    Dense own(rows_, rows_);
    std::copy_n(&all[0][i * size], size, own.element.begin());
    const std::optional<Inverse> found = inverse_of(own);
    singular = singular || !found;
    if (found) std::copy_n(found->matrix.element.begin(), size, &inverse[0][i * size]);
  }
  if (singular) throw Error("multigrid: the matrix of a coarse site is singular; use another number of vectors");
  for (const Parity parity : {Parity::even, Parity::odd}) {
    hops_[int(parity)] = matrices(parity, all, points - 1, true);
    own_[int(parity)] = matrices(parity, all, 1, false);
    inverse_[int(parity)] = matrices(parity, inverse, 1, false);
  }
  SpinorField x(domain_, find_precision("double"), Subset::full, 1, {}, slices_), v = field(), expected = field(),
                                                                                  found = field();
  draw_noise(x, {.seed = 7, .counter = 1}, find_basis("degrand_rossi"));
  &x.precision() == precision_ ? v.copy_from(x) : convert(x, v);
  probe.apply(expected, v);
  apply(found, v, Dagger::no);
  const Blas blas(found);
  const double norm = blas.norm2(expected), miss = std::sqrt(blas.residual(expected, found) / norm);
  if (!(miss < (precision_->word_bytes == 8 ? 1e-10 : 1e-3)))
    throw UsageError(
        fmt::format("multigrid: the operator couples blocks that do not touch (P^+ M P is missed by {:.1e} "
                    "with nearest neighbours); use larger blocks, or bicgstab",
                    miss));
}

CoarseOperator::~CoarseOperator() = default;

void CoarseOperator::reserve(int rhs) {
  if (even_.rhs() >= rhs) return;
  even_ = half(Subset::even, rhs);
  odd_ = half(Subset::odd, rhs);
  other_ = odd_.like();
}

/// \param all by point, each by site, column and row. \param hops of the points after the first, else of the first.
CoarseOperator::Matrices CoarseOperator::matrices(Parity parity, const std::vector<std::vector<Complex64>>& all,
                                                  int count, bool hops) const {
  const Lattice& lattice = domain_->lattice();
  const SpinorField here = half(parity == Parity::even ? Subset::even : Subset::odd, 1),
                    there = half((parity == Parity::even) == hops ? Subset::odd : Subset::even, 1);
  const std::size_t column = 2 * panel_rows, tile = column * spinor_numbers, slice = tile * tiles_,
                    site_size = slice * slices_ * count;
  std::vector<long long> sites;
  for (long long i = 0; i < lattice.sites(); ++i)
    if (Lattice::parity(lattice.coordinates(i)) == parity) sites.push_back(i);
  const std::size_t words = site_size * sites.size();
  std::vector<int> first, other;
  for (const long long i : sites) {
    first.push_back(first_word(here, lattice.coordinates(i)));
    for (int p = 0; p < count; ++p) {
      const int mu = p / 2;
      const long long j = hops ? lattice.neighbour(i, mu, p % 2 == 0 ? 1 : -1) : i;
      other.push_back(first_word(there, lattice.coordinates(j)));
    }
  }
  const auto fill = [&]<class T>(std::vector<T>&& panel) {
#pragma omp parallel for schedule(static)
    for (std::size_t s = 0; s < sites.size(); ++s)
      for (int p = 0; p < count; ++p) {
        const Complex64* from = &all[hops ? p + 1 : p][static_cast<std::size_t>(sites[s]) * rows_ * rows_];
        for (int k = 0; k < rows_; ++k)
          for (int i = 0; i < rows_; ++i) {
            T* to = &panel[s * site_size + p * slice * slices_ + k / spinor_numbers * slice + i / panel_rows * tile +
                           k % spinor_numbers * column + i % panel_rows];
            to[0] = static_cast<T>(from[k * rows_ + i].real());
            to[panel_rows] = static_cast<T>(from[k * rows_ + i].imag());
          }
      }
    return on_device(domain_->device_pointer(), panel);
  };
  Matrices m;
  m.points = count;
  m.first = on_device(domain_->device_pointer(), first);
  m.other_first = on_device(domain_->device_pointer(), other);
  m.panel = precision_->word_bytes == 8 ? fill(std::vector<double>(words)) : fill(std::vector<float>(words));
  const Stencil record{places_of(here),
                       count,
                       tiles_,
                       static_cast<const int*>(m.first.data()),
                       static_cast<const int*>(m.other_first.data()),
                       m.panel.data()};
  m.record = on_device(domain_->device_pointer(), &record, sizeof record);
  return m;
}

void CoarseOperator::run(const Matrices& c, SpinorField& out, Parity parity, double a, const SpinorField* x, double b,
                         const SpinorField& in, Parity in_parity) const {
  Arguments args = arguments_for(*domain_, 1, (out.rhs() + panel_columns - 1) / panel_columns);
  const int sites = domain_->lattice().half_sites();
  args.count = out.device().short_vectors() ? static_cast<long long>(sites) * tiles_ * panel_rows : sites;
  args.columns = out.rhs();
  args.matrix = c.record.data();
  args.a.re = a;
  args.b.re = b;
  args.in = in.operand(in_parity);
  args.out = out.operand(parity);
  if (x != nullptr) args.x = x->operand(parity);
  out.device().run(*apply_, args);
}

void CoarseOperator::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  if (dagger == Dagger::yes) throw UsageError("a coarse operator has no conjugate; use methods that need none");
  for (const Parity parity : {Parity::even, Parity::odd}) {
    run(own_[int(parity)], out, parity, 0, nullptr, 1, in, parity);
    run(hops_[int(parity)], out, parity, 1, &out, 1, in, opposite(parity));
  }
}

double CoarseOperator::flops() const {
  return 8.0 * points * rows_ * rows_ * static_cast<double>(domain_->lattice().sites());
}

const LinearOperator& CoarseOperator::reduced() const { return *reduced_; }

void CoarseOperator::prepare(SpinorField& reduced, const SpinorField& b) const {
  SpinorField even = even_.columns(0, b.rhs()), odd = odd_.columns(0, b.rhs());
  run(inverse_[1], odd, Parity::odd, 0, nullptr, 1, b, Parity::odd);
  run(hops_[0], even, Parity::even, 1, &b, -1, odd, Parity::odd);
  run(inverse_[0], reduced, Parity::even, 0, nullptr, 1, even, Parity::even);
}

void CoarseOperator::reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const {
  SpinorField odd = odd_.columns(0, b.rhs());
  run(hops_[1], odd, Parity::odd, 1, &b, -1, reduced, Parity::even);
  run(inverse_[1], x, Parity::odd, 0, nullptr, 1, odd, Parity::odd);
  x.copy_half(Parity::even, reduced);
}

}  // namespace quarksmith
