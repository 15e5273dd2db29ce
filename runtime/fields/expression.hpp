/// \file
/// Calls of lattice expressions (generator/language): the typed functions of generated/expressions call these.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/fields/site_sums.hpp"

namespace quarksmith {

/// A direction of the lattice given to an expression: 0 to 3 for x, y, z, t.
struct LatticeDirection {
  int mu;
  /// The direction called `x`, `y`, `z` or `t`; nothing for another name.
  static std::optional<LatticeDirection> named(std::string_view name) {
    const std::size_t mu = name.size() == 1 ? std::string_view("xyzt").find(name) : std::string_view::npos;
    if (mu == std::string_view::npos) return std::nullopt;
    return LatticeDirection{static_cast<int>(mu)};
  }
};

/// A product of gamma matrices given to an expression: gamma_x^b0 gamma_y^b1 gamma_z^b2 gamma_t^b3, where b0 to b3 are
/// the bits of its number.
struct GammaProduct {
  int number;
};

/// A field that an expression writes.
class ExpressionOutput {
 public:
  ExpressionOutput(LinkField& links) : links_(&links) {}
  ExpressionOutput(SpinorField& spinors) : spinors_(&spinors) {}
  LinkField* links() const { return links_; }
  SpinorField* spinors() const { return spinors_; }

 private:
  LinkField* links_ = nullptr;
  SpinorField* spinors_ = nullptr;
};

/// A field, number or direction given to an expression.
class ExpressionArgument {
 public:
  ExpressionArgument(const LinkField& links) : value_(&links) {}
  ExpressionArgument(const SpinorField& spinors) : value_(&spinors) {}
  ExpressionArgument(double number) : value_(Complex64(number)) {}
  ExpressionArgument(Complex64 number) : value_(number) {}
  ExpressionArgument(LatticeDirection direction) : value_(direction) {}
  ExpressionArgument(GammaProduct gamma) : value_(gamma) {}
  ExpressionArgument(const ExpressionOutput& out) {
    if (out.links() != nullptr)
      value_ = out.links();
    else
      value_ = out.spinors();
  }

  const LinkField* links() const { return get<const LinkField*>(); }
  const SpinorField* spinors() const { return get<const SpinorField*>(); }
  bool is_number() const { return std::holds_alternative<Complex64>(value_); }
  Complex64 number() const { return std::get<Complex64>(value_); }
  const LatticeDirection* direction() const { return std::get_if<LatticeDirection>(&value_); }
  const GammaProduct* gamma() const { return std::get_if<GammaProduct>(&value_); }
  bool is_field() const { return links() != nullptr || spinors() != nullptr; }

 private:
  template <class T>
  T get() const {
    const T* found = std::get_if<T>(&value_);
    return found == nullptr ? nullptr : *found;
  }
  std::variant<const LinkField*, const SpinorField*, Complex64, LatticeDirection, GammaProduct> value_ = Complex64(0);
};

/// A parameter of an expression (field, number or direction), read from Kernel::signature.
struct ExpressionParameter {
  std::string_view name;
  /// spinor, fermion, propagator, staggered_propagator, links, matrices, algebra, scalars, phases, real, complex,
  /// direction, gamma
  std::string_view kind;
  std::string_view operand;  ///< member of Arguments; half the bits of Arguments::direction that are others'
  /// How the field is used. `out`: written; `some`: written in some directions; `apart`: read, and must not be one of
  /// the outputs; `each`: summed over right-hand sides by a kernel that writes matrices; `here`: only at the site
  /// itself.
  std::string_view flag;
  int flavours = 1;   ///< consecutive right-hand sides of spinors that belong together
  BorderDepth reach;  ///< how far from the site it is read
  bool is_number() const { return kind == "real" || kind == "complex"; }
  bool is_propagator() const { return kind == "propagator" || kind == "staggered_propagator"; }
  bool is_spinor() const { return kind == "spinor" || kind == "fermion" || is_propagator(); }
  bool is_direction() const { return kind == "direction"; }
  bool is_gamma() const { return kind == "gamma"; }
  bool is_field() const { return !is_number() && !is_direction() && !is_gamma(); }
  /// The storage in which a kernel expects this field of matrices or numbers.
  const StorageInfo& storage(const Kernel& kernel) const;
  bool is_output() const { return flag == "out" || flag == "some"; }
  bool reaches_beyond() const { return reach != BorderDepth{}; }
};
/// Settings of an evaluation besides its arguments.
struct ExpressionSettings {
  /// Phases of hops of fermions across the last slice of each direction.
  std::array<Complex64, directions> boundary{1, 1, 1, 1};
  std::string_view basis = "";  ///< in which spinors are, for expressions with matrices in spin
  bool largest = false;         ///< returns the largest |contribution| of a site to each sum, instead of the sums
};
/// Parameters of a kernel in the order of a call; valid as long as the program runs.
const std::vector<ExpressionParameter>& parameters_of(const Kernel& expression);

/// The arguments of a launch, which works on all sites; an expression with sums also needs `out` (SiteSums).
/// \param arguments inputs, then outputs.
/// \throws UsageError a field is not of the kind, lattice, precision or storage that the expression needs.
Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments);

/// Evaluates an expression at all sites; returns its sums over the lattice.
/// \param inputs fields, numbers and directions in the order of the expression's function; a spinor field of one
/// right-hand side serves for all of the others.
/// \param outputs fields that it writes.
///
/// On several ranks it is collective, with the same results as on one (in double the same bits): fields read at other
/// sites get a border from the neighbours (runtime/ranks/padded_lattice.hpp).
/// \throws MissingKernel this build has no such kernel for fields of this precision and storage.
/// \throws UsageError as expression_arguments.
/// \throws WrongLattice the local lattice is shorter than the expression reads.
std::vector<double> evaluate(std::string_view expression, std::span<const ExpressionArgument> inputs,
                             std::span<const ExpressionOutput> outputs, const ExpressionSettings& settings = {});
inline std::vector<double> evaluate(std::string_view expression, std::initializer_list<ExpressionArgument> inputs,
                                    std::initializer_list<ExpressionOutput> outputs = {},
                                    const ExpressionSettings& settings = {}) {
  return evaluate(expression, std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()),
                  settings);
}
/// The contribution of each site to the sums of an expression; arguments as for evaluate.
SiteSums site_sums(std::string_view expression, std::span<const ExpressionArgument> inputs,
                   std::span<const ExpressionOutput> outputs = {}, const ExpressionSettings& settings = {});
inline SiteSums site_sums(std::string_view expression, std::initializer_list<ExpressionArgument> inputs,
                          const ExpressionSettings& settings = {}) {
  return site_sums(expression, std::span(inputs.begin(), inputs.size()), {}, settings);
}
inline SiteSums site_sums(std::string_view expression, std::initializer_list<ExpressionArgument> inputs,
                          std::initializer_list<ExpressionOutput> outputs) {
  return site_sums(expression, std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()));
}
/// The depth of the halo that a call needs around the local lattice; and the union of two depths.
BorderDepth depth_of(std::span<const ExpressionParameter> parameters);
BorderDepth deeper(const BorderDepth& a, const BorderDepth& b);

/// The parameters of an expression in the order of a call, whatever its precision and storage.
/// \throws MissingKernel this build has no such kernel.
const std::vector<ExpressionParameter>& parameters_of(const Device& device, std::string_view expression);

}  // namespace quarksmith
