/// \file
/// What the tests of the C interface share: handles that free themselves, arrays, calls that must be refused. The
/// numbers are those of the dense reference.
#pragma once

#include <gtest/gtest.h>
#include <quarksmith.h>

#include <fmt/format.h>

#include <random>
#include <utility>

#include "runtime/fields/gauge.hpp"
#include "tests/dense.hpp"

namespace c {

using namespace quarksmith;

/// The call must succeed.
#define EXPECT_DONE(call) EXPECT_EQ(call, QUARKSMITH_OK) << quarksmith_message()

/// The call must have returned `wanted`, and its message must hold the text.
inline void refused(quarksmith_status status, quarksmith_status wanted, const std::string& text) {
  const std::string message = status == QUARKSMITH_OK ? "" : quarksmith_message();
  EXPECT_EQ(quarksmith_status_name(status), std::string(quarksmith_status_name(wanted))) << text << ": " << message;
  EXPECT_NE(message.find(text), std::string::npos) << text << ": " << message;
}

/// A handle that is freed with its scope.
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
  /// For a call that makes one.
  T** out() { return &handle_; }
  void free() { quarksmith_free(std::exchange(handle_, nullptr)); }

 private:
  T* handle_ = nullptr;
};

/// A struct with its defaults.
template <class T>
T initial(quarksmith_status (*init)(T*)) {
  T made;
  EXPECT_DONE(init(&made));
  return made;
}
inline quarksmith_link_format link_format() { return initial(quarksmith_link_format_init); }
inline quarksmith_spinor_format spinor_format() { return initial(quarksmith_spinor_format_init); }

/// As a caller holds them.
using Numbers = std::vector<Complex64>;
inline Numbers random_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> draw(-1, 1);
  Numbers all(count);
  for (Complex64& z : all) {
    const double re = draw(engine);
    z = {re, draw(engine)};
  }
  return all;
}
/// sum conj(a) b
inline Complex64 dot(const Numbers& a, const Numbers& b) {
  Complex64 sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += std::conj(a[n]) * b[n];
  return sum;
}
/// |a - b| / |b|
inline double distance(const Numbers& a, const Numbers& b) {
  Numbers d = a;
  for (std::size_t n = 0; n < b.size(); ++n) d[n] -= b[n];
  return std::sqrt(dot(d, d).real() / dot(b, b).real());
}
/// Links as a caller holds them, in the default format.
inline Numbers numbers_of(const HostGauge& gauge) {
  const Complex64* first = gauge.site.at(0);
  return {first, first + gauge.site.size() * gauge.site.each()};
}
/// Where a site stands when they are counted along `axes` (fastest first), even ones first if asked.
inline int place_of(const Lattice& lattice, long long site, int sites, const int (&axes)[4]) {
  const Coordinates x = lattice.coordinates(site);
  int n = 0;
  for (int k = 3; k >= 0; --k) n = n * lattice.extent(axes[k]) + x[axes[k]];
  return sites == QUARKSMITH_EVEN_ODD ? n / 2 + int(Lattice::parity(x)) * int(lattice.half_sites()) : n;
}

/// A spinor field of the reference, and back.
inline HostSpinor spinor_of(const Numbers& numbers, const Lattice& lattice) {
  HostSpinor psi(lattice);
  std::copy(numbers.begin(), numbers.end(), psi.site.at(0));
  return psi;
}
inline Numbers numbers_of(const HostSpinor& psi) {
  const Complex64* first = psi.site.at(0);
  return {first, first + 12 * psi.site.size()};
}
/// Arrays for calls that write and read them.
inline std::vector<void*> outputs(std::vector<Numbers>& all) {
  std::vector<void*> pointers;
  for (Numbers& one : all) pointers.push_back(one.data());
  return pointers;
}
inline std::vector<const void*> inputs(const std::vector<Numbers>& all) {
  std::vector<const void*> pointers;
  for (const Numbers& one : all) pointers.push_back(one.data());
  return pointers;
}

using Context = Handle<quarksmith_context>;
using Gauge = Handle<quarksmith_gauge>;
using Field = Handle<quarksmith_field>;
using Operator = Handle<quarksmith_operator>;
using Solver = Handle<quarksmith_solver>;
using Result = Handle<quarksmith_result>;

inline Context open(const std::string& device, const Coordinates& extent) {
  Context context;
  EXPECT_DONE(quarksmith_open(device.c_str(), extent.data(), context.out()));
  return context;
}
inline Gauge load(quarksmith_context* context, const HostGauge& links) {
  Gauge gauge;
  const Numbers numbers = numbers_of(links);
  const void* array = numbers.data();
  const quarksmith_link_format format = link_format();
  EXPECT_DONE(quarksmith_gauge_load(context, &array, &format, gauge.out()));
  return gauge;
}
inline Operator make_operator(quarksmith_gauge* gauge, const std::string& how) {
  Operator op;
  EXPECT_DONE(quarksmith_operator_create(gauge, how.c_str(), op.out())) << how;
  return op;
}
inline Solver make_solver(quarksmith_gauge* gauge, const std::string& how) {
  Solver solver;
  EXPECT_DONE(quarksmith_solver_create(gauge, how.c_str(), solver.out())) << how;
  return solver;
}
inline Field field_of(quarksmith_operator* op, int sites, int rhs) {
  Field field;
  EXPECT_DONE(quarksmith_operator_field(op, sites, rhs, field.out()));
  return field;
}
inline Field make_field(quarksmith_context* context, const std::string& how = "") {
  Field field;
  EXPECT_DONE(quarksmith_field_create(context, how.c_str(), field.out())) << how;
  return field;
}
inline Numbers get(quarksmith_field* field, int n, std::size_t count) {
  Numbers psi(count);
  const quarksmith_spinor_format format = spinor_format();
  EXPECT_DONE(quarksmith_field_get(field, n, psi.data(), &format));
  return psi;
}
inline void set(quarksmith_field* field, int n, const Numbers& psi) {
  const quarksmith_spinor_format format = spinor_format();
  EXPECT_DONE(quarksmith_field_set(field, n, psi.data(), &format));
}
/// Solutions and reports of right-hand sides.
struct Solved {
  std::vector<Numbers> x;
  std::vector<quarksmith_solve_report> reports;
  quarksmith_status status;
};
inline Solved solve(quarksmith_solver* solver, const std::vector<Numbers>& b, const std::vector<Numbers>& guess = {}) {
  Solved s{guess.empty() ? b : guess, {}, QUARKSMITH_OK};
  s.reports.assign(b.size(), initial(quarksmith_solve_report_init));
  const quarksmith_spinor_format format = spinor_format();
  s.status = quarksmith_solve(solver, int(b.size()), outputs(s.x).data(), inputs(b).data(), &format, s.reports.data());
  return s;
}

/// An action of real parameters as options have it.
inline std::string text_of(const Action& action) {
  std::string text = "action=" + action.name();
  for (const ActionParameter& p : action.info().parameters)
    text += fmt::format(" {}={:.17g}", p.name, action.values()[p.name]);
  return text;
}

/// Tests run on each device by its name.
class OnDevice : public testing::TestWithParam<const char*> {};
#define ON_DEVICES_BY_NAME(Suite) \
  INSTANTIATE_TEST_SUITE_P(       \
      Devices, Suite,             \
      testing::ValuesIn(quarksmith_devices("cuda") > 0 ? std::vector{"cpu", "cuda:0"} : std::vector{"cpu"}))

}  // namespace c
