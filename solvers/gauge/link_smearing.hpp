/// \file
/// Smearing of links, on the stored links, boundary phases left out.
#pragma once

#include <functional>
#include <string>

#include "runtime/choice.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/listed.hpp"

namespace quarksmith {

/// A kind of smearing: what a file of solvers/gauge/link_smearings/ defines, and all that is said of it.
struct LinkSmearingKind {
  std::string_view name;     ///< as options spell it
  std::string_view formula;  ///< with its source
  ChoiceParameters parameters;
  /// One step, in double precision. Collective.
  void (*step)(const ChoiceValues& values, const LinkField& u, LinkField& out);
};
template <>
std::span<const LinkSmearingKind* const> listed<LinkSmearingKind>();
/// `stout:rho,N[,all|space]`
std::string form_of(const LinkSmearingKind& kind);

/// Parameters of several kinds: how often; all links in all planes, or those in space alone, which leaves time links as
/// they are.
inline constexpr ChoiceParameter link_smearing_steps = {.name = "N", .lower = 1, .upper = 1e6, .whole = true};
inline constexpr ChoiceParameter smeared_links = {.name = "links", .words = "all|space", .fallback = 0};

/// How links are smeared; not at all without a kind.
struct LinkSmearing {
  const LinkSmearingKind* kind = nullptr;
  ChoiceValues values{};

  std::uint64_t steps() const;
};
/// `stout:rho,N`, `ape:alpha,N,space`, ...: what LinkSmearingKind says.
/// \throws UsageError any other text.
LinkSmearing link_smearing_of(const std::string& text);
/// The texts that link_smearing_of reads, for messages.
std::string link_smearing_forms();

/// The smeared links on the device with 18 doubles; of a part of a lattice that part. Collective.
/// \param look is called before each step, and may throw to end it.
/// \throws NotSU3 the links are not SU(3); MissingKernel the build lacks the expression.
LinkField smear_on_device(
    const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain,
    const std::function<void()>& look = [] {});
/// Smears links on the host, by way of the device.
HostGauge smear(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain);

}  // namespace quarksmith
