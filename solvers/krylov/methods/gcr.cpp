// Generalised conjugate residuals.
#include <algorithm>
#include <fmt/format.h>

#include "solvers/krylov/method.hpp"
#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {
namespace {

/// Solves A y = r by GCR(m) with any preconditioner K.
///
/// S. C. Eisenstat, H. C. Elman and M. H. Schultz, SIAM J. Numer. Anal. 20 (1983) 345, in the form of Y. Saad,
/// Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 6.21: direction p_j = K r, its image q_j = A p_j
/// made orthogonal to those of the cycle, which begins anew after m of them; y += alpha p_j with alpha = (q_j, r) /
/// (q_j, q_j). K may change from step to step, for p_j is kept (flexible; M. Luescher, Comput. Phys. Commun. 156 (2004)
/// 209). The images are projected in groups of four, those of a group by the classical Gram-Schmidt process,
/// one group after another.
///
/// All right-hand sides of a batch are at the same step of a cycle. One whose residual is replaced keeps its
/// directions; one that starts within a cycle has none yet. In mixed precision the iterations of a right-hand side
/// therefore depend on the others; its result does so only within the tolerance.
///
/// An iteration applies A and K once and reads or writes ten fields besides, and 17 for each group.
class GeneralisedConjugateResiduals final : public Recurrence {
 public:
  /// \param a,scalars must outlive this.
  /// \param m directions of a cycle, 1 ... MethodParameters::most_directions
  /// \param preconditioner may be null.
  GeneralisedConjugateResiduals(const LinearOperator& a, Scalars& scalars, int rhs, int m,
                                std::unique_ptr<Preconditioner> preconditioner);
  void iterate(int width, int phase) override;
  int phases() const override { return static_cast<int>(p_.size()); }
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override;
  int applications() const override { return 1 + (preconditioner_ ? preconditioner_->applications() : 0); }

 private:
  static constexpr int group = 4;
  /// Projections on images first ... first + group - 1; those that are not there have weight zero.
  struct Group {
    int image[group];
    Step project, orthogonalise;
  };
  Group make_group(int first, int count) const;
  /// Makes direction and image number j orthogonal to the earlier ones.
  void orthogonalise(int width, int j);

  SpinorField r_;
  std::vector<SpinorField> p_, q_;          // directions and their images
  std::vector<std::vector<Group>> groups_;  // by step
  std::vector<Step> alpha_;                 // by step
  Step measure_, direction_, step_;
  std::unique_ptr<Preconditioner> preconditioner_;
};

/// Name of the scalar 1 / (q_j, q_j), which is 0 as long as there is no image j.
std::string weight(int j) { return fmt::format("weight_{}", j); }

GeneralisedConjugateResiduals::GeneralisedConjugateResiduals(const LinearOperator& a, Scalars& scalars, int rhs, int m,
                                                             std::unique_ptr<Preconditioner> preconditioner)
    : Recurrence(a, scalars, rhs),
      r_(a.field(rhs)),
      measure_(scalars, a.precision(), "measure"),
      direction_(scalars, a.precision(), "gcr_direction"),
      step_(scalars, a.precision(), "mr_step"),
      preconditioner_(std::move(preconditioner)) {
  scalars.slot("zero");
  for (int j = 0; j < m; ++j) {
    p_.push_back(a.field(rhs));
    q_.push_back(a.field(rhs));
    alpha_.push_back(Step(scalars, a.precision(), "mr_alpha", {{"weight", weight(j)}}));
    std::vector<Group>& groups = groups_.emplace_back();
    for (int first = 0; first < j; first += group) groups.push_back(make_group(first, std::min(group, j - first)));
  }
}

GeneralisedConjugateResiduals::Group GeneralisedConjugateResiduals::make_group(int first, int count) const {
  const auto name = [&](int n) { return n < count ? weight(first + n) : std::string("zero"); };
  const auto image = [&](int n) { return first + std::min(n, count - 1); };  // loads of one again are hits of the cache
  return {{image(0), image(1), image(2), image(3)},
          Step(*scalars_, a_->precision(), "gcr_project",
               {{"weight_x", name(0)}, {"weight_z", name(1)}, {"weight_w", name(2)}, {"weight_u", name(3)}}),
          Step(*scalars_, a_->precision(), "gcr_orthogonalise")};
}

void GeneralisedConjugateResiduals::iterate(int width, int j) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), p = p_[j].columns(0, width),
              q = q_[j].columns(0, width);
  // Directions of inactive right-hand sides stay as they are, and so do their images, which are computed again.
  if (preconditioner_) preconditioner_->apply(q, r, width);
  direction_({.x = preconditioner_ ? &q : &r, .y = &p});  // p = K r
  a_->apply(q, p, Dagger::no);
  orthogonalise(width, j);
  alpha_[j]({.x = &q, .y = &r});                // alpha = (q, r) / (q, q)
  step_({.x = &q, .y = &r, .z = &p, .v = &y});  // y += alpha p;  r -= alpha q
}

void GeneralisedConjugateResiduals::orthogonalise(int width, int j) {
  SpinorField p = p_[j].columns(0, width), q = q_[j].columns(0, width);
  for (const Group& g : groups_[j]) {
    const auto [x, z, w, u] = g.image;
    const auto of = [width](std::vector<SpinorField>& fields, int n) { return fields[n].columns(0, width); };
    const SpinorField qx = of(q_, x), qz = of(q_, z), qw = of(q_, w), qu = of(q_, u);
    g.project({.x = &qx, .y = &q, .z = &qz, .w = &qw, .u = &qu});  // beta_i = (q_i, q) / (q_i, q_i)
    g.orthogonalise({.x = &qx, .y = &q, .z = &qz, .w = &qw, .u = &qu});
    const SpinorField px = of(p_, x), pz = of(p_, z), pw = of(p_, w), pu = of(p_, u);
    g.orthogonalise({.x = &px, .y = &p, .z = &pz, .w = &pw, .u = &pu});
  }
}

void GeneralisedConjugateResiduals::prepare(int first, int count) {
  for (int n = first; n < first + count; ++n) {
    for (int j = 0; j < phases(); ++j) scalars_->set(n, weight(j), 0);
    scalars_->set(n, "zero", 0);
    scalars_->set(n, "scale", 0);
    scalars_->set(n, "omega", 1);
  }
}

void GeneralisedConjugateResiduals::start(int first, int count) {
  for (SpinorField& p : p_) p.columns(first, count).fill(0);  // weight 0 does not annul what is not finite
  for (SpinorField& q : q_) q.columns(first, count).fill(0);
  replace(first, count);
}

void GeneralisedConjugateResiduals::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count);
  y.fill(0);
  measure_.for_all({.x = &r}, first);
}

std::vector<SpinorField*> GeneralisedConjugateResiduals::state() {
  std::vector<SpinorField*> all = {&y_, &r_};
  for (SpinorField& p : p_) all.push_back(&p);
  for (SpinorField& q : q_) all.push_back(&q);
  return all;
}

/// Forwards to a preconditioner that the caller owns.
class Given final : public Preconditioner {
 public:
  explicit Given(Preconditioner& k) : k_(&k) {}
  void apply(SpinorField& out, const SpinorField& in, int width) override { k_->apply(out, in, width); }
  int applications() const override { return k_->applications(); }

 private:
  Preconditioner* k_;
};

std::unique_ptr<Recurrence> make(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars, int rhs,
                                 const MethodParameters& p) {
  std::unique_ptr<Preconditioner> preconditioner;
  if (p.given != nullptr)
    preconditioner = std::make_unique<Given>(*p.given);
  else if (p.preconditioner)
    preconditioner = std::make_unique<FixedSteps>(inner, *p.preconditioner, p, a.precision(), rhs);
  return make_gcr(a, scalars, rhs, p.restart, std::move(preconditioner));
}

}  // namespace

std::unique_ptr<Recurrence> make_gcr(const LinearOperator& a, Scalars& scalars, int rhs, int directions,
                                     std::unique_ptr<Preconditioner> preconditioner) {
  return std::make_unique<GeneralisedConjugateResiduals>(a, scalars, rhs, directions, std::move(preconditioner));
}

namespace methods {
extern constinit const MethodKind gcr = {.names = {"gcr"},
                                         .source = "Eisenstat, Elman and Schultz 1983; Saad, alg. 6.21",
                                         .storage = "2 M + 2",
                                         .applications = "1 and its preconditioner's",
                                         .traffic = "10 and 17 for each four directions",
                                         .use = "with a preconditioner, however inexact",
                                         .numbers = {{{.option = "--restart",
                                                       .letter = "M",
                                                       .help = "directions M that gcr keeps",
                                                       .whole = &MethodParameters::restart,
                                                       .lower = 1,
                                                       .upper = MethodParameters::most_directions}}},
                                         .preconditioned = true,
                                         .fields = [](const MethodParameters& p) { return 2 * p.restart + 2; },
                                         .make = make};
}  // namespace methods

}  // namespace quarksmith
