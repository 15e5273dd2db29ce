#include "apps/domain_wall_options.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// One number for all slices, or one for each; complex ones as re:im.
std::vector<Complex64> slice_coefficients(const std::string& text, int slices, const std::string& option) {
  std::vector<Complex64> all;
  for (const std::string& part : split(text, ',')) {
    const auto re_im = split(part, ':');
    if (re_im.size() > 2) throw UsageError(fmt::format("{} '{}' is neither a number nor re:im", option, part));
    all.emplace_back(number(re_im[0], option), re_im.size() == 2 ? number(re_im[1], option) : 0);
  }
  if (all.size() == 1) all.assign(static_cast<std::size_t>(slices), all[0]);
  if (static_cast<int>(all.size()) != slices)
    throw UsageError(
        fmt::format("{} has {} numbers for --ls {}; give one, or one for each slice", option, all.size(), slices));
  return all;
}

std::string text_of(const std::vector<Complex64>& numbers) {
  std::string text;
  for (const Complex64& z : numbers) {
    text += fmt::format("{}{:.17g}", text.empty() ? "" : ",", z.real());
    if (z.imag() != 0) text += fmt::format(":{:.17g}", z.imag());
  }
  return text;
}

}  // namespace

void DomainWallOptions::add_to(CLI::App& c) {
  c.add_option("--ls", ls, "slices of the fifth dimension (domain-wall, moebius)")
      ->check(CLI::Range(1, most_slices))
      ->capture_default_str();
  c.add_option("--m5", m5, "domain-wall height M5")->capture_default_str();
  c.add_option("--b5", b5, "Moebius b: one number, or one for each slice; complex ones as re:im")
      ->capture_default_str();
  c.add_option("--c5", c5, "Moebius c, likewise")->capture_default_str();
}

DomainWallParameters DomainWallOptions::parameters(double mass,
                                                   const std::array<Complex64, directions>& boundary) const {
  DomainWallParameters p = DomainWallParameters::uniform(mass, m5, ls);
  p.b = slice_coefficients(b5, ls, "--b5");
  p.c = slice_coefficients(c5, ls, "--c5");
  p.boundary = boundary;
  return p;
}

std::map<std::string, std::string> DomainWallOptions::provenance(const DomainWallParameters& p) {
  return {{"mass", fmt::format("{:.17g}", p.mass)},
          {"m5", fmt::format("{:.17g}", p.m5)},
          {"ls", fmt::format("{}", p.slices())},
          {"b5", text_of(p.b)},
          {"c5", text_of(p.c)}};
}

}  // namespace quarksmith::apps
