/// \file
/// Calls of libraries that read and print numbers by the locale of C.
#pragma once

#include <clocale>

namespace quarksmith {

/// While it lives, this thread has the locale `C`, whatever the program has set: strtod and printf use a point. Other
/// threads, and the program after it, keep theirs.
class ClassicLocale {
 public:
  ClassicLocale() : before_(uselocale(classic())) {}
  ~ClassicLocale() { uselocale(before_); }
  ClassicLocale(const ClassicLocale&) = delete;
  ClassicLocale& operator=(const ClassicLocale&) = delete;

 private:
  static locale_t classic() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    return made;
  }
  locale_t before_;
};

}  // namespace quarksmith
