/// \file
/// Text for messages and terminals, and choices by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarksmith {

/// The text in one line of UTF-8: control characters, and bytes that are no UTF-8, become `?`.
std::string printable(std::string text);

/// The text between separators: one part at least.
std::vector<std::string> split(const std::string& text, char separator);
/// The number in a text, with a decimal point in any locale, with or without sign; none if the whole text is not a
/// finite number. Up to 32 bits of hexadecimal digits may follow 0x.
std::optional<double> as_number(std::string_view text);
std::optional<long long> as_integer(std::string_view text);
std::optional<std::uint32_t> as_hexadecimal(std::string_view text);
/// The text without surrounding blanks, ends of lines and zero bytes.
std::string trimmed(std::string_view text);
/// The number in a text of a user. \param name of the value, for messages.
/// \throws UsageError the text is not a number, see as_number.
double number(const std::string& text, const std::string& name);
long long integer(const std::string& text, const std::string& name);

/// Domain, bus, device and function of an address on the PCI bus alone, in small letters: `0000:19:00.0`. Some write
/// eight digits of the domain.
std::string short_pci_address(std::string address);

/// Names as `a, b or c`.
std::string one_of(std::span<const std::string_view> names);

/// The known word that was most likely meant by another; empty if none is near, or if the word itself is known.
std::string nearest(const std::string& word, const std::vector<std::string>& known);
/// `did you mean X? `, or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

/// \throws UnknownName `even-odd form 'x' is unknown; did you mean b? use a, b or c`
[[noreturn]] void unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known);

/// The value for a name in a table. \param kind of the names, for messages. \throws UnknownName there is none.
template <class Value, std::size_t count>
Value by_name(std::string_view kind, std::string_view name, const std::pair<std::string_view, Value> (&table)[count]) {
  std::vector<std::string_view> known;
  for (const auto& [entry, value] : table) {
    if (entry == name) return value;
    known.push_back(entry);
  }
  unknown_name(kind, name, known);
}

}  // namespace quarksmith
