// Ranks of MPI that share the lattice, as QUDA's callers number them; start and end.
#include <algorithm>
#include <cstdlib>

#include <quda_milc_interface.h>

#include "interface/quda/state.hpp"
#ifdef QUARKSMITH_MPI
#define OMPI_SKIP_MPICXX
#include <quarksmith_mpi.h>

extern "C" {  // of QMP, in programs that are linked with it
[[gnu::weak]] int QMP_logical_topology_is_declared();
[[gnu::weak]] int QMP_get_logical_number_of_dimensions();
[[gnu::weak]] const int* QMP_get_logical_dimensions();
[[gnu::weak]] int QMP_get_node_number_from(const int* place);
[[gnu::weak]] void* QMP_comm_get_default();
[[gnu::weak]] int QMP_get_mpi_comm(void* of, void** communicator);
}
#endif

namespace quarksmith::quda {
namespace {

#ifdef QUARKSMITH_MPI
bool of_mpi() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}
MPI_Comm all_ranks() {
  const int number = state().ranks.communicator;
  return number == 0 ? MPI_COMM_WORLD : MPI_Comm_f2c(number);
}
int number_of_ranks() {
  int count = 1;
  if (of_mpi()) MPI_Comm_size(all_ranks(), &count);
  return count;
}
#else
int number_of_ranks() { return 1; }
#endif

/// The number of a place of a grid, whose coordinates are listed in the order `axes`, the fastest first.
int lexicographic(const std::array<int, 4>& grid, const int* place, const std::array<int, 4>& axes) {
  int number = 0;
  for (int k = 3; k >= 0; --k) number = number * grid[axes[k]] + place[axes[k]];
  return number;
}

std::string device_name() {
  const char* asked = std::getenv("QUARKSMITH_DEVICE");
  if (asked != nullptr && *asked != '\0') return asked;
  for (const char* target : {"cuda", "hip"})
    if (state().device >= 0 && quarksmith_devices(target) > 0) return target + (':' + std::to_string(state().device));
  return "auto";
}

}  // namespace

int rank() {
  int number = 0;
#ifdef QUARKSMITH_MPI
  if (of_mpi()) MPI_Comm_rank(all_ranks(), &number);
#endif
  return number;
}

void end_all_ranks() {
#ifdef QUARKSMITH_MPI
  if (number_of_ranks() > 1) MPI_Abort(all_ranks(), 1);
#endif
  std::abort();
}

double all_sum(double mine) {
#ifdef QUARKSMITH_MPI
  if (state().ranks.count() > 1) MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, all_ranks());
#endif
  return mine;
}

const int* grid_of_qmp() {
#ifdef QUARKSMITH_MPI
  if (QMP_logical_topology_is_declared != nullptr && QMP_logical_topology_is_declared() != 0 &&
      QMP_get_logical_number_of_dimensions() == 4)
    return QMP_get_logical_dimensions();
#endif
  return nullptr;
}

void Ranks::use(const int dims[4], RankOf rank_of, void* data, const std::array<int, 4>& axes) {
  std::copy_n(dims, 4, grid.begin());
  if (*std::min_element(dims, dims + 4) < 1) refuse("a grid has less than one rank in a direction; use at least 1");
#ifdef QUARKSMITH_MPI
  if (const int* qmp = rank_of == nullptr ? grid_of_qmp() : nullptr) {
    if (!std::equal(dims, dims + 4, qmp)) refuse("dims are not those of QMP's logical topology; use the latter");
    rank_of = [](const int* place, void*) { return QMP_get_node_number_from(place); };
    void* of_qmp = nullptr;
    if (communicator == 0 && QMP_get_mpi_comm != nullptr && QMP_get_mpi_comm(QMP_comm_get_default(), &of_qmp) == 0)
      communicator = int(MPI_Comm_c2f(*static_cast<MPI_Comm*>(of_qmp)));
  }
#endif
  numbers.clear();
  std::array<int, 4> at{};
  for (at[3] = 0; at[3] < grid[3]; ++at[3])
    for (at[2] = 0; at[2] < grid[2]; ++at[2])
      for (at[1] = 0; at[1] < grid[1]; ++at[1])
        for (at[0] = 0; at[0] < grid[0]; ++at[0])
          numbers.push_back(rank_of == nullptr ? lexicographic(grid, at.data(), axes) : rank_of(at.data(), data));
}

bool Ranks::last(int mu) const {
  int n = int(std::find(numbers.begin(), numbers.end(), rank()) - numbers.begin());
  for (int nu = 0; nu < mu; ++nu) n /= grid[nu];
  return n % grid[mu] == grid[mu] - 1;
}

State& state() {
  static State& the = *new State;  // what it holds of MPI and of devices must not end after them
  return the;
}

quarksmith_context* State::context(const int extent[4]) {
  if (!begun) refuse("QUDA is not initialised; call initQuda or qudaInit first");
  if (context_ && std::equal(extent, extent + 4, extent_.begin())) return context_;
  close();
  for (int mu = 0; mu < 4; ++mu)
    if (extent[mu] < 1 || extent[mu] % 2 != 0)
      refuse("the local lattice has " + std::to_string(extent[mu]) + " sites in direction " + std::to_string(mu) +
             " (X of QudaGaugeParam, latsize of MILC); use even numbers, with another grid of ranks");
  std::copy_n(extent, 4, extent_.begin());
  const std::string device = device_name();
#ifdef QUARKSMITH_MPI
  if (const int count = number_of_ranks(); count > 1 || ranks.count() > 1) {
    auto r = initial(quarksmith_ranks_init);
    quarksmith_ranks_use(&r, all_ranks());
    std::copy(ranks.grid.begin(), ranks.grid.end(), r.grid);
    r.rank_of = [](const int* place, void* data) {
      const Ranks& of = *static_cast<Ranks*>(data);
      return of.numbers[std::size_t(lexicographic(of.grid, place, {0, 1, 2, 3}))];
    };
    r.data = &ranks;
    check(quarksmith_open_ranks(device.c_str(), extent, &r, context_.out()));
  } else
#endif
  {
    if (ranks.count() > 1) refuse("a grid of several ranks, and this library has no MPI; build it with MPI");
    check(quarksmith_open(device.c_str(), extent, context_.out()));
  }
  char name[256];
  check(quarksmith_device_name(context_, name, sizeof name));
  print(QUDA_SUMMARIZE, "Quarksmith " + std::string(quarksmith_version()) +
                            " behind the interface of QUDA (this is not QUDA), on " + name);
  return context_;
}

void State::close() {
  for (Links* links : {&wilson, &staggered, &improved}) links->clear();
  has_fat = has_long = false;
  clover = {};
  multigrids.clear();
  motion = {};
  context_ = {};
}

}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void setMPICommHandleQuda(void* mycomm) {
  const Call call(__func__);
  if (mycomm == nullptr) return;  // programs without MPI
#ifdef QUARKSMITH_MPI
  state().ranks.communicator = int(MPI_Comm_c2f(*static_cast<MPI_Comm*>(mycomm)));
#else
  refuse("this library has no MPI; build it with MPI, or the program without");
#endif
}
void qudaSetCommHandle(void* mycomm) { setMPICommHandleQuda(mycomm); }

void initCommsGridQuda(int nDim, const int* dims, QudaCommsMap func, void* fdata) {
  const Call call(__func__);
  if (nDim != 4) refuse("a grid of " + std::to_string(nDim) + " dimensions; use 4");
  state().close();
  state().ranks.use(dims, func, fdata, {3, 2, 1, 0});
}

void initQudaDevice(int device) {
  const Call call(__func__);
  state().device = device;
  if (!state().ranks.numbers.empty()) return;
  constexpr int alone[] = {1, 1, 1, 1};
  const int* const grid = grid_of_qmp();
  if (grid == nullptr && number_of_ranks() > 1)
    refuse("there are " + std::to_string(number_of_ranks()) + " ranks, and no grid; call initCommsGridQuda first");
  initCommsGridQuda(4, grid == nullptr ? alone : grid, nullptr, nullptr);
}
void initQudaMemory() { state().begun = true; }
void initQuda(int device) {
  const Call call(__func__);
  initQudaDevice(device);
  initQudaMemory();
}
void endQuda() { state().end(); }
