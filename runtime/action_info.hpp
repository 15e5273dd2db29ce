/// \file
/// The actions as generated: what C++ knows of a discretisation besides its kernels. The table is
/// generated/actions.cpp, from the statements in generator/actions.
#pragma once

#include <array>
#include <complex>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// The bound of a parameter that is not bounded.
inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A parameter of an action.
struct ActionParameter {
  std::string_view name, help;
  std::string_view range;   ///< `a number from 0 to 1`; empty if it may be any
  double lower, upper;      ///< of its real part
  bool required;            ///< it has no default
  double fallback;          ///< its value where none is given
  bool several = false;     ///< a run takes several values: masses of one Krylov space
  bool each_slice = false;  ///< it may differ from slice to slice of a fifth dimension, and be complex
  bool complex = false;
};

/// A number of an action as a function of the values of its parameters, in their order; real for real values, or
/// complex. Empty if the action does not have it.
class ActionNumber {
 public:
  using Value = std::complex<double>;
  using Real = double (*)(const double* values);
  using Complex = Value (*)(const Value* values);

  constexpr ActionNumber() = default;
  constexpr ActionNumber(Real f) : real_(f) {}
  constexpr ActionNumber(Complex f) : complex_(f) {}
  constexpr explicit operator bool() const { return real_ != nullptr || complex_ != nullptr; }
  Value operator()(const double* reals, const Value* values) const {
    return real_ != nullptr ? real_(reals) : complex_ != nullptr ? complex_(values) : 0;
  }

 private:
  Real real_ = nullptr;
  Complex complex_ = nullptr;
};

/// A number of an action with the name of the kernel's argument.
struct NamedNumber {
  std::string_view name;
  ActionNumber number;
};

/// Origin of a field of a statement: the links of a configuration, the caller, or the statement itself.
enum class Origin { gauge, given, made };

/// A field of a statement besides the fermion.
struct ActionField {
  std::string_view name;
  std::string_view kind;  ///< links, matrices, scalars, phases, spinor
  Origin origin;
  bool moves = false;    ///< whether it depends on the links of a configuration
  unsigned slots = 0xf;  ///< bits of the directions that have a matrix
  bool kept = false;     ///< whether it is made once and kept; other made fields are only steps on the way to kept ones
  /// Group of the matrices, if kernels of M read them: `SU(3)`, `U(3)` (times a number), or `any`.
  std::string_view group = "";
};

/// A short list of numbers of fields or directions of a launch.
class Places {
 public:
  constexpr Places(std::initializer_list<int> places) {
    for (const int place : places) values_[count_++] = static_cast<signed char>(place);
  }
  constexpr int size() const { return count_; }
  constexpr int operator[](int n) const { return values_[n]; }

 private:
  std::array<signed char, 8> values_{};
  signed char count_ = 0;
};

/// A term of a field that a statement makes: weight times a core, which kernels set_, add_, keep_ and back_ with this
/// name evaluate (generator/operators/programs.py). Fields are numbers of ActionInfo::fields.
struct LinkLaunch {
  enum How { sets, adds };
  std::string_view core;
  How how;        ///< whether it begins a sum
  int field;      ///< field to which the term is added
  int direction;  ///< of the matrix; -1: all four
  int weight;     ///< of ActionInfo::numbers; -1: 1
  Places operands, numbers, directions;
  int kept = -1;          ///< field that receives the core without weight as well; -1: none
  bool kicks = false;     ///< kernel force_ of this name gives the force of its loops of links
  bool projects = false;  ///< it is the projection of its operand on U(3)

  constexpr bool reads(int number) const {
    for (int k = 0; k < operands.size(); ++k)
      if (operands[k] == number) return true;
    return false;
  }
  constexpr bool writes(int number) const { return field == number || kept == number; }
};

/// The launches that make further kept fields from those of earlier stages.
struct LinkStage {
  std::span<const LinkLaunch> launches;
  std::array<int, directions> reach;  ///< sites on either side from which fields are read
};

/// M psi as a sum over paths of links is N_0 plus terms at x, with fields N_n = end_n psi + sum of steps to n. A
/// PathEnd has the coefficients of 1, gamma_x, gamma_y, gamma_z, gamma_t in end_n.
using PathEnd = std::array<double, 5>;
/// A step adds U_mu(x) N_to(x + mu) to N_from(x), or if it is negative U_mu(x - mu)^+ N_to(x - mu); step = +-(mu + 1).
struct PathStep {
  int from, to, step;
};

/// An alternative parameter: an option whose numbers determine other parameters.
struct ActionAlternative {
  std::string_view name, help;
  std::string_view range;  ///< of each number
  double lower, upper;
  std::string_view numbers;  ///< their names, separated by commas
  /// Parameters that it determines; unused entries have no name.
  std::array<NamedNumber, 2> gives;
};

/// A constant part of a site term that has no other form: a number times a matrix, flavour outside spin, in the
/// DeGrand-Rossi basis, by the elements that are not zero.
struct ConstantPart {
  struct Element {
    int row, column;
    std::complex<double> value;
  };
  ActionNumber number;
  std::array<Element, 64> elements;
};

/// A part of a site term that is made of fields: a number times a matrix in spin times a matrix of a field.
struct SiteBlock {
  ActionNumber number;
  int field, direction;
};

/// An action. Of hopping shape M = T + h D: D the normalised hops of a kernel, T diagonal + i twist gamma_5 (tau_3) +
/// splitting tau_1 + blocks, or + exponential exp(blocks), or any constant matrix. With a fifth dimension M = (alpha +
/// beta R) + h D (b + c R), R the step along it (docs/operator-domain-wall.md). A smearing has no M: it makes links.
struct ActionInfo {
  std::string_view name;
  std::string_view text;          ///< what it is, in one line
  std::string_view formula = "";  ///< M, as stated
  std::string_view digest = "";   ///< of what is stated; empty: an action of the library, as it was released
  std::span<const ActionParameter> parameters = {};
  std::span<const ActionAlternative> alternatives = {};
  std::string_view extends = "";  ///< action that is replaced by this one if parameters of this one are given
  int spins = 0;                  ///< colour vectors a site
  int flavours = 1;               ///< number of flavours that M mixes or distinguishes
  /// Bits of the parameters that change sign in gamma_5 M^+ gamma_5, where complex ones are conjugated. -1: this is not
  /// M with other values of the parameters, or not known to be.
  int negated = -1;

  std::span<const ActionField> fields = {};  ///< those of the caller before those that are made
  std::span<const LinkStage> stages = {};    ///< launches that make fields, in order
  std::span<const ActionNumber> numbers = {};

  std::string_view matrix = "";                 ///< operator of its own kernels of M; empty: the action's name
  std::string_view conjugate = "";              ///< operator of kernels of M^+, next to those of M
  std::span<const NamedNumber> arguments = {};  ///< that these kernels take
  std::span<const PathEnd> path_ends = {};      ///< where the force goes along the paths of M, in the order in which
  std::span<const PathStep> path_steps = {};    ///< they are read

  std::string_view hopping = "";        ///< operator of kernels of D; empty: M is not of hopping shape
  std::string_view with_term = "";      ///< operator of kernels with T in their epilogue
  std::string_view apply_inverse = "";  ///< operator of kernels that apply T^-1 alone
  std::string_view chain = "";          ///< operator along the fifth dimension; empty without one
  int reach = 1;                        ///< sites of the longest hop
  unsigned directed = 0;        ///< bits of the directions in which forward and backward hops have weights that differ
  bool has_basis = true;        ///< hops have spin matrices
  bool anti_hermitian = false;  ///< D^+ = -D
  double h = 1;
  std::array<int, 2> links{};  ///< fields whose links hops of each length take, the shortest first
  bool turns = false;  ///< whether a change of the configuration's links in SU(3) multiplies links of hops by elements
                       ///< of SU(3) too
  ActionNumber weight[directions][2] = {};  ///< of forward and backward hops of D
  ActionNumber diagonal = {}, twist = {}, splitting = {};
  /// Parts of T as a constant matrix, instead of diagonal, twist and splitting.
  std::span<const ConstantPart> constant = {};
  std::string_view blocks_of = "";  ///< kernels term_ and source_ of this name are those of the blocks
  std::span<const SiteBlock> blocks = {};
  ActionNumber exponential = {};
  ActionNumber alpha = {}, beta = {}, b = {}, c = {};
  ActionNumber wall = {};  ///< factor of hops across the ends of the fifth dimension

  bool has_hops() const { return !hopping.empty(); }
  std::string_view own_kernels() const { return matrix.empty() ? name : matrix; }
};

/// A statement that the generator refused, with the reason.
struct RefusedAction {
  std::string_view name, why;
};

/// The contents of a compiled library of actions (generator/emit/actions_module.py).
struct ActionModule {
  /// Changes with the records; a library of another layout is refused.
  static constexpr int current_layout =
      int((sizeof(ActionInfo) * 64 + sizeof(LinkLaunch)) * 64 + sizeof(ActionParameter));
  int layout;
  std::span<const ActionInfo> actions;
};

/// All actions, built in and added. Tables that were returned earlier stay valid.
std::span<const ActionInfo> actions();
/// Actions of generated/actions.cpp.
std::span<const ActionInfo> built_actions();
/// Adds the actions of a library; each replaces an earlier added one of the same name.
/// \throws Error the library has been changed since it was built, is of another version, or has an action with a
/// built-in name.
void add_actions(const std::string& file);
/// Statements of smearings, which make links from those of a configuration.
std::span<const ActionInfo> stated_smearings();
/// Statements that the generator refused, with its message.
std::span<const RefusedAction> refused_actions();

}  // namespace quarksmith
