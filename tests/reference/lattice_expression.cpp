#include "tests/reference/lattice_expression.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "runtime/fields/gauge.hpp"
#include "tests/reference/site_algebra.hpp"

namespace reference {

using quarksmith::Complex64, quarksmith::Coordinates, quarksmith::Lattice, quarksmith::Matrix3;

namespace {
constexpr const char* names = "xyzt";

/// statement = [name =] sum; sum = product {(+|-) product}; product = factor {* factor};
/// factor = - factor | number | name[[direction]] | function(sum, ...) | (sum).
class Interpreter : SiteAlgebra {
 public:
  /// \param sums what the calls of summed(...) give; null: what they are given is noted
  Interpreter(ExpressionValues& values, const std::vector<SiteValues>* sums)
      : SiteAlgebra(values.lattice), v_(values), sums_(sums) {}

  void run(const std::string& statement) {
    text_ = statement, at_ = 0;
    std::string target;
    if (const std::size_t equals = text_.find(" = "); equals != std::string::npos) {
      target = word();
      if (accept('[')) target += std::string("[") + axis() + "]";
      at_ = equals + 3;
    }
    SiteValues result = terms();
    if (peek() != '\0') fail();
    if (!target.empty()) v_.value[target] = std::move(result);
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error("cannot read '" + text_.substr(0, at_) + " >>> " + text_.substr(at_) + "'");
  }
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }

  SiteValues terms() {
    SiteValues left = product();
    for (;;) {
      const bool add = peek() == '+';
      if (!add && peek() != '-') return left;
      ++at_;
      SiteValues right = product();
      make_alike(left, right);
      if (left.rows != right.rows || left.columns != right.columns) fail();
      for (std::size_t n = 0; n < left.element.size(); ++n)
        left.element[n] += add ? right.element[n] : -right.element[n];
    }
  }

  SiteValues product() {
    SiteValues left = factor();
    for (;;) {
      if (accept('*')) {
        const SiteValues right = factor();
        const bool fermion = left.fermion || right.fermion;
        left = multiplied(left, right);
        left.fermion = fermion;
      } else if (accept('/')) {
        SiteValues divisor = factor();
        if (divisor.rows != 1 || divisor.columns != 1) fail();
        for (Complex64& z : divisor.element) z = 1.0 / z;
        const bool fermion = left.fermion;
        left = multiplied(divisor, left);
        left.fermion = fermion;
      } else {
        return left;
      }
    }
  }

  std::string word() {
    std::string name;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') name += text_[at_++];
    return name;
  }
  /// x, y, z or t, written or given with the call.
  char axis() {
    const std::string name = word();
    const auto given = v_.direction.find(name);
    const char found = given != v_.direction.end() ? given->second : name.size() == 1 ? name[0] : ' ';
    if (std::string(names).find(found) == std::string::npos) fail();
    return found;
  }

  /// A factor, and what of its elements in spin is taken, m[sink, source].
  SiteValues factor() {
    SiteValues m = primary();
    while (peek() == '[') {
      ++at_;
      const int sink = peek() - '0';
      ++at_;
      expect(',');
      const int source = peek() - '0';
      ++at_;
      expect(']');
      if (m.rows != 12) fail();
      m = make(3, 3, [&](long long i, int r, int c) { return m.at(i, 3 * sink + r, 3 * source + c); });
    }
    return m;
  }

  SiteValues primary() {
    if (accept('-')) {
      SiteValues v = factor();
      for (Complex64& z : v.element) z = -z;
      return v;
    }
    if (accept('(')) {
      SiteValues v = terms();
      expect(')');
      return v;
    }
    if (std::isdigit(static_cast<unsigned char>(peek()))) {
      char* end = nullptr;
      const double number = std::strtod(text_.c_str() + at_, &end);
      at_ = end - text_.c_str();
      return make(1, 1, [&](long long, int, int) { return number; });
    }
    std::string name = word();
    if (accept('(')) return function(name);
    if (name == "gamma") {
      expect('[');
      const int mu = int(std::string(names).find(peek()));
      ++at_;
      expect(']');
      return gamma(mu);
    }
    if (name == "gamma5") return multiplied(multiplied(gamma(0), gamma(1)), multiplied(gamma(2), gamma(3)));
    if (v_.value.find(name) == v_.value.end() && accept('[')) {
      name += std::string("[") + axis() + "]";
      expect(']');
    }
    if (name == "identity") return make(3, 3, [](long long, int r, int c) { return Complex64(r == c); });
    if (name == "i") return make(1, 1, [](long long, int, int) { return Complex64(0, 1); });
    const auto found = v_.value.find(name);
    if (found == v_.value.end()) fail();
    return found->second;
  }

  SiteValues of_two(const std::string& name, const SiteValues& a, const SiteValues& b) const {
    if (name == "outer") {
      return make(3, 3, [&](long long i, int r, int c) {
        Complex64 z = 0;
        for (int s = 0; s < a.columns; ++s) z += a.at(i, r, s) * std::conj(b.at(i, c, s));
        return z;
      });
    }
    if (name == "epsilon") {
      return make(3, 3, [&](long long i, int r, int c) { return epsilon(a, b, i, c, r); });
    }
    if (name == "dot") {
      return make(1, 1, [&](long long i, int, int) {
        Complex64 z = 0;
        for (int r = 0; r < a.rows; ++r)
          for (int c = 0; c < a.columns; ++c) z += std::conj(a.at(i, r, c)) * b.at(i, r, c);
        return z;
      });
    }
    const SiteValues product = multiplied(a, b);
    return make(1, 1, [&](long long i, int, int) { return traced(product, i); });
  }

  SiteValues function(const std::string& name) {
    if (name == "sign") return sign();
    SiteValues a = terms();
    if (name == "spin") return constant_spins(a);
    const auto second = [&] {
      expect(',');
      SiteValues b = terms();
      expect(')');
      return b;
    };
    if (name == "outer" || name == "epsilon" || name == "dot" || (name == "trace" && peek() == ','))
      return of_two(name, a, second());
    if (name == "shift") return shifted(a);
    if (name == "exp_adjoint" || name == "project_u3_adjoint") {
      const auto f = name == "exp_adjoint" ? exponential_adjoint : nearest_unitary_adjoint;
      const SiteValues b = second();
      return make(3, 3, [&](long long i, int r, int c) { return f(matrix_of(a, i), matrix_of(b, i))[3 * r + c]; });
    }
    if (name == "relaxed") {
      const SiteValues b = second();
      return make(3, 3,
                  [&](long long i, int r, int c) { return relaxed(matrix_of(a, i), b.element[i].real())[3 * r + c]; });
    }
    expect(')');
    if (name == "adj") {
      SiteValues m = make(a.columns, a.rows, [&](long long i, int r, int c) { return std::conj(a.at(i, c, r)); });
      m.spin = a.spin;
      return m;
    }
    if (name == "trace") return make(1, 1, [&](long long i, int, int) { return traced(a, i); });
    if (name == "re") return make(1, 1, [&](long long i, int, int) { return Complex64(a.element[i].real()); });
    if (name == "im") return make(1, 1, [&](long long i, int, int) { return Complex64(a.element[i].imag()); });
    if (name == "ta") return of_matrices(a, algebra_part);
    if (name == "exp") return of_matrices(a, exponential);
    if (name == "project_u3") return of_matrices(a, polar_part);
    if (name == "project") return of_matrices(a, closest_su3);
    if (name == "total") return added_up(a);
    if (name == "totals") {  // of the real and of the imaginary part
      added_up(a);
      added_up(make(1, 1, [&](long long i, int, int) { return Complex64(a.element[i].imag()); }));
      return a;
    }
    if (name == "damped_adjoint")
      return make(1, 1, [&](long long i, int, int) { return Complex64(has_small_eigenvalues(matrix_of(a, i))); });
    if (name == "summed") return sums_ != nullptr ? sums_->at(next_++) : v_.given.emplace_back(a);
    fail();
  }

  SiteValues added_up(const SiteValues& a) {
    v_.sums.push_back(0);
    for (const Complex64& e : a.element) v_.sums.back() += e.real();
    return a;
  }

  /// (-1) to the sum of the coordinates that are named.
  SiteValues sign() {
    bool counts[4] = {};
    while (!accept(')')) {
      counts[std::string(names).find(peek())] = true;
      ++at_;
      accept(',');
    }
    return make(1, 1, [&](long long i, int, int) {
      const Coordinates x = v_.lattice.coordinates(i);
      int sum = 0;
      for (int mu = 0; mu < 4; ++mu) sum += counts[mu] ? x[mu] : 0;
      return Complex64(sum % 2 == 0 ? 1 : -1);
    });
  }

  /// The sixteen elements of a matrix in spin, row by row; the first is read.
  SiteValues constant_spins(const SiteValues& first) {
    std::vector<Complex64> element{first.element[0]};
    while (accept(',')) element.push_back(terms().element[0]);
    expect(')');
    if (element.size() != 16) fail();
    return spins([&](long long, int r, int c) { return element[4 * r + c]; });
  }

  /// The value found a displacement away, `+2*x-t`; fermions take up the phases of the boundaries that they cross.
  SiteValues shifted(const SiteValues& a) {
    expect(',');
    Coordinates steps{};
    while (!accept(')')) {
      const int sign = peek() == '+' ? 1 : -1;
      if (sign < 0 && peek() != '-') fail();
      ++at_;
      int many = 1;
      if (std::isdigit(static_cast<unsigned char>(peek()))) {
        many = peek() - '0';
        ++at_;
        expect('*');
      }
      steps[std::string(names).find(axis())] += sign * many;
    }
    SiteValues result = make(a.rows, a.columns, [&](long long i, int r, int c) {
      Coordinates x = v_.lattice.coordinates(i);
      Complex64 phase = 1;
      for (int mu = 0; mu < 4; ++mu) {
        const int extent = v_.lattice.extent(mu);
        x[mu] += steps[mu];
        for (; x[mu] >= extent; x[mu] -= extent) phase *= v_.boundary[mu];
        for (; x[mu] < 0; x[mu] += extent) phase *= std::conj(v_.boundary[mu]);
      }
      return a.fermion ? phase * a.at(v_.lattice.index(x), r, c) : a.at(v_.lattice.index(x), r, c);
    });
    result.fermion = a.fermion;
    return result;
  }

  static Matrix3 matrix_of(const SiteValues& a, long long i) {
    Matrix3 m;
    for (int n = 0; n < 9; ++n) m[n] = a.element[9 * i + n];
    return m;
  }
  template <class F>
  SiteValues of_matrices(SiteValues a, const F& f) const {
    if (a.rows != 3 || a.columns != 3) fail();
    for (long long i = 0; i < v_.lattice.sites(); ++i) {
      const Matrix3 m = f(matrix_of(a, i));
      for (int n = 0; n < 9; ++n) a.element[9 * i + n] = m[n];
    }
    return a;
  }

  ExpressionValues& v_;
  const std::vector<SiteValues>* sums_;
  std::size_t next_ = 0;
  std::string text_;
  std::size_t at_ = 0;
};

void run(const std::string& formula, ExpressionValues& values, const std::vector<SiteValues>* sums) {
  Interpreter interpreter(values, sums);
  for (std::size_t from = 0; from < formula.size();) {
    const std::size_t end = std::min(formula.find("; ", from), formula.size());
    interpreter.run(formula.substr(from, end - from));
    from = end + 2;
  }
}

}  // namespace

void run_expression(const std::string& formula, std::span<ExpressionValues> values) {
  const bool summed = formula.find("summed(") != std::string::npos;
  std::vector<SiteValues> sums;
  for (std::size_t r = 0; summed && r < values.size(); ++r) {
    ExpressionValues noted = values[r];  // results may take the names of what is read
    run(formula, noted, nullptr);
    if (r == 0) sums = noted.given;
    for (std::size_t n = 0; r > 0 && n < sums.size(); ++n)
      for (std::size_t i = 0; i < sums[n].element.size(); ++i) sums[n].element[i] += noted.given.at(n).element[i];
  }
  for (ExpressionValues& v : values) run(formula, v, summed ? &sums : nullptr);
}

}  // namespace reference
