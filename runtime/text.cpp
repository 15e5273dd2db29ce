#include "runtime/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

/// Bytes of the UTF-8 character at `at`, 0 if there is none: RFC 3629, without what is overlong, a surrogate, or a
/// control character.
std::size_t character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t n) {
    return n < text.size() ? static_cast<unsigned char>(text[n]) : static_cast<unsigned char>(0);
  };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  unsigned code = first & (length == 2 ? 0x1f : length == 3 ? 0x0f : 0x07);
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(at + n) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at + n) & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff || (code >= 0x80 && code < 0xa0);
  return overlong || none ? 0 : length;
}

/// Changes of one letter, or exchanges of two neighbours, between two words (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, row);
  }
  return last[b.size()];
}

template <class Number, class... Base>
std::optional<Number> whole(std::string_view text, Base... base) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> as_number(std::string_view text) {
  const std::optional<double> value = whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<long long> as_integer(std::string_view text) { return whole<long long>(text); }

std::optional<std::uint32_t> as_hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return text.starts_with('+') ? std::nullopt : whole<std::uint32_t>(text, 16);
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string printable(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character(text, at);
    if (length == 0) text[at] = '?';
    at += length == 0 ? 1 : length;
  }
  return text;
}

std::string short_pci_address(std::string address) {
  if (address.size() > 12) address = address.substr(address.size() - 12);
  for (char& c : address)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return address;
}

std::string one_of(std::span<const std::string_view> names) {
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::max<std::size_t>(letters / 3, 1) + 1;
  std::string found;
  for (const std::string& name : known) {
    if (name == word) return "";
    const bool begun = letters > 2 && name.starts_with(word);
    const std::size_t d = begun ? 1 : distance(word, name);
    if (d < least && d < name.size()) least = d, found = name;
  }
  return found;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : fmt::format("did you mean {}? ", meant);
}

void unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
  throw UnknownName(fmt::format("{} '{}' is unknown; {}use {}", kind, name,
                                suggestion(std::string(name), {known.begin(), known.end()}), one_of(known)));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

double number(const std::string& text, const std::string& name) {
  const std::optional<double> value = whole<double>(text);
  if (!value || !std::isfinite(*value))
    throw UsageError(fmt::format("{}: '{}' is not a {}number", name, text, value ? "finite " : ""));
  return *value;
}

long long integer(const std::string& text, const std::string& name) {
  const std::optional<long long> value = as_integer(text);
  if (!value) throw UsageError(fmt::format("{}: '{}' is not an integer", name, text));
  return *value;
}

}  // namespace quarksmith
