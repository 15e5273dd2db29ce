#include "solvers/measure/source.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith {
namespace {

/// Numbers separated by commas.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> list;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    double value = 0;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return {};
    list.push_back(value);
    if (rest == end) return list;
    if (*rest != ',') return {};
    at = rest + 1;
  }
}

/// `SEED[,z2|z4]`
SourceSettings noise_of(const std::string& text, const UsageError& unknown) {
  SourceSettings s;
  s.kind = SourceSettings::Kind::noise;
  const char *begin = text.data(), *end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, s.seed);
  const std::string group(rest, end);
  if (error != std::errc() || (!group.empty() && group != ",z2" && group != ",z4")) throw unknown;
  s.roots = group == ",z4" ? 4 : 2;
  return s;
}

bool whole(double x) { return std::abs(x) < 0x1p31 && x == std::floor(x); }

}  // namespace

SourceSettings source_of(const std::string& text, const Lattice& lattice) {
  const auto unknown = [&] {
    return UsageError(
        fmt::format("source '{}' is unknown; use point:x,y,z,t, gaussian:x,y,z,t:w,N, jacobi:x,y,z,t:kappa,N[,norm], "
                    "wuppertal:x,y,z,t:alpha,N, wall:t, corner-wall:t or noise:SEED[,z2|z4]",
                    text));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw unknown();
  const std::string kind = text.substr(0, colon), rest = text.substr(colon + 1);
  if (kind == "noise") return noise_of(rest, unknown());
  const std::size_t second = rest.find(':');
  const std::vector<double> first = numbers(rest.substr(0, second));
  for (const double x : first)
    if (!whole(x)) throw unknown();
  SourceSettings s;
  if ((kind == "wall" || kind == "corner-wall") && first.size() == 1 && second == std::string::npos) {
    s.kind = kind == "wall" ? SourceSettings::Kind::wall : SourceSettings::Kind::corner_wall;
    s.origin[3] = static_cast<int>(first[0]);
  } else if (kind == "point" && first.size() == 4 && second == std::string::npos) {
    for (int mu = 0; mu < directions; ++mu) s.origin[mu] = static_cast<int>(first[mu]);
  } else if (kind != "wall" && kind != "point" && first.size() == 4 && second != std::string::npos) {
    s.smearing = quark_smearing_of(kind + rest.substr(second));
    for (int mu = 0; mu < directions; ++mu) s.origin[mu] = static_cast<int>(first[mu]);
  } else {
    throw unknown();
  }
  for (int mu = 0; mu < directions; ++mu)
    if (s.origin[mu] < 0 || s.origin[mu] >= lattice.global_extent(mu))
      throw UsageError(fmt::format("source '{}': coordinate {} = {} lies outside the {} lattice", text, "xyzt"[mu],
                                   s.origin[mu], lattice.global_text()));
  return s;
}

QuarkSmearing sink_of(const std::string& text) {
  if (text == "point") return {};
  try {
    return quark_smearing_of(text);
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("sink '{}' is unknown; use point, gaussian:w,N, jacobi:kappa,N[,norm] or wuppertal:alpha,N", text));
  }
}

HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour) {
  HostSpinor source(lattice);
  const int component = 3 * spin + colour;
  if (settings.kind == SourceSettings::Kind::noise) {
    const Complex64 roots[] = {1, -1, {0, 1}, {0, -1}};
    for (long long i = 0; i < lattice.sites(); ++i)
      source.site[i][component] = roots[int(settings.roots * random_at(lattice, i, {settings.seed, 0}).uniform())];
    return source;
  }
  Coordinates here;
  const bool corners = settings.kind == SourceSettings::Kind::corner_wall;
  if (settings.kind != SourceSettings::Kind::wall && !corners) {
    if (lattice.find(settings.origin, here)) source.site[lattice.index(here)][component] = 1;
    return source;
  }
  const long long space = lattice.space_sites(), t = settings.time() - lattice.origin(3);
  if (t < 0 || t >= lattice.extent(3)) return source;
  for (long long i = t * space; i < (t + 1) * space; ++i) {  // parts begin at even coordinates
    const Coordinates x = lattice.coordinates(i);
    if (!corners || (x[0] | x[1] | x[2]) % 2 == 0) source.site[i][component] = 1;
  }
  return source;
}

}  // namespace quarksmith
