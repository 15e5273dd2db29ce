#include "runtime/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();  // what follows the last separator
  }
  return parts;
}

template <class Number>
bool read_number(std::string_view word, Number& value) {
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && rest == word.data() + word.size();
}

/// Range of a parameter, for messages.
std::string range_of(const ChoiceParameter& p) {
  if (!p.words.empty()) return fmt::format("{}", fmt::join(parts_of(p.words, '|'), " or "));
  if (p.direction >= 0) return "a coordinate";
  const std::string_view what = p.whole ? "a whole number" : p.size ? "a number of size" : "a number";
  return fmt::format("{} between {} and {}", what, p.lower, p.upper);
}

/// Reads one word. \return why it does not serve; empty if it does
std::string objection_to(std::string_view word, const ChoiceParameter& p, ChoiceValue& value) {
  if (!p.words.empty()) {
    const auto words = parts_of(p.words, '|');
    value.whole = std::find(words.begin(), words.end(), word) - words.begin();
    value.real = static_cast<double>(value.whole);
    return value.whole < words.size() ? "" : fmt::format("'{}' is not {}", word, range_of(p));
  }
  if (p.whole ? !read_number(word, value.whole) : !read_number(word, value.real))
    return fmt::format("{} '{}' is no {}", p.name, word, p.whole ? "whole number from 0 to 2^64 - 1" : "number");
  if (p.whole) value.real = static_cast<double>(value.whole);
  const double bounded = p.size ? std::abs(value.real) : value.real;
  if (bounded >= p.lower && bounded <= p.upper) return "";
  return fmt::format("{} = {} is not {}", p.name, word, range_of(p));
}

}  // namespace

std::string form_of(const ChoiceParameters& parameters) {
  std::string form;
  for (const ChoiceParameter& p : parameters) {
    if (p.name.empty()) break;
    const std::string_view shown = p.words.empty() ? p.name : p.words, comma = &p == &parameters[0] ? "" : ",";
    form += fmt::format(fmt::runtime(p.fallback ? "[{}{}]" : "{}{}"), comma, shown);
  }
  return form;
}

std::string ranges_of(const ChoiceParameters& parameters) {
  std::string text;
  for (const ChoiceParameter& p : parameters) {
    if (p.name.empty() || p.direction >= 0 || (!p.words.empty() && !p.fallback)) continue;
    if (!text.empty()) text += "; ";
    if (!p.words.empty())
      text += fmt::format("default {}", parts_of(p.words, '|')[std::size_t(*p.fallback)]);
    else if (p.whole && p.upper >= 0x1p64)
      text += fmt::format("{} any number of 64 bits", p.name);
    else
      text += fmt::format("{} {}{} to {}", p.name, p.size ? "of size " : "", p.lower, p.upper);
    if (p.fallback && p.words.empty()) text += fmt::format(" (default {})", *p.fallback);
  }
  return text;
}

ChoiceValues read_choice(std::string_view text, const ChoiceParameters& parameters, const std::string& subject,
                         const std::string& form) {
  const auto words = parts_of(text, ',');
  std::size_t least = 0, most = 0;
  for (const ChoiceParameter& p : parameters) {
    most += !p.name.empty();
    least += !p.name.empty() && !p.fallback;
  }
  if (words.size() < least || words.size() > most)
    throw UsageError(fmt::format("{}: '{}' is not {}; use {}", subject, text, form_of(parameters), form));
  ChoiceValues values;
  for (std::size_t n = 0; n < most; ++n) {
    if (n >= words.size()) {
      values[n] = {*parameters[n].fallback, static_cast<std::uint64_t>(*parameters[n].fallback)};
      continue;
    }
    const std::string why = objection_to(words[n], parameters[n], values[n]);
    if (!why.empty()) throw UsageError(fmt::format("{}: {}; use {}", subject, why, form));
  }
  return values;
}

std::pair<std::string, std::string> cut_at_colon(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {text.substr(0, colon), text.substr(std::min(colon + 1, text.size()))};
}

}  // namespace quarksmith
