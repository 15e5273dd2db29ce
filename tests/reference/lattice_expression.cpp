#include "tests/reference/lattice_expression.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "runtime/gauge.hpp"

namespace reference {

using quarksmith::Complex64;
using quarksmith::Coordinates;
using quarksmith::Lattice;
using quarksmith::Matrix3;

namespace {

constexpr const char* names = "xyzt";

Matrix3 scaled(Complex64 c, Matrix3 m) {
  for (Complex64& z : m) z *= c;
  return m;
}

Matrix3 sum(Matrix3 a, const Matrix3& b) {
  for (int n = 0; n < 9; ++n) a[n] += b[n];
  return a;
}

double size(const Matrix3& m) {
  double total = 0;
  for (const Complex64& z : m) total += std::norm(z);
  return std::sqrt(total);
}

constexpr Matrix3 one = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/// (m - m^+)/2 without its trace
Matrix3 algebra_part(const Matrix3& m) {
  const Matrix3 dagger = quarksmith::adjoint(m);
  Matrix3 a = scaled(0.5, sum(m, scaled(-1, dagger)));
  const Complex64 mean = (a[0] + a[4] + a[8]) / 3.0;
  for (int n = 0; n < 9; n += 4) a[n] -= mean;
  return a;
}

Matrix3 inverse(const Matrix3& m) {
  Matrix3 cofactor;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const auto e = [&](int i, int j) { return m[3 * ((r + i) % 3) + (c + j) % 3]; };
      cofactor[3 * c + r] = e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1);
    }
  return scaled(1.0 / quarksmith::determinant(m), cofactor);
}

}  // namespace

Matrix3 exponential(const Matrix3& m) {
  const int halvings = std::max(0, int(std::ceil(std::log2(size(m) + 1e-300))) + 3);
  const Matrix3 small = scaled(std::ldexp(1.0, -halvings), m);
  Matrix3 result = one, term = one;
  for (int n = 1; n <= 20; ++n) {
    term = scaled(1.0 / n, quarksmith::multiply(term, small));
    result = sum(result, term);
  }
  for (int n = 0; n < halvings; ++n) result = quarksmith::multiply(result, result);
  return result;
}

Matrix3 closest_su3(const Matrix3& m) {
  Matrix3 u = m;  // polar part by Newton's iteration u <- (u + u^-+)/2, then a determinant of 1
  for (int n = 0; n < 60; ++n) u = scaled(0.5, sum(u, quarksmith::adjoint(inverse(u))));
  u = scaled(std::polar(1.0, -std::arg(quarksmith::determinant(u)) / 3), u);
  for (int n = 0; n < 3000; ++n) {
    const Matrix3 product = quarksmith::multiply(quarksmith::adjoint(u), m);
    const double trace = (product[0] + product[4] + product[8]).real();
    const Matrix3 step = scaled(2 / trace, algebra_part(product));
    if (size(step) < 1e-15) break;
    u = quarksmith::multiply(u, exponential(step));
  }
  return u;
}

void ExpressionValues::set(const std::string& name, Complex64 number) {
  SiteValues v;
  v.element.assign(lattice.sites(), number);
  value[name] = std::move(v);
}

void ExpressionValues::set(const std::string& name, const quarksmith::HostSpinor& psi, int spins) {
  SiteValues v{3, spins, std::vector<Complex64>(lattice.sites() * 3 * spins)};
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int s = 0; s < spins; ++s)
      for (int c = 0; c < 3; ++c) v.at(i, c, s) = psi.site[i][3 * s + c];
  value[name] = std::move(v);
}

void ExpressionValues::set(const std::string& name, const quarksmith::HostGauge& u) {
  for (int mu = 0; mu < 4; ++mu) {
    SiteValues v{3, 3, std::vector<Complex64>(lattice.sites() * 9)};
    for (long long i = 0; i < lattice.sites(); ++i)
      for (int n = 0; n < 9; ++n) v.element[9 * i + n] = u.site[i][mu][n];
    value[name + "[" + names[mu] + "]"] = std::move(v);
  }
}

namespace {

/// statement = [name =] sum; sum = product {(+|-) product}; product = factor {* factor};
/// factor = - factor | number | name[[direction]] | function(sum, ...) | (sum).
class Interpreter {
 public:
  explicit Interpreter(ExpressionValues& values) : v_(values) {}

  void run(const std::string& statement) {
    text_ = statement;
    at_ = 0;
    const std::size_t equals = text_.find(" = ");
    std::string target;
    if (equals != std::string::npos) {
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

  /// f(site) of every site as a matrix.
  template <class F>
  SiteValues make(int rows, int columns, const F& f) const {
    SiteValues r{rows, columns, std::vector<Complex64>(v_.lattice.sites() * rows * columns)};
    for (long long i = 0; i < v_.lattice.sites(); ++i)
      for (int a = 0; a < rows; ++a)
        for (int b = 0; b < columns; ++b) r.at(i, a, b) = f(i, a, b);
    return r;
  }

  SiteValues terms() {
    SiteValues left = product();
    for (;;) {
      const bool add = peek() == '+';
      if (!add && peek() != '-') return left;
      ++at_;
      const SiteValues right = product();
      if (left.rows != right.rows || left.columns != right.columns) fail();
      for (std::size_t n = 0; n < left.element.size(); ++n)
        left.element[n] += add ? right.element[n] : -right.element[n];
    }
  }

  SiteValues product() {
    SiteValues left = factor();
    while (accept('*')) left = multiplied(left, factor());
    return left;
  }

  SiteValues multiplied(const SiteValues& a, const SiteValues& b) const {
    if (a.rows == 1 && a.columns == 1)
      return make(b.rows, b.columns, [&](long long i, int r, int c) { return a.element[i] * b.at(i, r, c); });
    if (b.rows == 1 && b.columns == 1) return multiplied(b, a);
    if (a.columns != b.rows) fail();
    return make(a.rows, b.columns, [&](long long i, int r, int c) {
      Complex64 z = 0;
      for (int k = 0; k < a.columns; ++k) z += a.at(i, r, k) * b.at(i, k, c);
      return z;
    });
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

  SiteValues factor() {
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
    if (accept('[')) {
      name += std::string("[") + axis() + "]";
      expect(']');
    }
    if (name == "identity") return make(3, 3, [](long long, int r, int c) { return Complex64(r == c); });
    if (name == "i") return make(1, 1, [](long long, int, int) { return Complex64(0, 1); });
    const auto found = v_.value.find(name);
    if (found == v_.value.end()) fail();
    return found->second;
  }

  SiteValues function(const std::string& name) {
    SiteValues a = terms();
    if (name == "shift") return shifted(a);
    if (name == "dot") {
      expect(',');
      const SiteValues b = terms();
      expect(')');
      return make(1, 1, [&](long long i, int, int) {
        Complex64 z = 0;
        for (int r = 0; r < a.rows; ++r)
          for (int c = 0; c < a.columns; ++c) z += std::conj(a.at(i, r, c)) * b.at(i, r, c);
        return z;
      });
    }
    expect(')');
    if (name == "adj")
      return make(a.columns, a.rows, [&](long long i, int r, int c) { return std::conj(a.at(i, c, r)); });
    if (name == "trace")
      return make(1, 1, [&](long long i, int, int) { return a.at(i, 0, 0) + a.at(i, 1, 1) + a.at(i, 2, 2); });
    if (name == "re") return make(1, 1, [&](long long i, int, int) { return Complex64(a.element[i].real()); });
    if (name == "im") return make(1, 1, [&](long long i, int, int) { return Complex64(a.element[i].imag()); });
    if (name == "ta") return of_matrices(a, algebra_part);
    if (name == "exp") return of_matrices(a, exponential);
    if (name == "project") return of_matrices(a, closest_su3);
    if (name == "total") return added_up(a);
    fail();
  }

  SiteValues added_up(const SiteValues& a) {
    double all = 0;
    for (const Complex64& e : a.element) all += e.real();
    v_.sums.push_back(all);
    return a;
  }

  /// The value found one step away; periodic.
  SiteValues shifted(const SiteValues& a) {
    expect(',');
    const bool forward = peek() == '+';
    if (!forward && peek() != '-') fail();
    ++at_;
    const int mu = int(std::string(names).find(axis()));
    expect(')');
    return make(a.rows, a.columns, [&](long long i, int r, int c) {
      Coordinates x = v_.lattice.coordinates(i);
      const int extent = v_.lattice.extent(mu);
      x[mu] = (x[mu] + (forward ? 1 : extent - 1)) % extent;
      return a.at(v_.lattice.index(x), r, c);
    });
  }

  template <class F>
  SiteValues of_matrices(SiteValues a, const F& f) const {
    if (a.rows != 3 || a.columns != 3) fail();
    for (long long i = 0; i < v_.lattice.sites(); ++i) {
      Matrix3 m;
      for (int n = 0; n < 9; ++n) m[n] = a.element[9 * i + n];
      m = f(m);
      for (int n = 0; n < 9; ++n) a.element[9 * i + n] = m[n];
    }
    return a;
  }

  ExpressionValues& v_;
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

void run_expression(const std::string& formula, ExpressionValues& values) {
  Interpreter interpreter(values);
  for (std::size_t from = 0; from < formula.size();) {
    const std::size_t end = std::min(formula.find("; ", from), formula.size());
    interpreter.run(formula.substr(from, end - from));
    from = end + 2;
  }
}

}  // namespace reference
