/// \file
/// Choices with numbers in options, such as `jacobi:kappa,N[,norm]`: their form, and how they are read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarksmith {

/// A parameter of a choice: a number, or one of several words.
struct ChoiceParameter {
  std::string_view name = "";           ///< empty: there is none
  double lower = 0, upper = 0;          ///< both are allowed
  bool whole = false;                   ///< without a sign
  bool size = false;                    ///< the bounds are those of the absolute value
  std::string_view words = "";          ///< `z2|z4`: one of these, whose place is the number
  std::optional<double> fallback = {};  ///< its value if it is left out; only the last parameters have one
  int direction = -1;                   ///< of a coordinate of a site of the lattice
};
inline constexpr std::size_t most_parameters = 5;
using ChoiceParameters = std::array<ChoiceParameter, most_parameters>;

/// A coordinate of a site of the lattice; the lattice bounds it.
constexpr ChoiceParameter coordinate(int mu) {
  return {.name = std::string_view("xyzt").substr(mu, 1), .upper = 1 << 24, .whole = true, .direction = mu};
}

/// A number that was read.
struct ChoiceValue {
  double real = 0;
  std::uint64_t whole = 0;  ///< exact, of whole numbers and of words

  friend bool operator==(const ChoiceValue&, const ChoiceValue&) = default;
};
using ChoiceValues = std::array<ChoiceValue, most_parameters>;

/// The form of some parameters, such as `kappa,N[,norm]`.
std::string form_of(const ChoiceParameters& parameters);
/// The ranges of parameters, such as `kappa -10000 to 10000; N 1 to 1000000`, without coordinates.
std::string ranges_of(const ChoiceParameters& parameters);

/// Reads the values of a text. \param subject,form for messages: what the text belongs to, and the expected form.
/// \throws UsageError with the message `SUBJECT: WHY; use FORM`.
ChoiceValues read_choice(std::string_view text, const ChoiceParameters& parameters, const std::string& subject,
                         const std::string& form);

/// The text before the first colon, and the text after it.
std::pair<std::string, std::string> cut_at_colon(const std::string& text);

}  // namespace quarksmith
