#include "tests/fuzz/mutate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace quarksmith::fuzz {
namespace {

constexpr std::size_t head_bytes = 2048, tail_bytes = 2048;

/// Anywhere, but mostly where structure stands: heads and tails.
std::size_t place(const std::string& bytes, Dice& dice) {
  const std::size_t size = bytes.size();
  switch (dice.below(5)) {
    case 0:
    case 1:
      return dice.below(std::min(size, head_bytes));
    case 2:
      return size - 1 - dice.below(std::min(size, tail_bytes));
    default:
      return dice.below(size);
  }
}

std::size_t length_from(const std::string& bytes, std::size_t at, Dice& dice) {
  constexpr std::array<std::size_t, 8> lengths = {1, 4, 8, 18, 144, 576, 4096, 20000};
  return std::min(bytes.size() - at, lengths[dice.below(lengths.size())]);
}

using Action = std::string (*)(std::string&, const std::vector<Original>&, Dice&);

std::string flip_bit(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t at = place(bytes, dice);
  bytes[at] = static_cast<char>(bytes[at] ^ 1 << dice.below(8));
  return fmt::format("bit flipped at {}", at);
}

std::string set_integer(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  constexpr std::array<std::uint64_t, 16> extremes = {0,
                                                      1,
                                                      2,
                                                      3,
                                                      0x7f,
                                                      0xff,
                                                      0x7fff,
                                                      0xffff,
                                                      0x7fffffff,
                                                      0x80000000,
                                                      0xffffffff,
                                                      0x100000000,
                                                      0x7ff0ull << 48,
                                                      1ull << 63,
                                                      ~0ull >> 1,
                                                      ~0ull};
  const std::uint64_t value = extremes[dice.below(extremes.size())];
  const std::size_t width = std::size_t(1) << dice.below(4);
  std::size_t at = place(bytes, dice);
  if (!dice.chance(3)) at -= at % width;
  const bool big = dice.chance(2);
  for (std::size_t n = 0; n < width && at + n < bytes.size(); ++n)
    bytes[at + n] = static_cast<char>(value >> 8 * (big ? width - 1 - n : n));
  return fmt::format("{:#x} in {} bytes at {}", value, width, at);
}

/// Decimal numbers within the head or tail, where formats have text.
std::vector<std::pair<std::size_t, std::size_t>> decimals(const std::string& bytes) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  const auto digit = [&](std::size_t n) { return std::isdigit(static_cast<unsigned char>(bytes[n])) != 0; };
  for (std::size_t at = 0; at < bytes.size();) {
    if (at == head_bytes && bytes.size() > head_bytes + tail_bytes) at = bytes.size() - tail_bytes;
    if (!digit(at)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < bytes.size() && digit(at)) ++at;
    found.emplace_back(begin, at - begin);
  }
  return found;
}

std::string set_decimal(std::string& bytes, const std::vector<Original>& others, Dice& dice) {
  constexpr std::array<const char*, 14> texts = {"0",          "-1", "3",   "4294967296", "18446744073709551616",
                                                 "2147483647", "",   "nan", "1e300",      "99999",
                                                 "-0",         "8",  "x",   "0x10"};
  const auto all = decimals(bytes);
  if (all.empty()) return flip_bit(bytes, others, dice);
  const auto [at, length] = all[dice.below(all.size())];
  std::string text = texts[dice.below(texts.size())];
  if (dice.chance(2)) text.resize(length, '9');  // containers count bytes: the same length
  bytes.replace(at, length, text);
  return fmt::format("'{}' for the number at {}", text, at);
}

std::string exchange_decimals(std::string& bytes, const std::vector<Original>& others, Dice& dice) {
  const auto all = decimals(bytes);
  if (all.size() < 2) return set_integer(bytes, others, dice);
  auto a = all[dice.below(all.size())], b = all[dice.below(all.size())];
  if (a.first > b.first) std::swap(a, b);
  if (a.first == b.first) return flip_bit(bytes, others, dice);
  const std::string first = bytes.substr(a.first, a.second), second = bytes.substr(b.first, b.second);
  bytes.replace(b.first, b.second, first);
  bytes.replace(a.first, a.second, second);
  return fmt::format("numbers at {} and {} exchanged", a.first, b.first);
}

/// Extents of binary heads stand side by side.
std::string exchange_words(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t words = std::min(bytes.size(), head_bytes) / 4;
  if (words < 2) return "";
  const std::size_t a = dice.below(dice.chance(2) ? std::min<std::size_t>(words, 8) : words);
  const std::size_t b = std::min(words - 1, a + 1 + dice.below(3));
  for (int n = 0; n < 4; ++n) std::swap(bytes[4 * a + n], bytes[4 * b + n]);
  return fmt::format("words {} and {} exchanged", a, b);
}

std::string truncate(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t size = place(bytes, dice);
  bytes.resize(size);
  return fmt::format("cut to {} bytes", size);
}

std::string extend(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t more = 1 + dice.below(dice.chance(2) ? 16 : 5000);
  if (dice.chance(2))
    bytes.append(more, static_cast<char>(dice.below(256)));
  else
    bytes += bytes.substr(0, more);
  return fmt::format("{} bytes appended", more);
}

std::string duplicate(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t from = place(bytes, dice), length = length_from(bytes, from, dice), to = place(bytes, dice);
  bytes.insert(to, bytes.substr(from, length));
  return fmt::format("{} bytes from {} inserted at {}", length, from, to);
}

std::string remove(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t at = place(bytes, dice), length = length_from(bytes, at, dice);
  bytes.erase(at, length);
  return fmt::format("{} bytes removed at {}", length, at);
}

/// Of the same file or of another, over what is there.
std::string splice(std::string& bytes, const std::vector<Original>& others, Dice& dice) {
  const std::string& donor = dice.chance(2) ? others[dice.below(others.size())].bytes : std::string(bytes);
  const std::size_t to = place(bytes, dice),
                    from = dice.chance(2) ? std::min(to, donor.size() - 1) : place(donor, dice);
  const std::size_t length = std::min(length_from(donor, from, dice), bytes.size() - to);
  bytes.replace(to, length, donor.substr(from, length));
  return fmt::format("{} bytes spliced in at {}", length, to);
}

std::string exchange(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  std::size_t a = place(bytes, dice), b = place(bytes, dice);
  if (a > b) std::swap(a, b);
  const std::size_t length = std::min(length_from(bytes, b, dice), b - a);
  std::swap_ranges(bytes.begin() + a, bytes.begin() + a + length, bytes.begin() + b);
  return fmt::format("{} bytes at {} and {} exchanged", length, a, b);
}

std::string fill(std::string& bytes, const std::vector<Original>&, Dice& dice) {
  const std::size_t at = place(bytes, dice), length = length_from(bytes, at, dice);
  const char value = dice.chance(2) ? '\0' : dice.chance(2) ? '\xff' : static_cast<char>(dice.below(256));
  std::fill_n(bytes.begin() + at, length, value);
  return fmt::format("{} bytes filled at {}", length, at);
}

constexpr std::array<Action, 15> actions = {flip_bit,
                                            flip_bit,
                                            set_integer,
                                            set_integer,
                                            set_decimal,
                                            set_decimal,
                                            exchange_decimals,
                                            exchange_words,
                                            truncate,
                                            extend,
                                            duplicate,
                                            remove,
                                            splice,
                                            exchange,
                                            fill};

}  // namespace

Mutant mutate(const Original& original, const std::vector<Original>& others, Dice& dice) {
  Mutant mutant{original.bytes, ""};
  const std::uint64_t changes = dice.chance(2) ? 1 : 1 + dice.below(4);
  for (std::uint64_t n = 0; n < changes && !mutant.bytes.empty(); ++n)
    mutant.history += (n > 0 ? ", " : "") + actions[dice.below(actions.size())](mutant.bytes, others, dice);
  if (original.packed) mutant.bytes = gzipped(mutant.bytes);
  return mutant;
}

}  // namespace quarksmith::fuzz
