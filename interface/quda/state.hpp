/// \file
/// What QUDA's interface keeps between calls, and what all its functions share. It sits above the C interface alone.
#pragma once

#include <quarksmith.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace quarksmith::quda {

/// Ends the program after one line that names the function of QUDA: callers rely on it.
[[noreturn]] void refuse(const char* function, const std::string& why);

/// A call of a function of QUDA: refuse(why) and check() name the outermost one of this thread.
class Call {
 public:
  explicit Call(const char* function);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();
  /// Of this call, never 0: callers divide by it.
  double seconds() const;

 private:
  const char* outer_;
  double start_;
};
[[noreturn]] void refuse(const std::string& why);
/// Refuses what the C interface refuses, with its message.
void check(quarksmith_status status);
/// The same, but a solve that misses its tolerance is left to the caller, who looks at residuals; one line says so.
void check_solve(quarksmith_status status);
/// Prints a line as QUDA does: on rank 0, with the prefix of setVerbosityQuda. \param least QudaVerbosity from which
/// on.
void print(int least, const std::string& line);

/// The number of this rank in the communicator of the caller.
int rank();
/// Ends this program, and with it those of all ranks.
[[noreturn]] void end_all_ranks();
/// The sum over all ranks.
double all_sum(double mine);

/// Staggered phases of MILC's and QUDA's links, the `eta` of a format.
constexpr int time_first[] = {3, 0, 1, 2};

/// A value of a parameter that is served, by its name, and what it means here.
template <class T>
struct Served {
  int value;
  const char* name;
  T means;
};
/// The meaning of a value. Others are refused by the name of the parameter; the line has those that are served.
template <class T>
const T& meaning(const char* parameter, int value, std::initializer_list<Served<T>> served) {
  std::string names;
  for (const Served<T>& s : served) {
    if (s.value == value) return s.means;
    names += (names.empty() ? "" : ", ") + std::string(s.name);
  }
  refuse(std::string(parameter) + " " + std::to_string(value) + " is not served; use " + names);
}

/// All digits of a number, for options.
std::string text_of(double number);

/// A handle of the C interface that frees itself.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { quarksmith_free(handle_); }
  operator T*() const { return handle_; }
  /// For a call that makes one; frees what it held.
  T** out() {
    quarksmith_free(std::exchange(handle_, nullptr));
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};

/// A struct with its defaults.
template <class T>
T initial(quarksmith_status (*init)(T*)) {
  T made;
  check(init(&made));
  return made;
}

/// Links, and operators and solvers on them, which are made at their first use and kept: `options` are those of the C
/// interface. Few are kept of each kind, the last ones used.
class Links {
 public:
  quarksmith_gauge** out();  ///< forgets all
  void take(Handle<quarksmith_gauge> gauge) { clear(), forget(), gauge_ = std::move(gauge); }
  quarksmith_gauge* gauge() const { return gauge_; }
  explicit operator bool() const { return gauge_ != nullptr; }
  void clear() { *this = {}; }
  void forget();  ///< operators and solvers
  /// Another one after each change of the links, or of what is kept on them.
  long number() const { return number_; }
  /// The option of operators that gives them the boundary phases of the links.
  std::string boundary() const;

  quarksmith_operator* op(const std::string& options);
  quarksmith_solver* solver(const std::string& options);
  quarksmith_shifted* shifted(const std::string& options, int shifts);

 private:
  template <class T>
  struct Kept {
    std::string options;
    int shifts;
    Handle<T> handle;
  };
  template <class T, class Make>
  T* find(std::list<Kept<T>>& kept, const std::string& options, int shifts, const Make& make);

  Handle<quarksmith_gauge> gauge_;
  std::list<Kept<quarksmith_operator>> operators_;
  std::list<Kept<quarksmith_solver>> solvers_;
  std::list<Kept<quarksmith_shifted>> shifted_;
  long number_ = 0;
};

/// Solvers with multigrid behind a handle of newMultigridQuda: near-null vectors go from one operator to the next.
class Multigrid {
 public:
  /// The solver of an operator. Where it is a new one its levels are made of the vectors that there are.
  quarksmith_solver* solver(const Links& links, const std::string& options);
  /// Makes that solver. \param adapt the vectors are adapted to the operator.
  void make(const Links& links, const std::string& options, bool adapt);
  /// Whether there is one already.
  bool has(const Links& links, const std::string& options) const;

 private:
  struct Made {
    std::string options;
    long links;  ///< their number
    Handle<quarksmith_solver> handle;
  };
  std::list<Made> made_;  ///< of M, and of M(-mu) that takes part in solves with M^+; the last one used first
};

/// From coordinates of a rank in the grid to its number in the communicator (QudaCommsMap).
using RankOf = int (*)(const int* place, void* data);

/// The grid that a program has declared to QMP, of four dimensions; else null.
const int* grid_of_qmp();

/// Ranks of MPI that share the lattice.
struct Ranks {
  int communicator = 0;  ///< its number in Fortran; 0: that of all ranks
  std::array<int, 4> grid{1, 1, 1, 1};
  std::vector<int> numbers;  ///< in the communicator, x of the grid fastest; none before there is a grid

  /// \param rank_of null: that of QMP if it has a grid, else lexicographic, with the directions `axes`, fastest first.
  void use(const int dims[4], RankOf rank_of, void* data, const std::array<int, 4>& axes);
  int count() const { return grid[0] * grid[1] * grid[2] * grid[3]; }
  /// Whether this rank is at the upper end of the grid in a direction.
  bool last(int mu) const;
};

/// The device, ranks and lattice. One for the process, as QUDA's are.
class State {
 public:
  bool begun = false;  ///< initQuda was called
  int device = -1;     ///< its number among GPUs; -1: any
  Ranks ranks;

  /// The context of a local lattice, opened at its first use; with those of others their links end.
  quarksmith_context* context(const int extent[4]);
  quarksmith_context* context() { return context(extent_.data()); }
  const std::array<int, 4>& extent() const { return extent_; }
  /// Sites of the local lattice.
  std::size_t sites() const { return std::size_t(extent_[0]) * extent_[1] * extent_[2] * extent_[3]; }
  std::size_t all_sites() const { return sites() * std::size_t(ranks.count()); }
  /// Frees the context and what is on it, and all (endQuda).
  void close();
  void end();

  Links wilson;     ///< links of Wilson-like quarks (loadGaugeQuda)
  Links staggered;  ///< unit links with fields `fat` and `long`
  Links improved;   ///< the same, of loadGaugeQuda
  bool has_fat = false, has_long = false;

  /// What is known of the links of `wilson`.
  struct Loaded {
    double anisotropy = 1;           ///< by which links in space were multiplied
    bool declared = false;           ///< by the caller; else they were found to be a number times SU(3)
    std::string boundary;            ///< option of operators
    bool phases = false;             ///< they held staggered phases, t first
    std::array<double, 4> spread{};  ///< and phases of the boundary in all links, as in formats
    std::array<double, 3> plaquette{};
    /// Options of operators on them.
    std::string options() const;
  } loaded;
  /// The clover term (loadCloverQuda).
  struct Clover {
    bool loaded = false, given = false;  ///< by the caller, in `term`
    double coefficient = 0;              ///< kappa csw
    double space = 1;                    ///< factor of the links in space that it is made of
    std::array<double, 3> plaquette{};   ///< of the links that it is made of
    std::vector<char> term;
    quarksmith_term_format format{};
    const void* attached = nullptr;  ///< links of which `term` is a field, in units of this kappa
    double kappa = 0;
  } clover;
  std::list<Multigrid> multigrids;
  /// That behind a handle of a caller.
  Multigrid& multigrid(const void* handle);
  /// Molecular dynamics on the device.
  struct Motion {
    Handle<quarksmith_dynamics> dynamics;
    const void* links = nullptr;  ///< gauge field whose links these are
    bool momenta = false;         ///< those that stay from call to call (momResidentQuda)
  } motion;
  /// Molecular dynamics with the links of a gauge field, or with NULL any, and the momenta that there are.
  quarksmith_dynamics* dynamics(quarksmith_gauge* links);

 private:
  std::array<int, 4> extent_{};
  Handle<quarksmith_context> context_;
};
State& state();

}  // namespace quarksmith::quda
