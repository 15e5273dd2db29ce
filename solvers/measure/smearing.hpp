/// \file
/// Gauge-covariant smearing of quark fields in space, on the stored links, boundary phases left out: of sources that
/// are points, and of sinks.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/choice.hpp"
#include "runtime/fields/field.hpp"
#include "runtime/listed.hpp"

namespace quarksmith {

/// A kind of smearing: what a file of solvers/measure/smearings/ defines, and all that is said of it.
struct SmearingKind {
  std::string_view name;     ///< as options spell it
  std::string_view formula;  ///< with its source
  ChoiceParameters parameters;
  /// Smears a field of double precision on all sites, in any basis, of any number of right-hand sides.
  /// \param look is called before each step, and may throw to end it.
  void (*smear)(const ChoiceValues& values, const LinkField& links, SpinorField& psi,
                const std::function<void()>& look);
  bool antihermitian = false;  ///< others are Hermitian, and those on the same links commute
};
template <>
std::span<const SmearingKind* const> listed<SmearingKind>();
/// `gaussian:w,N`
std::string form_of(const SmearingKind& kind);

/// How a quark field is smeared; not at all without a kind.
struct QuarkSmearing {
  const SmearingKind* kind = nullptr;
  ChoiceValues values{};
  std::vector<QuarkSmearing> then{};  ///< what is done to the result, one after the other

  explicit operator bool() const { return kind != nullptr; }
  friend bool operator==(const QuarkSmearing&, const QuarkSmearing&) = default;
  bool has_derivative() const {
    return (kind != nullptr && kind->antihermitian) ||
           std::any_of(then.begin(), then.end(), [](const QuarkSmearing& s) { return s.has_derivative(); });
  }
};
/// `gaussian:w,N`, `jacobi:kappa,N[,norm]`, ...: what SmearingKind says; or several, `gaussian:w,N/derivative:x`, the
/// first of which is done first.
/// \throws UsageError any other text.
QuarkSmearing quark_smearing_of(const std::string& text);

/// Smearing of a sink: none for `point`, else as quark_smearing_of reads it.
/// \throws UsageError any other text.
QuarkSmearing sink_of(const std::string& text);
/// Texts that sink_of reads: `point, gaussian:w,N or ...`
std::string sink_forms();

/// Smears a field of double precision on all sites, in any basis. \param links double precision.
/// \param look as of SmearingKind::smear. \throws UsageError the build lacks a kernel.
void smear(
    const QuarkSmearing& how, const std::shared_ptr<const LinkField>& links, SpinorField& psi,
    const std::function<void()>& look = [] {});

/// psi becomes what `count` times step(from, to) makes of it.
template <class Step>
void repeat(std::uint64_t count, SpinorField& psi, const std::function<void()>& look, const Step& step) {
  SpinorField work = psi.like();
  SpinorField *from = &psi, *to = &work;
  for (std::uint64_t n = 0; n < count; ++n) {
    look();
    step(*from, *to);
    std::swap(from, to);
  }
  if (from != &psi) psi.copy_from(*from);
}

/// The parameter N of smearings.
inline constexpr ChoiceParameter smearing_steps = {.name = "N", .lower = 1, .upper = 1e6, .whole = true};

}  // namespace quarksmith
