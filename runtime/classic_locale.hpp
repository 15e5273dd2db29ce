/// \file
/// Calls of libraries that read and print numbers in the locale of C.
#pragma once

#include <clocale>

namespace quarksmith {

/// Sets the locale `C` for this thread as long as the object exists, so that strtod and printf use a decimal point.
/// Other threads, and the program afterwards, keep their locale.
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
