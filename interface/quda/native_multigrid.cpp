// Multigrid of quda.h, of quarks whose M^+ is gamma_5 M gamma_5, or nearly so. Levels, blocks and smoothers are those
// that the library chooses.
#include <algorithm>

#include "interface/quda/native.hpp"

namespace quarksmith::quda {

void Quark::use(Multigrid& multigrid) {
  if (staggered() || slices > 1)
    refuse(
        "multigrid is served for Wilson, clover, twisted-mass and twisted-clover quarks of one flavour; leave the "
        "preconditioner out for this dslash_type");
  multigrid_ = &multigrid;
}

/// One precision for all callers, as cycles work in single anyway: the operator decides what is made anew.
std::string Quark::by_multigrid(bool dagger) const {
  return (dagger ? conjugate_ : action_) + " solver=multigrid precision=auto";
}

void Quark::set_up(bool adapt) const {
  const std::string options = by_multigrid(false);
  if (adapt || !multigrid_->has(*links_, options)) multigrid_->make(*links_, options, adapt);
}

namespace {

Quark quark_of(const QudaMultigridParam* param, Multigrid& multigrid) {
  if (param == nullptr || param->invert_param == nullptr) refuse("invert_param is NULL; pass that of the operator");
  for (int n = 0; n < param->n_level && n < QUDA_MAX_MG_LEVEL; ++n)
    for (const auto& [name, used] : {std::pair("vec_load", param->vec_load[n] == QUDA_BOOLEAN_TRUE),
                                     std::pair("vec_store", param->vec_store[n] == QUDA_BOOLEAN_TRUE)})
      if (used) refuse(std::string(name) + ": files of near-null vectors are not served; set it to QUDA_BOOLEAN_FALSE");
  Quark quark(*param->invert_param);
  quark.use(multigrid);
  return quark;
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void* newMultigridQuda(QudaMultigridParam* param) {
  const Call call(__func__);
  std::list<Multigrid> made(1);
  quark_of(param, made.front()).set_up(true);
  print(
      QUDA_SUMMARIZE,
      "newMultigridQuda: levels, blocks, vectors and smoothers are chosen for the lattice; those of QudaMultigridParam "
      "are not read");
  state().multigrids.splice(state().multigrids.end(), made);
  return &state().multigrids.back();
}

void updateMultigridQuda(void* mg_instance, QudaMultigridParam* param) {
  const Call call(__func__);
  const Quark quark = quark_of(param, state().multigrid(mg_instance));
  const auto& refresh = param->setup_maxiter_refresh;
  quark.set_up(std::any_of(refresh, refresh + QUDA_MAX_MG_LEVEL, [](int steps) { return steps > 0; }));
}

void destroyMultigridQuda(void* mg_instance) {
  const Call call(__func__);
  const Multigrid* const gone = &state().multigrid(mg_instance);
  state().multigrids.remove_if([&](const Multigrid& one) { return &one == gone; });
}
