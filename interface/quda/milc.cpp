// Functions of quda_milc_interface.h: start and end.
#include <quda_milc_interface.h>

#include <array>

#include "interface/quda/state.hpp"

using namespace quarksmith::quda;

void qudaSetMPICommHandle(void* mycomm) { setMPICommHandleQuda(mycomm); }

void qudaSetLayout(QudaLayout_t layout) {
  const Call call(__func__);
  std::array<int, 4> local{};
  for (int mu = 0; mu < 4; ++mu) local[mu] = layout.latsize[mu] / layout.machsize[mu];
  initCommsGridQuda(4, layout.machsize, nullptr, nullptr);
  initQuda(layout.device);
  state().context(local.data());
}

void qudaInit(QudaInitArgs_t input) {
  const Call call(__func__);
  if (state().begun) return;
  setVerbosityQuda(input.verbosity, "", stdout);
  qudaSetLayout(input.layout);
}

void qudaFinalize() { endQuda(); }
