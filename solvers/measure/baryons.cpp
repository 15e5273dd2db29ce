#include "solvers/measure/baryons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/fields/expression.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// A kernel: which of its propagators each of three quarks has, and what its sums are.
struct BaryonKernel {
  std::string_view name, quarks;
  std::vector<std::string_view> spins;  ///< empty: each sum is an interpolator of its own
  bool both_parities;
};
const std::vector<std::string_view> half = {"up", "dn"}, three_halves = {"upup", "up", "dn", "dndn"};
const std::vector<BaryonKernel> kernels = {
    {"octet_112", "112", half, true},
    {"octet_123", "123", half, true},
    {"octet_sum", "123", half, true},
    {"decuplet_111", "111", three_halves, true},
    {"decuplet_112", "112", three_halves, true},
    {"decuplet_123", "123", three_halves, true},
    {"chroma_sigma", "122", {}, false},
    {"chroma_lambda", "122", {}, false},
    {"chroma_sigma_star", "122", {}, false},
    {"chroma_lambda_naive", "122", {}, false},
    {"chroma_xi", "112", {}, false},
};

/// The quarks of the kernel's propagators, and what multiplies its sums.
struct OfSpins {
  std::string_view name, kernel, lines;
  double weight;
};
// Names and normalisation are lalibe's.
const std::vector<OfSpins> of_spins = {
    {"proton", "octet_112", "ud", 1. / 2},     {"neutron", "octet_112", "du", 1. / 2},
    {"lambda_z", "octet_123", "sud", 1. / 2},  {"sigma_p", "octet_112", "us", 2. / 3},
    {"sigma_z", "octet_sum", "uds", 1. / 3},   {"sigma_m", "octet_112", "ds", 2. / 3},
    {"xi_z", "octet_112", "su", 2. / 3},       {"xi_m", "octet_112", "sd", 2. / 3},
    {"delta_pp", "decuplet_111", "u", 1},      {"delta_p", "decuplet_112", "ud", 3},
    {"delta_z", "decuplet_112", "du", 3},      {"delta_m", "decuplet_111", "d", 1},
    {"sigma_star_p", "decuplet_112", "us", 1}, {"sigma_star_z", "decuplet_123", "uds", 2},
    {"sigma_star_m", "decuplet_112", "ds", 1}, {"xi_star_z", "decuplet_112", "su", 1},
    {"xi_star_m", "decuplet_112", "sd", 1},    {"omega_m", "decuplet_111", "s", 1},
};
/// Suffix of the lower components, which have the other parity.
constexpr std::string_view lower = "_np";

/// Chroma's: some sums of a kernel with weights.
struct OfSums {
  std::string_view name, kernel;
  std::vector<std::pair<int, double>> sums;
};
const std::vector<OfSums> of_sums = {
    {"chroma-0", "chroma_sigma", {{0, 1}}},
    {"chroma-1", "chroma_lambda", {{0, 1}}},
    {"chroma-2", "chroma_sigma_star", {{0, 1}}},
    {"chroma-3", "chroma_sigma", {{1, 1}}},
    {"chroma-4", "chroma_lambda", {{1, 1}}},
    {"chroma-5", "chroma_sigma_star", {{1, 1}}},
    {"chroma-6", "chroma_sigma", {{2, 1}}},
    {"chroma-7", "chroma_lambda", {{2, 1}}},
    {"chroma-8", "chroma_sigma_star", {{2, 4}}},
    {"chroma-9", "chroma_sigma", {{3, 1}}},
    {"chroma-10", "chroma_sigma", {{4, 1}}},
    {"chroma-11", "chroma_sigma", {{5, 1}}},
    {"chroma-12", "chroma_lambda_naive", {{0, 1}}},
    {"chroma-13", "chroma_xi", {{0, 1}}},
    {"chroma-14", "chroma_lambda_naive", {{0, 1}}},
    {"chroma-15", "chroma_xi", {{1, 1}}},
    {"chroma-16", "chroma_sigma", {{6, 1}}},
    {"chroma-nucleon-unpol", "chroma_sigma", {{3, 1}}},
    {"chroma-nucleon-pol", "chroma_sigma", {{0, 1}, {3, -1}}},
    {"chroma-nucleon-mixed", "chroma_sigma", {{0, 1}}},
    {"chroma-nucleon-unpol-nonrel", "chroma_sigma", {{5, 1}}},
    {"chroma-nucleon-pol-nonrel", "chroma_sigma", {{2, 1}, {5, -1}}},
    {"chroma-nucleon-mixed-nonrel", "chroma_sigma", {{2, 1}}},
};

template <class Kind>
const Kind* named(const std::vector<Kind>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kind& k) { return k.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string_view without_lower(std::string_view name) {
  return name.ends_with(lower) ? name.substr(0, name.size() - lower.size()) : name;
}

[[noreturn]] void unknown_baryon(const std::string& name) {
  const std::vector<std::string> all = baryon_names();
  unknown_name("interpolator", name, std::vector<std::string_view>(all.begin(), all.end()));
}

/// A baryon with all that does not depend on spin.
Baryon begun(const std::string& name, std::string_view kernel, std::string_view letters, const std::string& lines) {
  Baryon b{.name = name, .spin = {}, .kernel = kernel, .lines = {}, .quarks = {}, .parity = 0, .weights = {}};
  const std::string_view quarks = named(kernels, kernel)->quarks;
  for (std::size_t n = 0; n < letters.size(); ++n) {
    b.lines.push_back(static_cast<int>(lines.find(letters[n])));
    b.quarks.push_back(static_cast<int>(std::count(quarks.begin(), quarks.end(), static_cast<char>('1' + n))));
  }
  return b;
}

std::vector<ExpressionArgument> inputs_of(std::span<const Propagator* const> lines, const Baryon& b) {
  std::vector<ExpressionArgument> all;
  for (const int line : b.lines) all.emplace_back(lines[line]->field());
  if (b.parity != 0) all.emplace_back(b.parity);
  return all;
}

}  // namespace

std::vector<std::string> baryon_names() {
  std::vector<std::string> all;
  for (const OfSpins& b : of_spins) all.emplace_back(b.name);
  for (std::size_t n = 0; n < of_spins.size(); ++n) all.push_back(all[n] + std::string(lower));
  for (const OfSums& b : of_sums) all.emplace_back(b.name);
  return all;
}

std::string lines_of_baryon(const std::string& name) {
  if (named(of_sums, name) != nullptr) return "12";
  const OfSpins* found = named(of_spins, without_lower(name));
  if (found == nullptr) unknown_baryon(name);
  std::string letters(found->lines);
  std::sort(letters.begin(), letters.end());
  return letters;
}

std::vector<Baryon> baryons_of(const std::string& name, const std::string& lines) {
  std::vector<Baryon> all;
  if (const OfSums* found = named(of_sums, name)) {
    Baryon& b = all.emplace_back(begun(name, found->kernel, "12", lines));
    for (const auto& [sum, weight] : found->sums) {
      b.weights.resize(std::max(b.weights.size(), static_cast<std::size_t>(sum) + 1));
      b.weights[sum] = weight;
    }
    return all;
  }
  const OfSpins* found = named(of_spins, without_lower(name));
  if (found == nullptr) unknown_baryon(name);
  const BaryonKernel& kernel = *named(kernels, found->kernel);
  for (std::size_t n = 0; n < kernel.spins.size(); ++n) {
    Baryon& b = all.emplace_back(begun(name, kernel.name, found->lines, lines));
    b.spin = kernel.spins[n];
    b.parity = name.ends_with(lower) ? -1 : 1;
    b.weights.resize(kernel.spins.size());
    b.weights[n] = found->weight;
  }
  return all;
}

std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const Baryon> baryons,
                                   const MomentumPhases& phases) {
  // Of the first lines with a propagator: its address would give each rank an order of its own.
  using Call = std::tuple<std::string_view, std::vector<std::ptrdiff_t>, double>;
  std::map<Call, std::vector<std::size_t>> calls;
  for (std::size_t k = 0; k < baryons.size(); ++k) {
    std::vector<std::ptrdiff_t> of;
    for (const int line : baryons[k].lines)
      of.push_back(std::find(lines.begin(), lines.end(), lines[line]) - lines.begin());
    calls[{baryons[k].kernel, of, baryons[k].parity}].push_back(k);
  }
  std::vector<Complex64> all;
  for (const auto& [call, members] : calls) {
    const Baryon& first = baryons[members[0]];
    const SiteSums sites = site_sums(first.kernel, inputs_of(lines, first));
    const std::vector<Complex64> sums = momentum_sums(sites, phases);
    const std::size_t count = sites.sums() / 2, each = sums.size() / count;
    all.resize(each * baryons.size());
    for (const std::size_t k : members)
      for (std::size_t n = 0; n < each; ++n)
        for (std::size_t m = 0; m < baryons[k].weights.size(); ++m)
          if (const double weight = baryons[k].weights[m]; weight != 0)
            all[n * baryons.size() + k] += weight * sums[n * count + m];
  }
  return all;
}

Propagator baryon_source(std::span<const Propagator* const> lines, const Baryon& baryon, int line,
                         const LinkField& phase) {
  const auto role = std::find(baryon.lines.begin(), baryon.lines.end(), line) - baryon.lines.begin();
  const std::string kernel = fmt::format("{}_by_q{}", baryon.kernel, role + 1);
  std::vector<ExpressionArgument> inputs = inputs_of(lines, baryon);
  inputs.emplace_back(phase);
  const std::size_t fixed = inputs.size();
  Propagator source(lines[line]->field().domain_pointer());
  const auto& parameters = parameters_of(source.field().device(), kernel);
  const std::size_t weights = parameters.size() - fixed - 1;
  for (std::size_t n = 0; n < weights; ++n) inputs.emplace_back(n < baryon.weights.size() ? baryon.weights[n] : 0.0);
  const ExpressionOutput out(source.field());
  evaluate(kernel, inputs, std::span(&out, 1));
  return source;
}

}  // namespace quarksmith
