#include "tests/formula.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <functional>

namespace formula {
namespace {

/// statement = [name =] expression; expression = sum [(>|>=) sum]; sum = product {(+|-) product}; product = factor
/// {(*|/) factor}; factor = number | name | name(expression, ...) | (expression). Fields are evaluated component by
/// component.
class Interpreter {
 public:
  explicit Interpreter(Environment& e) : e_(e) {}

  /// Runs statements separated by `;`.
  void run(const std::string& text) {
    std::string statement;
    for (const char c : text + ";") {
      if (c == ';')
        execute(std::exchange(statement, ""));
      else if (c != ' ')
        statement += c;
    }
  }

 private:
  using Value = std::function<Complex64()>;

  void execute(const std::string& s) {
    if (s.empty()) return;
    std::size_t equals = 0;
    while (equals < s.size() && in_name(s[equals])) ++equals;
    const bool assigns = equals < s.size() && s[equals] == '=';
    const std::string target = assigns ? s.substr(0, equals) : "";
    text_ = assigns ? s.substr(equals + 1) : s;
    if (text_.starts_with("norm(") || text_.starts_with("dot(")) return add_up(target);
    at_ = 0;
    const Value value = expression();
    ASSERT_EQ(at_, text_.size()) << s;
    if (!e_.field.contains(target)) {
      e_.scalar[target] = value();
      return;
    }
    HostSpinor result = e_.field.at(target);
    for (site_ = 0; site_ < result.site.size(); ++site_)
      for (component_ = 0; component_ < 12; ++component_) result.site[site_][component_] = value();
    e_.field.at(target) = result;
  }
  void add_up(const std::string& name) {
    Complex64 sum;
    if (text_[0] == 'n') {
      const HostSpinor& f = e_.field.at(text_.substr(5, 1));
      sum = reference::dot(f, f).real();
      e_.sums.push_back(sum.real());
    } else {
      sum = reference::dot(e_.field.at(text_.substr(4, 1)), e_.field.at(text_.substr(6, 1)));
      e_.sums.insert(e_.sums.end(), {sum.real(), sum.imag()});
    }
    if (!name.empty()) e_.scalar[name] = sum;
  }
  static bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }
  bool next(const char* symbol) {
    if (text_.compare(at_, std::string(symbol).size(), symbol) != 0) return false;
    at_ += std::string(symbol).size();
    return true;
  }
  Value expression() {
    const Value a = sum();
    if (next(">=")) return [a, b = sum()] { return a().real() >= b().real() ? 1 : 0; };
    if (next(">")) return [a, b = sum()] { return a().real() > b().real() ? 1 : 0; };
    return a;
  }
  Value sum() {
    Value value = product();
    while (true) {
      if (next("+"))
        value = [a = value, b = product()] { return a() + b(); };
      else if (next("-"))
        value = [a = value, b = product()] { return a() - b(); };
      else
        return value;
    }
  }
  Value product() {
    Value value = factor();
    while (true) {
      if (next("*"))
        value = [a = value, b = factor()] { return a() * b(); };
      else if (next("/"))
        value = [a = value, b = factor()] { return a() / b(); };
      else
        return value;
    }
  }
  Value factor() {
    if (next("(")) {
      const Value value = expression();
      ++at_;
      return value;
    }
    std::string word;
    while (at_ < text_.size() && in_name(text_[at_])) word += text_[at_++];
    if (std::isdigit(static_cast<unsigned char>(word[0]))) return [number = std::stod(word)] { return number; };
    if (next("(")) return call(word);
    if (e_.scalar.contains(word)) return [number = e_.scalar[word]] { return number; };
    const HostSpinor& field = e_.field.at(word);
    return [this, &field] { return field.site[site_][component_]; };
  }
  Value call(const std::string& function) {
    const Value a = expression();
    Value value = a;
    if (function == "max") {
      ++at_;
      value = [a, b = expression()] { return a().real() > b().real() ? a() : b(); };
    }
    if (function == "sqrt") value = [a] { return std::sqrt(std::max(a().real(), 0.0)); };
    if (function == "real") value = [a] { return a().real(); };
    if (function == "conj") value = [a] { return std::conj(a()); };
    ++at_;
    return value;
  }

  Environment& e_;
  std::string text_;
  std::size_t at_ = 0, site_ = 0;
  int component_ = 0;
};

}  // namespace

void run(const std::string& statements, Environment& e) { Interpreter(e).run(statements); }

}  // namespace formula
