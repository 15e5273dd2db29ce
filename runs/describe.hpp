/// \file
/// Descriptions of runs: plain structs, and one table of the members of each. The table gives options of commands, keys
/// of RUN.toml, `name=value` of C, arguments of Python, checks, help, completions and the tables of docs/.
///
/// A description derives from Description and lists its members once:
///
///     struct SmearDescription : Description {
///       std::string kind;
///       double rho = 0.1;
///       void list(Members& m) override {
///         auto add = m.of(*this);
///         add("kind", kind, "stout, ape or hyp").required().among({"stout", "ape", "hyp"});
///         add("rho", rho, "of stout").only("kind stout", [this] { return kind == "stout" ? "" : "..."; });
///       }
///     };
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runs/value.hpp"
#include "runs/wording.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {

class Members;

/// An error in a value that a user gave: the member, and what is wrong with it.
class Refusal : public UsageError {
 public:
  enum class Kind { unknown, missing, twice, no_value, type, range, word, applies, contradicts };
  Refusal(Kind what, std::string name, int at, const std::string& message)
      : UsageError(message), kind(what), member(std::move(name)), line(at) {}

  Kind kind;
  std::string member;  ///< name of the member, such as `max_iterations`
  int line;            ///< of the file that gives the value; 0: no file does
};

/// The base of descriptions: knows which members were given, and how messages name them.
class Description {
 public:
  Description() = default;
  Description(const Description&) = delete;  // descriptions that consist of others keep pointers to these
  Description& operator=(const Description&) = delete;
  virtual ~Description() = default;
  /// Adds its members, in the order of help.
  virtual void list(Members& members) = 0;
  /// Checks values against each other, once all are set. \throws UsageError they contradict each other.
  virtual void check() {}

  bool given(std::string_view member) const { return given_.contains(member); }
  /// The name of a member in messages of its door.
  std::string called(std::string_view member) const { return wording.name(member); }
  std::string called(std::string_view member, std::string_view value) const { return wording.with(member, value); }
  /// \throws Refusal one of these members was given; the message is its name and `why`.
  void refuse_given(std::initializer_list<std::string_view> members, const std::string& why) const;
  /// \throws Refusal always; the message is the member's name and `why`.
  [[noreturn]] void refuse(Refusal::Kind kind, std::string_view member, const std::string& why) const;
  /// Makes a member count as given, not as a default.
  void mark_given(std::string_view member) { given_.emplace(member); }
  void forget_given() { given_.clear(); }

  Wording wording{Door::cpp, {}, {}};  ///< of the door that filled this; Door::cpp: no door did

 private:
  std::set<std::string, std::less<>> given_;
};

/// A member of a description.
class Member {
 public:
  /// Target of members that are not known at compile time, parameters of actions: texts by name.
  struct Text {
    std::map<std::string, std::string, std::less<>>* all;
    bool is_list;  ///< whether the text may hold several numbers
  };
  /// A list of integers. `each` not 0: of exactly so many; with `several` also a list of such lists, concatenated.
  struct Integers {
    std::vector<long long>* all;
    std::size_t each = 0;
    bool several = false;
  };
  using Texts = std::map<std::string, std::string>;  ///< a table of texts
  using Target = std::variant<bool*, int*, long long*, std::uint64_t*, double*, std::string*, std::filesystem::path*,
                              std::vector<std::string>*, std::vector<double>*, Text, Integers, Texts*>;

  Member(Description& owner, std::string name, Target target, std::string help);

  // --- what it is, each said where it is listed ---
  Member& required(bool is = true) { return required_ = is, *this; }
  /// Of commands: a word by its place, without a name.
  Member& positional() { return positional_ = true, *this; }
  /// Numbers between two bounds, which are allowed.
  Member& range(double lower, double upper) { return bound(lower, true, upper, true); }
  /// Numbers above a bound, which is not allowed.
  Member& above(double lower) { return bound(lower, false, upper_, false); }
  /// Numbers above one bound and below another, which are not allowed.
  Member& within(double lower, double upper) { return bound(lower, false, upper, false); }
  /// Numbers above one bound, which is not allowed, and up to another, which is.
  Member& up_to(double upper, double above = 0) { return bound(above, false, upper, true); }
  /// One of these; of lists and tables each value.
  Member& among(std::vector<std::string> words) { return words_ = std::move(words), *this; }
  Member& among(std::initializer_list<int> numbers) {
    words_.clear();
    for (const int n : numbers) words_.push_back(std::to_string(n));
    return *this;
  }
  /// Lists of at least so many values, and at most.
  Member& count(std::size_t least, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    return least_ = least, most_ = most, *this;
  }
  /// Looks at each value as text; what it throws is a refusal of this member.
  Member& parsed(std::function<void(const std::string& text)> check) { return check_ = std::move(check), *this; }
  /// Where it means something, in words for pages, and `why_not`, which is empty there, else the end of a message that
  /// begins with its name.
  Member& only(std::string where, std::function<std::string()> why_not) {
    return where_ = std::move(where), why_not_ = std::move(why_not), *this;
  }
  /// The default depends on other things, or there is none: it is not shown.
  Member& open() { return open_ = true, *this; }
  /// Beginnings of values that shells complete where there are no words(); `end` follows each: a colon before numbers.
  template <class Names>
  Member& offers(const Names& names, std::string_view end = "") {
    for (const auto& name : names) offered_.emplace_back(name).append(end);
    return *this;
  }
  /// What pages call its value, in the place of TEXT, FLOAT and the like.
  Member& type(std::string word) { return type_ = std::move(word), *this; }
  /// For tests and other programs: it stands on no page, and may be empty.
  Member& hidden() { return hidden_ = true, *this; }
  /// Keys of files that older runs did not have: what a file does not say is not part of what must be the same when a
  /// run goes on.
  Member& recent() { return recent_ = true, *this; }
  /// Paths start from a folder: that of the file which names them.
  Member& path() { return path_ = true, *this; }

  // --- reading ---
  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  bool is_required() const { return required_; }
  bool is_positional() const { return positional_; }
  bool is_hidden() const { return hidden_; }
  bool is_recent() const { return recent_; }
  bool is_path() const { return path_; }
  bool is_flag() const { return std::holds_alternative<bool*>(target_); }
  bool is_number() const;
  /// Whether it may be given several times, each time with one value.
  bool is_repeated() const { return std::holds_alternative<std::vector<std::string>*>(target_); }
  /// FLOAT, INT, UINT, TEXT, ...
  std::string type() const;
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& offered() const { return words_.empty() ? offered_ : words_; }
  const std::string& where() const { return where_; }
  /// Bounds, infinite where there are none, and whether numbers may reach them.
  double lower() const { return lower_; }
  double upper() const { return upper_; }
  bool lower_allowed() const { return lower_allowed_; }
  bool upper_allowed() const { return upper_allowed_; }
  /// The range in words, empty if there is none.
  std::string range_text() const;
  /// The default, as pages show it; empty: it is not shown.
  std::string shown_default() const { return open_ ? "" : initial_; }
  /// Its present value as text.
  std::string text() const;
  /// The present value, in a form for `set`; leaves a list empty.
  Value take();
  Description& owner() const { return *owner_; }
  /// Why the member cannot be used here; empty if it can.
  std::string why_not() const { return why_not_ ? why_not_() : ""; }

  /// \throws Refusal the value is of another kind than the member, or out of range.
  void set(const Value& value, const Wording& wording);

 private:
  Member& bound(double lower, bool lower_allowed, double upper, bool upper_allowed) {
    lower_ = lower, upper_ = upper, lower_allowed_ = lower_allowed, upper_allowed_ = upper_allowed;
    return *this;
  }
  [[noreturn]] void refuse(Refusal::Kind kind, const Value& value, const Wording& wording,
                           const std::string& message) const;
  double real(const Value& value, const Wording& wording) const;
  long long whole(const Value& value, const Wording& wording) const;
  std::uint64_t natural(const Value& value, const Wording& wording) const;
  std::string word(const Value& value, const Wording& wording) const;
  std::vector<long long> integers(const Integers& to, const Value& value, const Wording& wording) const;
  void require_range(double number, const Value& value, const Wording& wording) const;
  void require_count(std::size_t number, const Value& value, const Wording& wording) const;
  void require_word(const Value& value, const Wording& wording) const;
  [[noreturn]] void refuse_type(const Value& value, const Wording& wording) const;

  Description* owner_;
  std::string name_, help_, initial_, type_, where_;
  Target target_;
  double lower_ = -std::numeric_limits<double>::infinity(), upper_ = std::numeric_limits<double>::infinity();
  bool lower_allowed_ = true, upper_allowed_ = true, required_ = false, positional_ = false, open_ = false,
       hidden_ = false, recent_ = false, path_ = false;
  std::size_t least_ = 0, most_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> words_, offered_;
  std::function<void(const std::string&)> check_;
  std::function<std::string()> why_not_;
};

/// The members of a description and of those that it consists of.
class Members {
 public:
  /// Adds members of one description.
  class Adder {
   public:
    Adder(Members& members, Description& owner) : members_(members), owner_(owner) {}
    Member& operator()(std::string name, Member::Target target, std::string help) {
      return members_.all_.emplace_back(owner_, std::move(name), target, std::move(help));
    }
    template <class T>
    Member& operator()(std::string name, T& member, std::string help) {
      return (*this)(std::move(name), Member::Target(&member), std::move(help));
    }

   private:
    Members& members_;
    Description& owner_;
  };

  Adder of(Description& owner) {
    if (std::find(parts_.begin(), parts_.end(), &owner) == parts_.end()) parts_.push_back(&owner);
    return {*this, owner};
  }
  /// Removes members for which a door has no use: there they are unknown.
  void leave_out(std::initializer_list<std::string_view> names);

  Member* find(std::string_view name);
  std::vector<std::string> names() const;
  std::deque<Member>& all() { return all_; }
  const std::deque<Member>& all() const { return all_; }
  const std::vector<Description*>& parts() const { return parts_; }

 private:
  std::deque<Member> all_;
  std::vector<Description*> parts_;
};

/// All members of a description.
Members members_of(Description& description);

/// Sets and checks the members of a description: wrong values are reported before missing ones.
/// \param values by the names of members, with underscores.
/// \throws Refusal a name is unknown, a value of another kind, out of range, given twice or missing, or cannot be used
/// with the others; UsageError as Description::check.
void fill(Description& description, const Table& values, const Wording& wording);
/// Sets and checks members that were listed, perhaps of several descriptions. \throws as above.
void fill(Members& members, const Table& values, const Wording& wording);

}  // namespace quarksmith::runs
