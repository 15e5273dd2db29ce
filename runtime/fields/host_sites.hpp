/// \file
/// Numbers of the sites of a field on the host.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <vector>

namespace quarksmith {

using Complex64 = std::complex<double>;

/// A Dirac spinor at one site: 4 spins x 3 colours, colour fastest.
using HostSite = std::array<Complex64, 12>;
/// A 3x3 matrix, row by row.
using Matrix3 = std::array<Complex64, 9>;

/// \throws UsageError always: it names how many numbers a site has, and how many it would have with three colours.
[[noreturn]] void throw_not_three(std::size_t each, std::size_t of_three);

/// With all threads.
void set_zero(Complex64* numbers, std::size_t count);
void copy_numbers(const Complex64* from, Complex64* to, std::size_t count);

/// Memory that is first touched by the threads that fill it.
template <class T>
struct Untouched : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Untouched<U>;
  };
  template <class U>
  void construct(U*) {}
  template <class U, class... From>
  void construct(U* at, From&&... from) {
    ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
  }
};

/// What a field of any number of colours has at each site, as complex numbers one after the other; where there are
/// three colours, as values of type Three.
template <class Three>
class HostSites {
 public:
  HostSites(std::size_t sites, std::size_t each) : each_(each), numbers_(sites * each) { clear(); }
  HostSites(const HostSites& other) : each_(other.each_), numbers_(other.numbers_.size()) {
    copy_numbers(other.numbers_.data(), numbers_.data(), numbers_.size());
  }
  HostSites(HostSites&&) = default;
  HostSites& operator=(HostSites other) {
    each_ = other.each_;
    numbers_ = std::move(other.numbers_);
    return *this;
  }
  std::size_t size() const { return numbers_.size() / each_; }
  /// Complex numbers of a site.
  std::size_t each() const { return each_; }
  Complex64* at(std::size_t site) { return numbers_.data() + site * each_; }
  const Complex64* at(std::size_t site) const { return numbers_.data() + site * each_; }
  /// \throws UsageError there are not three colours.
  Three& operator[](std::size_t site) { return begin()[site]; }
  const Three& operator[](std::size_t site) const { return begin()[site]; }
  Three* begin() { return reinterpret_cast<Three*>(checked()); }
  Three* end() { return begin() + size(); }
  const Three* begin() const { return reinterpret_cast<const Three*>(const_cast<HostSites*>(this)->checked()); }
  const Three* end() const { return begin() + size(); }
  Three* data() { return begin(); }
  const Three* data() const { return begin(); }
  void clear() { set_zero(numbers_.data(), numbers_.size()); }
  friend bool operator==(const HostSites&, const HostSites&) = default;

 private:
  Complex64* checked() {
    if (each_ * sizeof(Complex64) != sizeof(Three)) throw_not_three(each_, sizeof(Three) / sizeof(Complex64));
    return numbers_.data();
  }
  std::size_t each_;
  std::vector<Complex64, Untouched<Complex64>> numbers_;
};

}  // namespace quarksmith
