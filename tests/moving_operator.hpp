/// \file
/// Operators of molecular dynamics on links that move.
#pragma once

#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/fermion_operator.hpp"
#include "solvers/hmc/noise.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

/// Links that move, and an operator that follows them.
struct MovingOperator {
  MovingOperator(const std::shared_ptr<Device>& device, const Action& action, EvenOddForm form,
                 const FermionSolver& solver, bool shifted = false, double roughness = 0.15)
      : domain(std::make_shared<Domain>(Lattice(action.reach() > 1 ? Coordinates{6, 6, 6, 6} : Coordinates{4, 4, 4, 8}),
                                        device, Communicator::self(), action.reach())),
        links(weak_gauge(domain->lattice(), roughness, 5), domain),
        parameters{action, form},
        a(parameters, solver, shifted),
        momenta(links.cleared()) {
    GaussianNoise(3, 0).momenta(momenta);
    a.follow(links);
  }
  void move(double step = 0.05) {
    links.move(momenta, step);
    a.follow(links);
  }
  SpinorField source(int number = 0) const {
    SpinorField b = a.field();
    GaussianNoise(7, 1).pseudofermion("", number, b, find_basis("non_relativistic"));
    return b;
  }
  /// |b - (M^+ M + shift) x| / |b| with an operator of its own.
  double residual(const SpinorField& x, const SpinorField& b, double shift = 0) const {
    FermionOperator fresh(parameters, {});
    fresh.follow(links);
    const Blas blas(b);
    SpinorField y = b.like(), z = b.like();
    fresh.matrix().apply(y, x, Dagger::no);
    if (!fresh.is_squared()) {
      z.copy_from(y);
      fresh.matrix().apply(y, z, Dagger::yes);
    }
    blas.axpby(shift, x, 1, y);
    return std::sqrt(blas.residual(b, y) / blas.norm2(b));
  }

  DomainPointer domain;
  EvolvingLinks links;
  FermionParameters parameters;
  FermionOperator a;
  LinkField momenta;
};

}  // namespace quarksmith
