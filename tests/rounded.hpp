/// \file
/// Links as a file in 32 bits holds them.
#pragma once

#include "runtime/fields/field.hpp"

namespace support {

inline quarksmith::HostGauge rounded(quarksmith::HostGauge gauge) {
  // GCC 12 drops the conversion there and back where it vectorises the loop.
  const auto single = [](double x) {
    volatile float stored = static_cast<float>(x);
    return static_cast<double>(stored);
  };
  for (auto& site : gauge.site)
    for (quarksmith::Matrix3& u : site)
      for (quarksmith::Complex64& z : u) z = {single(z.real()), single(z.imag())};
  return gauge;
}

}  // namespace support
