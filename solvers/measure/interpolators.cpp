#include "solvers/measure/interpolators.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>

#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// An octet baryon of spin s: weight * sum over orders of flavours of q1_s (q2_+ q3_- - q2_- q3_+).
struct Octet {
  std::string_view name;
  double weight_square;
  std::vector<std::string_view> flavours;
};
/// A decuplet baryon: weight * sum over the different orders of spins / sqrt(their number).
struct Decuplet {
  std::string_view name, flavours;
  double weight_square;
};

// Names, normalisation and order of the flavours are lalibe's.
const std::vector<Octet> octet = {
    {"proton", 1. / 2, {"uud"}},  {"neutron", 1. / 2, {"ddu"}},        {"lambda_z", 1. / 2, {"sud"}},
    {"sigma_p", 2. / 3, {"uus"}}, {"sigma_z", 1. / 3, {"uds", "dus"}}, {"sigma_m", 2. / 3, {"dds"}},
    {"xi_z", 2. / 3, {"ssu"}},    {"xi_m", 2. / 3, {"ssd"}},
};
const std::vector<Decuplet> decuplet = {
    {"delta_pp", "uuu", 1},     {"delta_p", "uud", 3},      {"delta_z", "udd", 3},      {"delta_m", "ddd", 1},
    {"sigma_star_p", "uus", 1}, {"sigma_star_z", "uds", 2}, {"sigma_star_m", "dds", 1}, {"xi_star_z", "uss", 1},
    {"xi_star_m", "dss", 1},    {"omega_m", "sss", 1},
};
/// Of the lower components, whose parity is the other one.
constexpr std::string_view lower = "_np";

/// weight * tr[T X {A s, s B}], the diquark traced over spin first or not; X, A, B are numbers of lines.
struct DiquarkPart {
  double weight;
  char x, a, b;
  bool traced;
};
struct DiquarkKind {
  std::string_view name;
  std::vector<DiquarkPart> parts;
};
const std::vector<DiquarkKind> diquarks = {
    {"sigma", {{1, '2', '1', '2', true}, {1, '2', '1', '2', false}}},
    {"xi", {{1, '1', '1', '2', true}, {1, '1', '1', '2', false}}},
    {"lambda-naive", {{1, '1', '2', '2', true}}},
    {"lambda", {{1, '1', '2', '2', true}, {1, '1', '2', '2', false}, {1, '2', '2', '1', false}}},
    {"sigma-star",
     {{2, '2', '1', '2', true},
      {2, '2', '1', '2', false},
      {2, '2', '2', '1', false},
      {2, '1', '2', '2', false},
      {1, '1', '2', '2', true}}},
};
/// Chroma's list of baryons: matrices T and s by the names of `chroma_matrix`.
struct ChromaBaryon {
  std::string_view contraction;
  double weight;
  std::string_view t, s;
};
const std::vector<ChromaBaryon> chroma = {
    {"sigma", 1, "mixed", "Cg5"},
    {"lambda", 1, "mixed", "Cg5"},
    {"sigma-star", 1, "mixed", "C-"},
    {"sigma", 1, "mixed", "Cg5g4"},
    {"lambda", 1, "mixed", "Cg5g4"},
    {"sigma-star", 1, "mixed", "C4-"},
    {"sigma", 1, "mixed", "Cg5N"},
    {"lambda", 1, "mixed", "Cg5N"},
    {"sigma-star", 4, "mixed", "C-N"},
    {"sigma", 1, "unpolarised", "Cg5"},
    {"sigma", 1, "unpolarised", "Cg5g4"},
    {"sigma", 1, "unpolarised", "Cg5N"},
    {"lambda-naive", 1, "unpolarised", "Cg5"},
    {"xi", 1, "unpolarised", "Cg5"},
    {"lambda-naive", 1, "unpolarised", "Cg5"},
    {"xi", 1, "mixed", "Cg5"},
    {"sigma", 1, "mixed-negative", "Cg5N-"},
};
constexpr std::string_view chroma_prefix = "chroma-";

Spin4 combination(Complex64 a, const Spin4& x, Complex64 b, const Spin4& y) {
  Spin4 z;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) z[i][j] = a * x[i][j] + b * y[i][j];
  return z;
}

Spin4 chroma_matrix(std::string_view name) {
  constexpr Complex64 i = {0, 1};
  const Spin4 one = gamma_product(0), gt = gamma(3), cg5 = gamma_product(5);
  const Spin4 n = combination(0.5, one, 0.5, gt), negative = combination(0.5, one, -0.5, gt);
  const Spin4 spin = combination(1, one, -i, gamma_product(3));
  const Spin4 minus = product(gamma_product(10), combination(0.5, gamma(1), 0.5 * i, gamma(0)));
  const Spin4 minus4 = product(product(gamma_product(10), gt), combination(0.5, gamma(1), 0.5 * i, gamma(0)));
  const std::pair<std::string_view, Spin4> table[] = {
      {"unpolarised", n},
      {"mixed", product(spin, n)},
      {"polarised", product(combination(0, one, -i, gamma_product(3)), n)},
      {"mixed-negative", product(spin, negative)},
      {"Cg5", cg5},
      {"Cg5g4", combination(-1, gamma_product(13), 0, one)},
      {"Cg5N", product(cg5, n)},
      {"Cg5N-", product(cg5, negative)},
      {"C-", minus},
      {"C4-", minus4},
      {"C-N", product(minus, n)}};
  return by_name("spin matrix", name, table);
}

/// Adds terms that have the same quarks, in any order.
BaryonTerms collected(const BaryonTerms& terms) {
  std::map<std::array<QuarkElement, 3>, Complex64> sums;
  for (BaryonTerm term : terms) {
    std::sort(term.quarks.begin(), term.quarks.end());
    sums[term.quarks] += term.weight;
  }
  BaryonTerms all;
  for (const auto& [quarks, weight] : sums)
    if (std::abs(weight) > 1e-12) all.push_back({weight, quarks});
  return all;
}

/// eps_abc q1_a q2_b q3_c with a weight; quarks by line and Dirac component.
struct WaveTerm {
  double weight;
  std::array<std::pair<int, int>, 3> quarks;
};

/// All contractions of a wave function with its conjugate: signs of exchanges are those of the colours.
BaryonTerms two_point(const std::vector<WaveTerm>& wave) {
  BaryonTerms terms;
  for (const WaveTerm& sink : wave)
    for (const WaveTerm& source : wave) {
      std::array<int, 3> order{0, 1, 2};
      do {
        BaryonTerm term{sink.weight * source.weight, {}};
        bool same = true;
        for (int k = 0; k < 3; ++k) {
          const auto &to = sink.quarks[k], &from = source.quarks[order[k]];
          same = same && to.first == from.first;
          term.quarks[k] = {to.first, to.second, from.second};
        }
        if (same) terms.push_back(term);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  return collected(terms);
}

int line_in(const std::string& lines, char letter) { return static_cast<int>(lines.find(letter)); }

std::vector<Baryon> octet_of(const Octet& kind, const std::string& name, const std::string& lines, int first) {
  std::vector<Baryon> all;
  for (const int spin : {0, 1}) {
    std::vector<WaveTerm> wave;
    for (const std::string_view flavours : kind.flavours) {
      std::array<int, 3> line;
      for (int k = 0; k < 3; ++k) line[k] = line_in(lines, flavours[k]);
      const double weight = std::sqrt(kind.weight_square);
      wave.push_back({weight, {{{line[0], first + spin}, {line[1], first}, {line[2], first + 1}}}});
      wave.push_back({-weight, {{{line[0], first + spin}, {line[1], first + 1}, {line[2], first}}}});
    }
    all.push_back({name, spin == 0 ? "up" : "dn", two_point(wave)});
  }
  return all;
}

std::vector<Baryon> decuplet_of(const Decuplet& kind, const std::string& name, const std::string& lines, int first) {
  constexpr std::pair<const char*, int> spins[] = {{"upup", 0}, {"up", 1}, {"dn", 2}, {"dndn", 3}};
  std::vector<Baryon> all;
  for (const auto& [label, down] : spins) {
    std::array<int, 3> order{};
    for (int k = 0; k < down; ++k) order[2 - k] = 1;
    std::vector<WaveTerm> wave;
    do {
      WaveTerm term{std::sqrt(kind.weight_square), {}};
      for (int k = 0; k < 3; ++k) term.quarks[k] = {line_in(lines, kind.flavours[k]), first + order[k]};
      wave.push_back(term);
    } while (std::next_permutation(order.begin(), order.end()));
    for (WaveTerm& term : wave) term.weight /= std::sqrt(static_cast<double>(wave.size()));
    all.push_back({name, label, two_point(wave)});
  }
  return all;
}

/// sum_k (A s)_ki (s B)_kj of sinks k; what closes i, j and X is traced or not.
void add_diquark(const DiquarkPart& part, const Spin4& t, const Spin4& s, const std::string& lines,
                 BaryonTerms& terms) {
  const int x = line_in(lines, part.x), a = line_in(lines, part.a), b = line_in(lines, part.b);
  for (int code = 0; code < 4096; ++code) {
    const auto index = [code](int n) { return code >> 2 * n & 3; };
    const int k = index(0), m = index(1), n = index(2), i = index(3), al = index(4), be = index(5);
    if (part.traced) {  // T_al,be X_be,al A_km s_mi s_kn B_ni
      const Complex64 weight = part.weight * t[al][be] * s[m][i] * s[k][n];
      if (weight != 0.0) terms.push_back({weight, {{{x, be, al}, {a, k, m}, {b, n, i}}}});
    } else {  // T_al,be X_be,i A_km s_mi s_kn B_n,al
      const Complex64 weight = part.weight * t[al][be] * s[m][i] * s[k][n];
      if (weight != 0.0) terms.push_back({weight, {{{x, be, i}, {a, k, m}, {b, n, al}}}});
    }
  }
}

/// A real rotation turns matrices between two sinks or two sources as it turns those from source to sink.
Spin4 turned(const Spin4& m) {
  Spin4 r = product(dagger(dirac_rotation()), product(m, dirac_rotation()));
  for (auto& row : r)
    for (Complex64& z : row)
      if (std::abs(z) < 1e-12) z = 0;
  return r;
}

BaryonTerms chroma_terms(const ChromaBaryon& kind, const std::string& lines) {
  BaryonTerms terms;
  const Spin4 t = turned(chroma_matrix(kind.t)), s = turned(chroma_matrix(kind.s));
  const auto& found =
      *std::find_if(diquarks.begin(), diquarks.end(), [&](const DiquarkKind& d) { return d.name == kind.contraction; });
  for (DiquarkPart part : found.parts) {
    part.weight *= kind.weight;
    add_diquark(part, t, s, lines, terms);
  }
  return collected(terms);
}

template <class Kind>
const Kind* named(const std::vector<Kind>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kind& k) { return k.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string_view without_lower(std::string_view name) {
  return name.ends_with(lower) ? name.substr(0, name.size() - lower.size()) : name;
}

/// The number of one of Chroma's; -1: it is none of these.
int chroma_number(const std::string& name) {
  for (std::size_t n = 0; n < chroma.size(); ++n)
    if (name == std::string(chroma_prefix) + std::to_string(n)) return static_cast<int>(n);
  return -1;
}

[[noreturn]] void unknown_baryon(const std::string& name) {
  const std::vector<std::string> all = baryon_names();
  unknown_name("interpolator", name, std::vector<std::string_view>(all.begin(), all.end()));
}

}  // namespace

const Spin4& dirac_rotation() {
  static const Spin4 rotation = [] {
    const double norm = 1 / std::numbers::sqrt2;
    return product(combination(norm, product(gamma_product(15), gamma(3)), -norm, gamma_product(0)), gamma_product(5));
  }();
  return rotation;
}

std::vector<std::string> baryon_names() {
  std::vector<std::string> all;
  for (const std::string_view ending : {std::string_view(""), lower}) {
    for (const Octet& b : octet) all.push_back(std::string(b.name) + std::string(ending));
    for (const Decuplet& b : decuplet) all.push_back(std::string(b.name) + std::string(ending));
  }
  for (std::size_t n = 0; n < chroma.size(); ++n) all.push_back(std::string(chroma_prefix) + std::to_string(n));
  return all;
}

std::string lines_of_baryon(const std::string& name) {
  if (chroma_number(name) >= 0) return "12";
  const std::string_view base = without_lower(name);
  const Octet* o = named(octet, base);
  const Decuplet* d = named(decuplet, base);
  if (o == nullptr && d == nullptr) unknown_baryon(name);
  std::string letters(o != nullptr ? o->flavours[0] : d->flavours);
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  return letters;
}

std::vector<Baryon> baryons_of(const std::string& name, const std::string& lines) {
  if (const int n = chroma_number(name); n >= 0) return {{name, "", chroma_terms(chroma[n], lines)}};
  const std::string_view base = without_lower(name);
  const int first = base.size() < name.size() ? 2 : 0;
  if (const Octet* o = named(octet, base)) return octet_of(*o, name, lines, first);
  if (const Decuplet* d = named(decuplet, base)) return decuplet_of(*d, name, lines, first);
  unknown_baryon(name);
}

}  // namespace quarksmith
