#include "interface/quda/state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <quda.h>

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

constexpr std::size_t most_kept = 4;

}  // namespace

void refuse(const char* function, const std::string& why) {
  std::fflush(nullptr);
  std::fprintf(stderr, "ERROR: %s: %s (Quarksmith's QUDA interface, rank %d)\n", function, why.c_str(), rank());
  std::fflush(stderr);
  end_all_ranks();
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

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

quarksmith_gauge** Links::out() {
  clear();
  forget();
  return gauge_.out();
}

void Links::forget() {
  static long last = 0;
  operators_.clear(), solvers_.clear(), shifted_.clear();
  number_ = ++last;
}

namespace {

/// Calls make(options), in a build that lacks the kernels of a lower precision with those of double.
template <class Make>
void make_in_some_precision(const std::string& options, const Make& make) {
  quarksmith_status status = make(options);
  constexpr std::string_view key = " precision=";
  if (const auto at = options.find(key); status == QUARKSMITH_MISSING_KERNEL && at != std::string::npos)
    status = make(std::string(options).replace(at, options.find(' ', at + 1) - at, std::string(key) + "double"));
  check(status);
}

}  // namespace

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
  make_in_some_precision(options, [&](const std::string& o) { return make(o, made.handle.out()); });
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

bool Multigrid::has(const Links& links, const std::string& options) const {
  return std::ranges::any_of(made_, [&](const Made& m) { return m.links == links.number() && m.options == options; });
}

quarksmith_solver* Multigrid::solver(const Links& links, const std::string& options) {
  if (!has(links, options)) make(links, options, false);
  made_.splice(made_.begin(), made_, std::ranges::find(made_, options, &Made::options));
  return made_.front().handle;
}

void Multigrid::make(const Links& links, const std::string& options, bool adapt) {
  Made one{options, links.number(), {}};
  quarksmith_solver* before = nullptr;
  if (!made_.empty()) before = made_.front().handle;
  make_in_some_precision(options, [&](const std::string& o) {
    return quarksmith_solver_follow(links.gauge(), o.c_str(), before, adapt ? 1 : 0, one.handle.out());
  });
  made_.remove_if([&](const Made& m) { return m.links != links.number() || m.options == options; });
  if (made_.size() == 2) made_.pop_back();
  made_.push_front(std::move(one));
}

Multigrid& State::multigrid(const void* handle) {
  for (Multigrid& one : multigrids)
    if (&one == handle) return one;
  refuse("the handle of multigrid is not one of newMultigridQuda, or was freed; pass another");
}

quarksmith_dynamics* State::dynamics(quarksmith_gauge* links) {
  Handle<quarksmith_gauge> unit;
  if (motion.dynamics == nullptr && links == nullptr) {
    const double periodic[4] = {0, 0, 0, 0};
    check(quarksmith_gauge_unit(context(), periodic, unit.out()));
    links = unit;
  }
  if (links != nullptr && motion.links != links) {
    motion.links = nullptr;
    check(motion.dynamics != nullptr ? quarksmith_dynamics_use(motion.dynamics, links)
                                     : quarksmith_dynamics_create(links, motion.dynamics.out()));
    motion.links = links;
  }
  return motion.dynamics;
}

void State::end() { *this = {}; }

}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void setVerbosityQuda(QudaVerbosity verbosity, const char prefix[], FILE* outfile) {
  output = {verbosity, prefix == nullptr ? "" : prefix, outfile == nullptr ? stdout : outfile};
}
