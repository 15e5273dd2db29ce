/// \file
/// Smearing of links, without boundary phases.
#pragma once

#include <functional>
#include <string>

#include "runtime/choice.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/listed.hpp"

namespace quarksmith {

/// A kind of smearing with its documentation, defined by a file of solvers/gauge/link_smearings/.
struct LinkSmearingKind {
  std::string_view name;     ///< as in options
  std::string_view formula;  ///< formula and reference
  ChoiceParameters parameters;
  /// One step, in double precision. Collective.
  void (*step)(const ChoiceValues& values, const LinkField& u, LinkField& out);
};
template <>
std::span<const LinkSmearingKind* const> listed<LinkSmearingKind>();
/// The form of the text for a kind, such as `stout:rho,N[,all|space]`.
std::string form_of(const LinkSmearingKind& kind);

/// Parameters of several kinds: number of steps; all links in all planes, or only spatial links, with time links
/// unchanged.
inline constexpr ChoiceParameter link_smearing_steps = {.name = "N", .lower = 1, .upper = 1e6, .whole = true};
inline constexpr ChoiceParameter smeared_links = {.name = "links", .words = "all|space", .fallback = 0};

/// A smearing of links with its parameters; none if there is no kind.
struct LinkSmearing {
  const LinkSmearingKind* kind = nullptr;
  ChoiceValues values{};

  std::uint64_t steps() const;
};
/// Reads a text such as `stout:rho,N` or `ape:alpha,N,space`; see LinkSmearingKind.
/// \throws UsageError any other text.
LinkSmearing link_smearing_of(const std::string& text);
/// The texts that link_smearing_of reads, for messages.
std::string link_smearing_forms();

/// The smeared links on the device, 18 doubles each, on the local lattice. Collective.
/// \param look is called before each step, and may throw to end it.
/// \throws NotSU3 the links are not SU(3); MissingKernel the build lacks the expression.
LinkField smear_on_device(
    const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain,
    const std::function<void()>& look = [] {});
/// Smears links on the host, using the device.
HostGauge smear(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain);

}  // namespace quarksmith
