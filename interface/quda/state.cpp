#include "interface/quda/state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <quda_milc_interface.h>
#ifdef QUARKSMITH_MPI
#define OMPI_SKIP_MPICXX
#include <quarksmith_mpi.h>
#endif

namespace quarksmith::quda {
namespace {

thread_local const char* calling = nullptr;

/// Where lines go: setVerbosityQuda.
struct Output {
  int verbosity = QUDA_SUMMARIZE;
  std::string prefix;
  FILE* file = stdout;
} output;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

#ifdef QUARKSMITH_MPI
bool of_mpi() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}
MPI_Comm all_ranks() { return state().communicator == 0 ? MPI_COMM_WORLD : MPI_Comm_f2c(state().communicator); }
int rank() {
  int number = 0;
  if (of_mpi()) MPI_Comm_rank(all_ranks(), &number);
  return number;
}
#else
int rank() { return 0; }
#endif

constexpr std::size_t most_kept = 4;

}  // namespace

void refuse(const char* function, const std::string& why) {
  std::fflush(nullptr);
  std::fprintf(stderr, "ERROR: %s: %s (Quarksmith's QUDA interface, rank %d)\n", function, why.c_str(), rank());
  std::fflush(stderr);
#ifdef QUARKSMITH_MPI
  int ranks = 1;
  if (of_mpi()) MPI_Comm_size(all_ranks(), &ranks);
  if (ranks > 1) MPI_Abort(all_ranks(), 1);
#endif
  std::abort();
}

Call::Call(const char* function) : outer_(calling), start_(now()) {
  if (calling == nullptr) calling = function;
}
Call::~Call() { calling = outer_; }
double Call::seconds() const { return std::max(now() - start_, 1e-9); }

void refuse(const std::string& why) { refuse(calling == nullptr ? "a call" : calling, why); }

void check(quarksmith_status status) {
  if (status != QUARKSMITH_OK) refuse(quarksmith_message());
}

void check_solve(quarksmith_status status) {
  if (status != QUARKSMITH_NOT_CONVERGED) return check(status);
  print(QUDA_SUMMARIZE, std::string("WARNING: ") + (calling == nullptr ? "" : calling) + ": " + quarksmith_message());
}

void print(int least, const std::string& line) {
  if (output.verbosity < least || rank() != 0) return;
  std::fprintf(output.file, "%s%s\n", output.prefix.c_str(), line.c_str());
  std::fflush(output.file);
}

double all_sum(double mine) {
#ifdef QUARKSMITH_MPI
  const auto& grid = state().grid;
  if (grid[0] * grid[1] * grid[2] * grid[3] > 1)
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, all_ranks());
#endif
  return mine;
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

quarksmith_gauge** Links::out() {
  clear();
  return gauge_.out();
}

void Links::forget() { operators_.clear(), solvers_.clear(), shifted_.clear(); }

template <class T, class Make>
T* Links::find(std::list<Kept<T>>& kept, const std::string& options, int shifts, const Make& make) {
  if (!gauge_) refuse("there are no links; load them before this call");
  for (auto k = kept.begin(); k != kept.end(); ++k)
    if (k->options == options && k->shifts >= shifts) {
      kept.splice(kept.begin(), kept, k);
      return kept.front().handle;
    }
  if (kept.size() == most_kept) kept.pop_back();
  Kept<T> made{options, shifts, {}};
  quarksmith_status status = make(options, made.handle.out());
  // A build that lacks the kernels of a lower precision has those of double.
  constexpr std::string_view key = " precision=";
  if (const auto at = options.find(key); status == QUARKSMITH_MISSING_KERNEL && at != std::string::npos)
    status = make(std::string(options).replace(at, options.find(' ', at + 1) - at, std::string(key) + "double"),
                  made.handle.out());
  check(status);
  kept.push_front(std::move(made));
  return kept.front().handle;
}

quarksmith_operator* Links::op(const std::string& options) {
  return find(operators_, options, 0,
              [&](const std::string& o, auto** h) { return quarksmith_operator_create(gauge_, o.c_str(), h); });
}
quarksmith_solver* Links::solver(const std::string& options) {
  return find(solvers_, options, 0,
              [&](const std::string& o, auto** h) { return quarksmith_solver_create(gauge_, o.c_str(), h); });
}
quarksmith_shifted* Links::shifted(const std::string& options, int shifts) {
  return find(shifted_, options, shifts,
              [&](const std::string& o, auto** h) { return quarksmith_shifted_create(gauge_, o.c_str(), shifts, h); });
}

State& state() {
  static State the;
  return the;
}

quarksmith_context* State::context(const int extent[4]) {
  if (!begun) refuse("QUDA is not initialised; call initQuda or qudaInit first");
  if (context_ && std::equal(extent, extent + 4, extent_.begin())) return context_;
  for (Links* links : {&wilson, &staggered, &improved}) links->clear();
  has_fat = has_long = false;
  std::copy_n(extent, 4, extent_.begin());
  const char* asked = std::getenv("QUARKSMITH_DEVICE");
  const char* device = asked == nullptr || *asked == '\0' ? "auto" : asked;
  const int ranks = grid[0] * grid[1] * grid[2] * grid[3];
#ifdef QUARKSMITH_MPI
  if (ranks > 1) {
    auto r = initial(quarksmith_ranks_init);
    quarksmith_ranks_use(&r, all_ranks());
    std::copy(grid.begin(), grid.end(), r.grid);
    r.rank_of = rank_of;
    r.data = rank_data;
    check(quarksmith_open_ranks(device, extent, &r, context_.out()));
  }
#else
  if (ranks > 1) refuse("a grid of several ranks, and this library has no MPI; build it with MPI");
#endif
  if (ranks == 1) check(quarksmith_open(device, extent, context_.out()));
  char name[256];
  check(quarksmith_device_name(context_, name, sizeof name));
  print(QUDA_SUMMARIZE, "Quarksmith " + std::string(quarksmith_version()) +
                            " behind the interface of QUDA (this is not QUDA), on " + name);
  return context_;
}

void State::end() { *this = {}; }

}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void setVerbosityQuda(QudaVerbosity verbosity, const char prefix[], FILE* outfile) {
  output = {verbosity, prefix == nullptr ? "" : prefix, outfile == nullptr ? stdout : outfile};
}

void setMPICommHandleQuda(void* mycomm) {
  const Call call(__func__);
  if (mycomm == nullptr) return;  // programs without MPI
#ifdef QUARKSMITH_MPI
  state().communicator = int(MPI_Comm_c2f(*static_cast<MPI_Comm*>(mycomm)));
#else
  refuse("this library has no MPI; build it with MPI, or the program without");
#endif
}
void qudaSetCommHandle(void* mycomm) { setMPICommHandleQuda(mycomm); }

void initCommsGridQuda(int nDim, const int* dims, QudaCommsMap func, void* fdata) {
  const Call call(__func__);
  if (nDim != 4) refuse("a grid of " + std::to_string(nDim) + " dimensions; use 4");
  std::copy_n(dims, 4, state().grid.begin());
  state().rank_of = func;
  state().rank_data = fdata;
}

void initQudaDevice(int) {}
void initQudaMemory() { state().begun = true; }
void initQuda(int device) { initQudaDevice(device), initQudaMemory(); }
void endQuda() { state().end(); }
