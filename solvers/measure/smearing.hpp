/// \file
/// Gauge-covariant smearing of quark fields in space, with links without boundary phases: of point sources and of
/// sinks.
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

/// A kind of smearing with its documentation, defined by a file of solvers/measure/smearings/.
struct SmearingKind {
  std::string_view name;     ///< as in options
  std::string_view formula;  ///< formula and reference
  ChoiceParameters parameters;
  /// Smears a field of double precision on all sites, in any basis, of any number of right-hand sides.
  /// \param look is called before each step, and may throw to end it.
  void (*smear)(const ChoiceValues& values, const LinkField& links, SpinorField& psi,
                const std::function<void()>& look);
  bool antihermitian = false;  ///< else it is Hermitian, and such operators on the same links commute
};
template <>
std::span<const SmearingKind* const> listed<SmearingKind>();
/// The form of the text for a kind, such as `gaussian:w,N`.
std::string form_of(const SmearingKind& kind);

/// A smearing of quark fields with its parameters; none if there is no kind.
struct QuarkSmearing {
  const SmearingKind* kind = nullptr;
  ChoiceValues values{};
  std::vector<QuarkSmearing> then{};  ///< further smearings to apply to the result, in order

  explicit operator bool() const { return kind != nullptr; }
  friend bool operator==(const QuarkSmearing&, const QuarkSmearing&) = default;
  bool has_derivative() const {
    return (kind != nullptr && kind->antihermitian) ||
           std::any_of(then.begin(), then.end(), [](const QuarkSmearing& s) { return s.has_derivative(); });
  }
};
/// Reads a text such as `gaussian:w,N` or `jacobi:kappa,N[,norm]`, see SmearingKind; or several,
/// `gaussian:w,N/derivative:x`, which are applied from left to right.
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

/// Applies step(from, to) to psi `count` times.
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
