// Handles that are NULL, freed, of another kind or context, or none: refused by every function, in every thread. What
// they need of each other stays.
#include <barrier>
#include <thread>

#include "tests/c/support.hpp"

namespace {

using namespace c;

const Coordinates handle_extent = {4, 4, 4, 4};

enum Kind { context, gauge, field, op, solver, shifted, result, dynamics, quark, kinds };
constexpr const char* kind_names[kinds] = {"quarksmith_context",  "quarksmith_gauge",    "quarksmith_field",
                                           "quarksmith_operator", "quarksmith_solver",   "quarksmith_shifted",
                                           "quarksmith_result",   "quarksmith_dynamics", "quarksmith_quark"};

/// A handle of whatever kind a call wants.
struct Any {
  void* handle;
  template <class T>
  operator T*() const {
    return static_cast<T*>(handle);
  }
};

/// Every argument of every function that is a handle: what a call with it comes to, all others being right.
struct CallWithHandle {
  Kind kind;
  std::string argument;
  std::function<quarksmith_status(Any)> call;
  bool first = true;  ///< the call locks it first
};

/// One open handle of each kind, and what calls need besides.
struct OpenHandles {
  explicit OpenHandles(const char* device_) : device(device_) {
    for (int kind = 0; kind < kinds; ++kind) open[kind] = {make(Kind(kind))};
  }
  ~OpenHandles() {
    for (const Any h : open) quarksmith_free(h.handle);
  }
  void* make(Kind kind) {
    void* made = nullptr;
    const auto to = [&]<class T>(T**) { return reinterpret_cast<T**>(&made); };
    const char* how = "action=wilson mass=0.2";
    switch (kind) {
      case context:
        EXPECT_DONE(quarksmith_open(device, handle_extent.data(), to((quarksmith_context**)nullptr)));
        break;
      case gauge:
        EXPECT_DONE(quarksmith_gauge_load(open[context], u, &links, to((quarksmith_gauge**)nullptr)));
        break;
      case field:
        EXPECT_DONE(quarksmith_field_create(open[context], nullptr, to((quarksmith_field**)nullptr)));
        break;
      case op:
        EXPECT_DONE(quarksmith_operator_create(open[gauge], how, to((quarksmith_operator**)nullptr)));
        break;
      case solver:
        EXPECT_DONE(quarksmith_solver_create(open[gauge], how, to((quarksmith_solver**)nullptr)));
        break;
      case shifted:
        EXPECT_DONE(quarksmith_shifted_create(open[gauge], how, 1, to((quarksmith_shifted**)nullptr)));
        break;
      case result:
        EXPECT_DONE(quarksmith_run(open[context], "list", "what=formats", nullptr, to((quarksmith_result**)nullptr)));
        break;
      case dynamics:
        EXPECT_DONE(quarksmith_dynamics_create(open[gauge], to((quarksmith_dynamics**)nullptr)));
        break;
      default:
        EXPECT_DONE(quarksmith_quark_create(open[dynamics], "mass=0.5", to((quarksmith_quark**)nullptr)));
    }
    return made;
  }

  const char* device;
  Any open[kinds] = {};
  quarksmith_link_format links = link_format();
  quarksmith_spinor_format spinors = spinor_format();
  quarksmith_pool pool = initial(quarksmith_pool_init);
  quarksmith_term_format terms = initial(quarksmith_term_format_init);
  quarksmith_field_memory memory = initial(quarksmith_field_memory_init);
  quarksmith_gauge_loops loops = initial(quarksmith_gauge_loops_init);
  quarksmith_rational r = initial(quarksmith_rational_init);
  Numbers host = numbers_of(weak_gauge(Lattice(handle_extent), 0.3, 9)), psi = random_numbers(12 * 256, 1);
  void *out[1] = {psi.data()}, *more[1] = {host.data()}, *made = nullptr;
  const void *in[1] = {psi.data()}, *u[1] = {host.data()};
  double numbers[8] = {0.5};
  char text[4096];
  const char* read = nullptr;
  std::size_t size = 0;
  /// For results of any kind, which no refused call sets.
  template <class T>
  T** into() {
    return reinterpret_cast<T**>(&made);
  }
};

std::vector<CallWithHandle> calls_of_links_and_fields(OpenHandles& s) {
  const Any* o = s.open;
  const char* wilson = "mass=0.2";
  return {
      {context, "context", [&](Any h) { return quarksmith_synchronize(h); }},
      {context, "context", [&](Any h) { return quarksmith_device_name(h, s.text, sizeof s.text); }},
      {context, "context", [&](Any h) { return quarksmith_kernel_count(h, &s.size); }},
      {context, "context", [&](Any h) { return quarksmith_kernel_name(h, 0, s.text, sizeof s.text); }},
      {context, "context", [&](Any h) { return quarksmith_gauge_load(h, s.in, &s.links, s.into<quarksmith_gauge>()); }},
      {context, "context", [&](Any h) { return quarksmith_gauge_unit(h, s.numbers, s.into<quarksmith_gauge>()); }},
      {context, "context", [&](Any h) { return quarksmith_gauge_read(h, "none", s.into<quarksmith_gauge>()); }},
      {context, "context",
       [&](Any h) { return quarksmith_split(h, handle_extent.data(), s.into<quarksmith_context>()); }},
      {context, "context", [&](Any h) { return quarksmith_use_stream(h, nullptr); }},
      {context, "context", [&](Any h) { return quarksmith_use_pool(h, &s.pool); }},
      {gauge, "gauge", [&, o](Any h) { return quarksmith_gauge_split(h, o[context], s.into<quarksmith_gauge>()); }},
      {context, "part", [&, o](Any h) { return quarksmith_gauge_split(o[gauge], h, s.into<quarksmith_gauge>()); }},
      {context, "context", [&](Any h) { return quarksmith_field_create(h, nullptr, s.into<quarksmith_field>()); }},
      {context, "context", [&](Any h) { return quarksmith_run(h, "list", "what=formats", nullptr, nullptr); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_write(h, "none/none", "ildg", 64); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_get(h, s.out, &s.links); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_plaquette(h, s.numbers); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_phase(h, s.numbers); }},
      {gauge, "gauge",
       [&, wilson](Any h) { return quarksmith_operator_create(h, wilson, s.into<quarksmith_operator>()); }},
      {gauge, "gauge", [&, wilson](Any h) { return quarksmith_solver_create(h, wilson, s.into<quarksmith_solver>()); }},
      {gauge, "gauge",
       [&, wilson](Any h) { return quarksmith_shifted_create(h, wilson, 1, s.into<quarksmith_shifted>()); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_field(h, "phi", 1, s.numbers); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_links(h, "fat", 1, s.in, &s.links); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_term(h, "A", s.in[0], nullptr, &s.terms); }},
      {field, "field", [&](Any h) { return quarksmith_field_set(h, 0, s.psi.data(), &s.spinors); }},
      {field, "field", [&](Any h) { return quarksmith_field_get(h, 0, s.psi.data(), &s.spinors); }},
      {field, "to", [o](Any h) { return quarksmith_field_copy(h, o[field]); }},
      {field, "from", [o](Any h) { return quarksmith_field_copy(o[field], h); }, false},
      {field, "x", [&](Any h) { return quarksmith_norm2(h, s.numbers); }},
      {field, "x", [&, o](Any h) { return quarksmith_dot(h, o[field], s.numbers); }},
      {field, "y", [&, o](Any h) { return quarksmith_dot(o[field], h, s.numbers); }, false},
      {field, "x", [&, o](Any h) { return quarksmith_axpby(s.numbers, h, s.numbers, o[field]); }, false},
      {field, "y", [&, o](Any h) { return quarksmith_axpby(s.numbers, o[field], s.numbers, h); }},
      {field, "field", [&](Any h) { return quarksmith_field_describe(h, &s.memory); }},
      {field, "field", [&](Any h) { return quarksmith_field_word(h, handle_extent.data(), 0, &s.size); }},
      {result, "result", [&](Any h) { return quarksmith_result_text(h, QUARKSMITH_JSON, &s.read); }},
      {result, "result", [&](Any h) { return quarksmith_result_gauge(h, s.into<quarksmith_gauge>()); }},
      {result, "result", [&](Any h) { return quarksmith_result_field(h, s.into<quarksmith_field>()); }}};
}

std::vector<CallWithHandle> calls_of_operators(OpenHandles& s) {
  const Any* o = s.open;
  return {
      {op, "op", [o](Any h) { return quarksmith_dslash(h, 0, 0, o[field], o[field]); }},
      {field, "out", [o](Any h) { return quarksmith_dslash(o[op], 0, 0, h, o[field]); }, false},
      {field, "in", [o](Any h) { return quarksmith_dslash(o[op], 0, 0, o[field], h); }, false},
      {op, "op", [o](Any h) { return quarksmith_matrix(h, 0, o[field], o[field]); }},
      {field, "out", [o](Any h) { return quarksmith_matrix(o[op], 0, h, o[field]); }, false},
      {field, "in", [o](Any h) { return quarksmith_matrix(o[op], 0, o[field], h); }, false},
      {op, "op", [&](Any h) { return quarksmith_dslash_host(h, 0, 0, 1, s.out, s.in, &s.spinors); }},
      {op, "op", [&](Any h) { return quarksmith_matrix_host(h, 0, 1, s.out, s.in, &s.spinors); }},
      {op, "op", [&](Any h) { return quarksmith_term_log_det(h, 0, s.numbers); }},
      {solver, "solver", [&](Any h) { return quarksmith_solve(h, 1, s.out, s.in, &s.spinors, nullptr); }},
      {solver, "solver", [o](Any h) { return quarksmith_solve_fields(h, o[field], o[field], nullptr); }},
      {field, "x", [o](Any h) { return quarksmith_solve_fields(o[solver], h, o[field], nullptr); }, false},
      {field, "b", [o](Any h) { return quarksmith_solve_fields(o[solver], o[field], h, nullptr); }, false},
      {shifted, "solver",
       [&](Any h) { return quarksmith_shifted_solve(h, 1, s.numbers, s.out, s.in[0], &s.spinors, nullptr); }},
      {op, "op", [&](Any h) { return quarksmith_operator_field(h, QUARKSMITH_FULL, 1, s.into<quarksmith_field>()); }},
      {op, "op", [o](Any h) { return quarksmith_reduce(h, o[field], o[field]); }},
      {field, "reduced", [o](Any h) { return quarksmith_reduce(o[op], h, o[field]); }, false},
      {field, "b", [o](Any h) { return quarksmith_reduce(o[op], o[field], h); }, false},
      {op, "op", [o](Any h) { return quarksmith_reconstruct(h, o[field], o[field], o[field]); }},
      {field, "x", [o](Any h) { return quarksmith_reconstruct(o[op], h, o[field], o[field]); }, false},
      {field, "reduced", [o](Any h) { return quarksmith_reconstruct(o[op], o[field], h, o[field]); }, false},
      {field, "b", [o](Any h) { return quarksmith_reconstruct(o[op], o[field], o[field], h); }, false}};
}

std::vector<CallWithHandle> calls_of_dynamics(OpenHandles& s) {
  const Any* o = s.open;
  return {
      {gauge, "gauge", [&](Any h) { return quarksmith_dynamics_create(h, s.into<quarksmith_dynamics>()); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_set_links(h, s.u, &s.links); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_get_links(h, s.more, &s.links); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_set_momenta(h, s.u, &s.links); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_get_momenta(h, s.more, &s.links); }},
      {dynamics, "dynamics", [o](Any h) { return quarksmith_dynamics_use(h, o[gauge]); }},
      {gauge, "gauge", [o](Any h) { return quarksmith_dynamics_use(o[dynamics], h); }, false},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_gauge(h, s.into<quarksmith_gauge>()); }},
      {dynamics, "dynamics", [](Any h) { return quarksmith_dynamics_draw(h, 1, 1); }},
      {gauge, "gauge", [&](Any h) { return quarksmith_gauge_traces(h, 0, nullptr, nullptr, s.numbers); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_kinetic(h, s.numbers); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_dynamics_drift(h, 0.1); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_gauge_action(h, &s.loops, s.numbers); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_gauge_force(h, &s.loops, 0.1); }},
      {dynamics, "dynamics", [&](Any h) { return quarksmith_quark_create(h, "mass=0.5", s.into<quarksmith_quark>()); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_matrix(h, 0, 1, s.out, s.in, &s.spinors); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_rational(h, &s.r, 1, s.out, s.in, &s.spinors); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_action(h, &s.r, 1, s.in, &s.spinors, s.numbers); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_force(h, &s.r, 1, s.in, &s.spinors, 0.1); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_outer(h, 1, s.in, s.in, s.numbers, &s.spinors, 0.1); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_log_det(h, s.numbers); }},
      {quark, "quark", [&](Any h) { return quarksmith_quark_log_det_force(h, 1, 0.1); }}};
}

class Handles : public OnDevice {
 protected:
  OpenHandles s{GetParam()};
};

TEST_P(Handles, ThatAreWrongAreRefusedByEveryArgument) {
  OpenHandles foreign(GetParam());
  void* freed[kinds];
  for (int k = 0; k < kinds; ++k) quarksmith_free(freed[k] = s.make(Kind(k)));
  std::vector<CallWithHandle> calls = calls_of_links_and_fields(s);
  for (const auto& more : {calls_of_operators(s), calls_of_dynamics(s)})
    calls.insert(calls.end(), more.begin(), more.end());
  EXPECT_EQ(calls.size(), 82u);
  for (const CallWithHandle& c : calls) {
    const auto refuses = [&](void* h, const std::string& what, const char* kind) {
      refused(c.call({h}), QUARKSMITH_BAD_ARGUMENT, ": " + c.argument + " " + what);
      EXPECT_NE(std::string(quarksmith_message()).find(kind), std::string::npos) << quarksmith_message();
    };
    refuses(nullptr, "is NULL", kind_names[c.kind]);
    refuses(freed[c.kind], "is not open", kind_names[c.kind]);
    refuses(s.psi.data(), "is no handle of this library", kind_names[c.kind]);
    for (int other = 0; other < kinds; ++other)
      if (other != c.kind) refuses(s.open[other].handle, "is a handle of another kind", kind_names[other]);
    if (!c.first) refuses(foreign.open[c.kind].handle, "and the other handles are of different contexts", "");
  }
}

/// Two handles are never equal, however often they are made and freed: an old one is not taken for a new one.
TEST_P(Handles, AreNeverReused) {
  for (int kind = 0; kind < kinds; ++kind) {
    std::vector<void*> old;
    for (int n = 0; n < 20; ++n) {
      old.push_back(s.make(Kind(kind)));
      EXPECT_EQ(std::count(old.begin(), old.end(), old.back()), 1) << kind_names[kind];
      if (n < 19) quarksmith_free(old.back());
    }
    for (std::size_t n = 0; n + 1 < old.size(); ++n) {
      refused(quarksmith_handle_message(old[n], s.text, sizeof s.text), QUARKSMITH_BAD_ARGUMENT, "handle is not open");
      quarksmith_free(old[n]);  // must not free the one that is open
    }
    EXPECT_DONE(quarksmith_handle_message(old.back(), s.text, sizeof s.text));
    quarksmith_free(old.back());
  }
}

/// Numbers that look like handles, and near ones of real handles.
TEST_P(Handles, AreNoneThatWereNotMade) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 20000; ++n) {
    const std::uint64_t bits =
        n % 2 == 0 ? random()
                   : reinterpret_cast<std::uintptr_t>(s.open[field].handle) + 0x100000000ull + (random() >> 32);
    const Any h{reinterpret_cast<void*>(bits)};
    ASSERT_EQ(quarksmith_norm2(h, s.numbers), QUARKSMITH_BAD_ARGUMENT) << h.handle;
    quarksmith_free(h.handle);
    ASSERT_NE(std::string(quarksmith_message()).find("quarksmith_free: handle is"), std::string::npos) << h.handle;
  }
  for (const Any h : s.open) EXPECT_DONE(quarksmith_handle_message(h.handle, s.text, sizeof s.text));
}

/// What was made from a context and its links works on without them, bit for bit.
TEST_P(Handles, KeepWhatTheyNeed) {
  const auto solved = [&] {
    const Solved x = solve(s.open[solver], {s.psi});
    EXPECT_EQ(x.status, QUARKSMITH_OK);
    EXPECT_DONE(quarksmith_norm2(s.open[field], s.numbers));
    return std::pair(x.x[0], s.numbers[0]);
  };
  EXPECT_DONE(quarksmith_field_set(s.open[field], 0, s.psi.data(), &s.spinors));
  const auto before = solved();
  for (const Kind kind : {gauge, context, dynamics}) quarksmith_free(std::exchange(s.open[kind].handle, nullptr));
  EXPECT_EQ(solved(), before);
  Numbers image = s.psi;
  void* to = image.data();
  EXPECT_DONE(quarksmith_matrix_host(s.open[op], 0, 1, &to, s.in, &s.spinors));
  EXPECT_DONE(quarksmith_quark_log_det(s.open[quark], s.numbers));
  EXPECT_EQ(s.numbers[0], 0);  // there is none without clover
}

/// Threads use fields that another may free at any moment, which only one of all can.
TEST_P(Handles, MayBeFreedByAnyThread) {
  constexpr int users = 4, rounds = 60, each = 6;
  std::vector<void*> shared;
  for (int n = 0; n < rounds; ++n) shared.push_back(s.make(field));
  std::barrier start(users);
  std::atomic<int> worked = 0, refusals = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < users; ++t)
    threads.emplace_back([&, t] {
      double norm2 = 0;
      for (void* const h : shared) {
        start.arrive_and_wait();
        for (int n = 0; n < each; ++n) {
          const quarksmith_status status =
              n % 2 ? quarksmith_norm2(Any{h}, &norm2) : quarksmith_field_set(Any{h}, 0, s.psi.data(), &s.spinors);
          if (status == QUARKSMITH_OK) ++worked;
          if (status == QUARKSMITH_BAD_ARGUMENT &&
              std::string(quarksmith_message()).find("it was freed") != std::string::npos)
            ++refusals;
          if (t >= users / 2 && n == each / 2) quarksmith_free(h);
        }
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(worked + refusals, users * rounds * each);
  EXPECT_GE(worked, rounds);
  EXPECT_GE(refusals, rounds);
}

/// Four threads solve, and provoke errors of their own between: two on the handles of one context, one on other handles
/// of it, one on a context of its own.
TEST_P(Handles, ServeSeveralThreads) {
  struct Job {
    Job(quarksmith_context* in, const Coordinates& extent, unsigned seed)
        : links(weak_gauge(Lattice(extent), 0.3, seed)),
          gauge(load(in, links)),
          solver(make_solver(gauge, "mass=0.2")),
          op(make_operator(gauge, "mass=0.2")) {}
    void work(unsigned seed) const {
      const quarksmith_spinor_format format = spinor_format();
      for (unsigned turn = 0; turn < 3; ++turn) {
        const Numbers b = random_numbers(12 * links.site.size(), seed + turn);
        std::vector<Numbers> image = {b};
        const int wrong = 10 + int(seed + turn);
        EXPECT_EQ(quarksmith_dslash_host(op, wrong, 0, 1, outputs(image).data(), inputs(image).data(), &format),
                  QUARKSMITH_BAD_ARGUMENT);
        const Solved s = solve(solver, {b});
        EXPECT_NE(std::string(quarksmith_message()).find(fmt::format("parity {}", wrong)), std::string::npos)
            << quarksmith_message();
        EXPECT_EQ(s.status, QUARKSMITH_OK);
        EXPECT_DONE(quarksmith_matrix_host(op, 0, 1, outputs(image).data(), inputs(s.x).data(), &format));
        EXPECT_LE(distance(image[0], b), 1.05e-10);
        EXPECT_LE(reference::residual(spinor_of(b, links.lattice),
                                      reference::wilson(links, spinor_of(s.x[0], links.lattice), 0.2)),
                  1.05e-10);
      }
    }
    HostGauge links;
    Gauge gauge;
    Solver solver;
    Operator op;
  };
  const Coordinates extents[] = {{4, 4, 4, 8}, {8, 4, 6, 4}};
  const Context one = c::open(GetParam(), extents[0]), other = c::open(GetParam(), extents[1]);
  const Job jobs[] = {{one, extents[0], 1}, {one, extents[0], 2}, {other, extents[1], 3}};
  std::vector<std::thread> threads;
  for (const auto& [job, seed] : {std::pair{0, 100u}, {0, 700u}, {1, 200u}, {2, 300u}})
    threads.emplace_back([&jobs, job = job, seed = seed] { jobs[job].work(seed); });
  for (std::thread& t : threads) t.join();
}

ON_DEVICES_BY_NAME(Handles);

}  // namespace
