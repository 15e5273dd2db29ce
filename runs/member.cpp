// A member of a description: what it is, and how it takes a value.
#include "runs/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

/// A number with as many digits as it needs to be read back.
std::string text_of_number(double x) { return fmt::format("{}", x); }

/// `a, b or c`
std::string one_of_words(const std::vector<std::string>& words) {
  return one_of(std::vector<std::string_view>(words.begin(), words.end()));
}

/// The number that the whole text is.
template <class T>
std::optional<T> number_in(const std::string& text) {
  T found{};
  const char *begin = text.data() + (text.starts_with('+') ? 1 : 0), *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, found);
  return error == std::errc() && rest == end ? std::optional(found) : std::nullopt;
}

}  // namespace

Member::Member(Description& owner, std::string name, Target target, std::string help)
    : owner_(&owner), name_(std::move(name)), help_(std::move(help)), target_(target) {
  initial_ = text();
}

bool Member::is_number() const {
  return std::holds_alternative<int*>(target_) || std::holds_alternative<long long*>(target_) ||
         std::holds_alternative<std::uint64_t*>(target_) || std::holds_alternative<double*>(target_);
}

std::string Member::type() const {
  if (!type_.empty()) return type_;
  struct {
    std::string operator()(bool*) const { return ""; }
    std::string operator()(int*) const { return "INT"; }
    std::string operator()(long long*) const { return "INT"; }
    std::string operator()(std::uint64_t*) const { return "UINT"; }
    std::string operator()(double*) const { return "FLOAT"; }
    std::string operator()(const Text& t) const { return t.is_list ? "TEXT" : "FLOAT"; }
    std::string operator()(const Integers&) const { return "INT,..."; }
    std::string operator()(const void*) const { return "TEXT"; }
  } const name;
  return std::visit(name, target_);
}

std::string Member::range_text() const {
  const bool low = std::isfinite(lower_), high = std::isfinite(upper_);
  if (!low) return "";
  if (!high) return fmt::format("{} {:g}", lower_allowed_ ? "at least" : "above", lower_);
  if (lower_allowed_) return fmt::format("{:g} to {:g}", lower_, upper_);
  return fmt::format("above {:g}, {} {:g}", lower_, upper_allowed_ ? "up to" : "below", upper_);
}

std::string Member::text() const {
  return std::visit(
      [this]<class T>(const T& to) -> std::string {
        if constexpr (std::is_same_v<T, Text>) {
          const auto found = to.all->find(name_);
          return found == to.all->end() ? "" : found->second;
        } else if constexpr (std::is_same_v<T, bool*>) {
          return *to ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double*>) {
          return text_of_number(*to);
        } else if constexpr (std::is_same_v<T, std::string*>) {
          return *to;
        } else if constexpr (std::is_same_v<T, std::filesystem::path*>) {
          return to->string();
        } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
          return fmt::format("{}", fmt::join(*to, ","));
        } else if constexpr (std::is_same_v<T, std::vector<double>*>) {
          return fmt::format("[{}]", fmt::join(*to, ", "));
        } else if constexpr (std::is_same_v<T, Integers>) {
          if (to.each == 0) return fmt::format("[{}]", fmt::join(*to.all, ", "));
          std::vector<std::string> lists;
          for (auto n = to.all->begin(); n != to.all->end(); n += static_cast<std::ptrdiff_t>(to.each))
            lists.push_back(fmt::format("[{}]", fmt::join(n, n + static_cast<std::ptrdiff_t>(to.each), ", ")));
          return fmt::format("[{}]", fmt::join(lists, ", "));
        } else if constexpr (std::is_same_v<T, Texts*>) {
          return "";
        } else {
          return fmt::format("{}", *to);
        }
      },
      target_);
}

Value Member::take() {
  if (auto* const* on = std::get_if<bool*>(&target_)) return {**on};
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&target_)) {
    std::vector<Value> all;
    for (std::string& one : std::exchange(**list, {})) all.push_back({Word{std::move(one)}});
    return {std::move(all)};
  }
  return {Word{text()}};
}

void Member::refuse(Refusal::Kind kind, const Value& value, const Wording& wording, const std::string& message) const {
  throw Refusal(kind, name_, value.line, wording.message(value.line, message, true));
}

void Member::refuse_type(const Value& value, const Wording& wording) const {
  const bool is_whole = is_number() && !std::holds_alternative<double*>(target_);
  const auto* list = std::get_if<Integers>(&target_);
  const auto* text = std::get_if<Text>(&target_);
  const std::string kind = is_flag()                                                  ? "true or false"
                           : is_whole                                                 ? "a whole number"
                           : type() == "FLOAT" || (text != nullptr && words_.empty()) ? "a number"
                           : std::holds_alternative<Texts*>(target_)                  ? "a table of texts"
                           : std::holds_alternative<std::vector<double>*>(target_)    ? "a list of numbers"
                           : list == nullptr                                          ? "a text"
                           : list->each == 0                                          ? "a list of whole numbers"
                                             : fmt::format("a list of {} whole numbers", list->each);
  refuse(Refusal::Kind::type, value, wording,
         fmt::format("{}: '{}' is not {}", wording.name(name_),
                     std::holds_alternative<Table>(value.value) ? "a table" : printable(word_of(value)), kind));
}

double Member::real(const Value& value, const Wording& wording) const {
  double number = 0;
  if (const auto* x = std::get_if<double>(&value.value)) {
    number = *x;
  } else if (const auto* n = std::get_if<long long>(&value.value)) {
    number = static_cast<double>(*n);
  } else if (const auto* word = std::get_if<Word>(&value.value)) {
    const auto found = number_in<double>(word->text);
    if (!found) refuse_type(value, wording);
    number = *found;
  } else {
    refuse_type(value, wording);
  }
  if (!std::isfinite(number))
    refuse(Refusal::Kind::type, value, wording,
           fmt::format("{}: {} is not a finite number", wording.name(name_), word_of(value)));
  return number;
}

long long Member::whole(const Value& value, const Wording& wording) const {
  if (const auto* n = std::get_if<long long>(&value.value)) return *n;
  const auto* word = std::get_if<Word>(&value.value);
  const auto found = word != nullptr ? number_in<long long>(word->text) : std::nullopt;
  if (!found) refuse_type(value, wording);
  return *found;
}

std::uint64_t Member::natural(const Value& value, const Wording& wording) const {
  const bool is_text = std::holds_alternative<std::string>(value.value);  // TOML's own numbers have 63 bits
  if (!is_text && !std::holds_alternative<Word>(value.value) && !std::holds_alternative<long long>(value.value))
    refuse_type(value, wording);
  const std::string text = word_of(value);
  if (const auto found = number_in<std::uint64_t>(text)) return *found;
  if (text.starts_with('-') && text.find_first_not_of("0123456789", 1) == std::string::npos)
    refuse(Refusal::Kind::range, value, wording, fmt::format("{}: {} is negative", wording.name(name_), text));
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
    refuse(Refusal::Kind::range, value, wording,
           fmt::format("{}: {} has more than 64 bits; use a number up to {}", wording.name(name_), text,
                       std::numeric_limits<std::uint64_t>::max()));
  refuse_type(value, wording);
}

std::string Member::word(const Value& value, const Wording& wording) const {
  if (std::holds_alternative<Table>(value.value) || std::holds_alternative<bool>(value.value))
    refuse_type(value, wording);
  return word_of(value);
}

void Member::require_range(double number, const Value& value, const Wording& wording) const {
  const bool above = lower_allowed_ ? number >= lower_ : number > lower_,
             below = upper_allowed_ ? number <= upper_ : number < upper_;
  if (above && below) return;
  const std::string said = fmt::format("{}: {}", wording.name(name_), word_of(value));
  const bool high = std::isfinite(upper_);
  refuse(Refusal::Kind::range, value, wording,
         high && lower_allowed_ ? fmt::format("{} is not in the range {} to {}", said, lower_, upper_)
         : high                 ? fmt::format("{}; use a number {}", said,
                              upper_allowed_ ? range_text() : fmt::format("between {} and {}", lower_, upper_))
                : fmt::format("{} is too small; use a number {} {}", said, lower_allowed_ ? "of at least" : "above",
                              lower_));
}

void Member::require_count(std::size_t number, const Value& value, const Wording& wording) const {
  if (number >= least_ && number <= most_) return;
  refuse(Refusal::Kind::range, value, wording,
         fmt::format("{} has {} values; give it {}{}", wording.name(name_), number, least_ == most_ ? "" : "at least ",
                     least_));
}

void Member::require_word(const Value& value, const Wording& wording) const {
  const std::string said = word_of(value);
  if (!words_.empty() && std::find(words_.begin(), words_.end(), said) == words_.end())
    refuse(Refusal::Kind::word, value, wording,
           fmt::format("{} '{}' is unknown; {}use {}", wording.name(name_), printable(said), suggestion(said, words_),
                       one_of_words(words_)));
  if (check_) try {
      check_(said);
    } catch (const UsageError& error) {
      if (dynamic_cast<const UnknownName*>(&error) != nullptr && wording.door != Door::toml) throw;
      if (wording.door != Door::toml) throw Refusal(Refusal::Kind::type, name_, value.line, error.what());
      const std::string what = error.what();
      refuse(Refusal::Kind::type, value, wording, what.starts_with(name_) ? what : name_ + ": " + what);
    }
}

std::vector<long long> Member::integers(const Integers& to, const Value& value, const Wording& wording) const {
  using List = std::vector<Value>;
  const auto list_in = [&](const Value& v) -> const List& {
    const auto* list = std::get_if<List>(&v.value);
    if (list == nullptr) refuse_type(value, wording);
    return *list;
  };
  const List& given = list_in(value);
  const bool nested = to.each > 0 && !given.empty() && std::holds_alternative<List>(given[0].value);
  if (nested && given.size() > 1 && !to.several) refuse_type(value, wording);
  std::vector<long long> all;
  for (const Value& list : nested ? given : List{value}) {
    if (to.each > 0 && list_in(list).size() != to.each) refuse_type(value, wording);
    for (const Value& one : list_in(list)) {
      const auto* x = std::get_if<double>(&one.value);
      const bool is_whole = x != nullptr && *x == std::round(*x) && std::abs(*x) < 0x1p53;
      if (x != nullptr ? !is_whole : !std::holds_alternative<long long>(one.value))
        refuse(Refusal::Kind::type, value, wording,
               fmt::format("{}: '{}' is not a whole number", wording.name(name_), printable(word_of(one))));
      all.push_back(x != nullptr ? std::llround(*x) : std::get<long long>(one.value));
      require_range(static_cast<double>(all.back()), one, wording);
    }
  }
  return all;
}

namespace {

/// Those of a list, NAME=VALUE of a table, or the one that it is.
std::vector<Value> values_in(const Value& value) {
  if (const auto* list = std::get_if<std::vector<Value>>(&value.value)) return *list;
  const auto* table = std::get_if<Table>(&value.value);
  if (table == nullptr) return {value};
  std::vector<Value> all;
  for (const auto& [key, one] : table->entries) all.push_back({key + "=" + word_of(one), one.line});
  return all;
}

/// \throws Refusal a text is empty.
void require_contents(const std::string& name, const Value& value, const Wording& wording) {
  for (const Value& one : values_in(value)) {
    const auto* word = std::get_if<Word>(&one.value);
    const auto* text = std::get_if<std::string>(&one.value);
    if (word != nullptr ? !word->text.empty() : text == nullptr || !text->empty()) continue;
    const std::string message = fmt::format("{} is empty; give it a value, or leave it out", wording.name(name));
    throw Refusal(Refusal::Kind::no_value, name, one.line, wording.message(one.line, message, true));
  }
}

}  // namespace

void Member::set(const Value& value, const Wording& wording) {
  if (!is_flag() && !is_hidden()) require_contents(name_, value, wording);
  std::visit(
      [&]<class T>(const T& to) {
        if constexpr (std::is_same_v<T, bool*>) {
          const auto* on = std::get_if<bool>(&value.value);
          if (on == nullptr) refuse_type(value, wording);
          *to = *on;
        } else if constexpr (std::is_same_v<T, double*>) {
          const double x = real(value, wording);
          require_range(x, value, wording);
          *to = x;
        } else if constexpr (std::is_same_v<T, std::uint64_t*>) {
          const std::uint64_t n = natural(value, wording);
          require_range(static_cast<double>(n), value, wording);
          *to = n;
        } else if constexpr (std::is_same_v<T, int*> || std::is_same_v<T, long long*>) {
          const long long n = whole(value, wording);
          require_range(static_cast<double>(n), value, wording);
          using Number = std::remove_pointer_t<T>;
          if (n < std::numeric_limits<Number>::min() || n > std::numeric_limits<Number>::max())
            refuse(Refusal::Kind::range, value, wording, fmt::format("{}: {} is out of range", wording.name(name_), n));
          *to = static_cast<Number>(n);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
          if (!owner_->given(name_)) to->clear();
          for (const Value& one : values_in(value)) to->push_back(word(one, wording));
          require_count(to->size(), value, wording);
        } else if constexpr (std::is_same_v<T, std::vector<double>*>) {
          const auto* list = std::get_if<std::vector<Value>>(&value.value);
          if (list == nullptr) refuse_type(value, wording);
          to->clear();
          for (const Value& one : *list) {
            to->push_back(real(one, wording));
            require_range(to->back(), one, wording);
          }
          require_count(to->size(), value, wording);
        } else if constexpr (std::is_same_v<T, Integers>) {
          *to.all = integers(to, value, wording);
          require_count(to.all->size(), value, wording);
        } else if constexpr (std::is_same_v<T, Texts*>) {
          const auto* table = std::get_if<Table>(&value.value);
          if (table == nullptr) refuse_type(value, wording);
          for (const auto& [key, one] : table->entries) (*to)[key] = word(one, wording);
          require_count(to->size(), value, wording);
        } else if constexpr (std::is_same_v<T, Text>) {
          const bool as_is = to.is_list || wording.door == Door::toml;
          (*to.all)[name_] = as_is ? word(value, wording) : text_of_number(real(value, wording));
          if (const auto* given = std::get_if<Word>(&value.value)) (*to.all)[name_] = given->text;
        } else {
          *to = word(value, wording);
        }
      },
      target_);
  if (const auto* list = std::get_if<std::vector<Value>>(&value.value); list != nullptr && is_repeated())
    for (const Value& one : *list) require_word(one, wording);
  else if (const auto* table = std::get_if<Table>(&value.value))
    for (const auto& [key, one] : table->entries) require_word(one, wording);
  else if (!std::holds_alternative<Integers>(target_) && !std::holds_alternative<std::vector<double>*>(target_))
    require_word(value, wording);
}

}  // namespace quarksmith::runs
