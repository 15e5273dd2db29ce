/// \file
/// An interpreter of the formulas and scalar programs in the registry, in plain complex double.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/reference/reference.hpp"

namespace formula {

using namespace quarksmith;

/// What a formula works on: spinor fields by their letters; coefficients, slots and named sums; all sums in order.
struct Environment {
  std::map<std::string, HostSpinor> field;
  std::map<std::string, Complex64> scalar;
  std::vector<double> sums;
};

/// Runs statements separated by `;`, which give numbers or fields their values.
void run(const std::string& statements, Environment& e);

}  // namespace formula
