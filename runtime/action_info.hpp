/// \file
/// The actions as generated: what C++ knows of a discretisation beside its kernels. The table is generated/actions.cpp,
/// from the statements in generator/actions.
#pragma once

#include <array>
#include <complex>
#include <limits>
#include <span>
#include <string_view>

#include "runtime/fields/lattice.hpp"
#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// A bound that is none.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A real parameter of an action.
struct ActionParameter {
  std::string_view name, help;
  std::string_view range;  ///< `a number from 0 to 1`; empty if it may be any
  double lower, upper;
  bool required;            ///< it has no default
  double fallback;          ///< its value where none is given
  bool several = false;     ///< a run takes several values: masses of one Krylov space
  bool each_slice = false;  ///< it may differ from slice to slice of a fifth dimension, and be complex
};

/// A number of an action for the values of its parameters, in the order of ActionInfo::parameters.
using ActionNumber = double (*)(const double* values);
/// The same of an action with a fifth dimension, whose parameters may be complex and differ from slice to slice.
using SliceValue = std::complex<double>;
using SliceNumber = SliceValue (*)(const SliceValue* values);

/// An operand of a kernel that makes links; fields count from 0, that which is read.
struct LinkOperand {
  enum class Kind { none, field, number, direction } kind = Kind::none;
  int n = 0;  ///< of the stage's fields, of ActionInfo::link_numbers, or 0 to 3
};
/// A call of an expression.
struct LinkStep {
  std::string_view expression;
  std::array<LinkOperand, 8> operands;
};
/// What is made from one field: number 1 and, in the last stage, the long links, number 2.
struct LinkStage {
  std::span<const LinkStep> steps;
  int fields;         ///< that are in use at a time, the one that is read included
  Coordinates reach;  ///< sites on either side from which it is read
  bool project;       ///< what is made is projected on U(3) for the next stage
};

/// M psi as a sum over paths of links: N_0 and what stands at x, for fields N_n = end_n psi + what steps bring.
/// Factors of 1, gamma_x, gamma_y, gamma_z, gamma_t.
using PathEnd = std::array<double, 5>;
/// U_mu(x) N_to(x + mu) in N_from(x), or, where it is negative, U_mu(x - mu)^+ N_to(x - mu): step = +-(mu + 1).
struct PathStep {
  int from, to, step;
};

/// Another way to give parameters: an option with numbers of which they are functions.
struct ActionSpelling {
  std::string_view name, help;
  std::string_view range;  ///< of each number
  double lower, upper;
  std::string_view numbers;  ///< their names, separated by commas
  /// What it gives; those without a name are none.
  struct Given {
    std::string_view parameter;
    ActionNumber number = nullptr;
  };
  std::array<Given, 2> gives;
};

/// An action. Of hopping shape M = T + h D: D the normalised hops of a kernel, T diagonal + i twist gamma_5 (tau_3) +
/// splitting tau_1 - (1/2) sum_{mu<nu} c_munu sigma_munu F_munu. With a fifth dimension M = (alpha + beta R) + h D (b +
/// c R), R the step along it (docs/operator-domain-wall.md). Numbers that an action does not have are null.
struct ActionInfo {
  std::string_view name;
  std::string_view text;     ///< what it is, in one line
  std::string_view formula;  ///< M, as stated
  int spins;                 ///< colour vectors a site
  std::span<const ActionParameter> parameters;
  std::span<const ActionSpelling> spellings = {};
  std::string_view extends = "";  ///< action that means this one where its parameters are given
  bool offered = true;            ///< commands can make it: its links follow from a gauge field

  std::string_view hopping = "";        ///< operator of kernels of D; empty: M is not of hopping shape
  std::string_view conjugate = "";      ///< operator of kernels of M^+ where that of M is the action's name
  std::string_view with_term = "";      ///< operator of kernels with T in their epilogue
  std::string_view apply_inverse = "";  ///< operator of kernels that apply T^-1 alone
  std::string_view chain = "";          ///< operator along the fifth dimension; empty without one
  int flavours = 1;                     ///< that T mixes or tells apart
  int reach = 1;                        ///< sites of the longest hop
  unsigned directed = 0;        ///< bits of the directions in which forward and backward hops have weights that differ
  bool has_basis = true;        ///< hops have spin matrices
  bool anti_hermitian = false;  ///< D^+ = -D
  double h = 1;
  ActionNumber diagonal = nullptr, twist = nullptr, splitting = nullptr;
  ActionNumber clover_space = nullptr, clover_time = nullptr;
  SliceNumber alpha = nullptr, beta = nullptr, b = nullptr, c = nullptr;
  SliceNumber wall = nullptr;                   ///< factor of what comes from beyond the ends of the fifth dimension
  std::span<const LinkStage> link_stages = {};  ///< how its links are made; empty if they are those of the gauge field
  std::span<const ActionNumber> link_numbers = {};
  std::span<const ActionNumber> arguments = {};  ///< of a formula: numbers that its kernels take, in their order
  /// The same of the force of its hops, after the weight.
  std::span<const ActionNumber> force_arguments = {};
  /// Of a formula whose force goes along its paths, field by field; in the order in which those are read.
  std::span<const PathEnd> path_ends = {};
  std::span<const PathStep> path_steps = {};
  ActionNumber weight[directions][2] = {};  ///< of forward and backward hops of D
};

/// All actions that can be solved for.
std::span<const ActionInfo> actions();

}  // namespace quarksmith
