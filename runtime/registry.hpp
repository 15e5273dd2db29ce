/// \file
/// Tables of what has been generated: kernels, precisions, bases. They are defined in generated/.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/kernels/arguments.hpp"
#include "runtime/target.hpp"

namespace quarksmith {

/// What a hopping kernel does with D psi before it writes. Names and formulas: generator/epilogue.py.
enum class Epilogue { none, axpby, tinv, axpby_tinv, taxpby };
std::string_view name_of(Epilogue epilogue);

/// One emitted kernel.
struct Kernel {
  std::string_view name;
  std::string_view operation;  ///< `wilson`, `axpby`, ...
  std::string_view family;     ///< hopping, slices, update, expression, convert, gauge, links, term
  bool dagger;
  std::string_view epilogue;
  std::string_view precision;
  std::string_view links;  ///< r18, r12, r8 or empty
  std::string_view basis;  ///< long name or empty
  bool complex_coefficients;
  int tile;                         ///< right-hand sides must be a multiple of this
  int spins;                        ///< colour vectors a site of its spinor fields
  int colours;                      ///< numbers of such a vector, rows of a link
  int half_spins;                   ///< colour vectors of the projected spinor that a hop multiplies by a link
  int reach;                        ///< sites of its longest hop; hops over 3 sites have links of their own
  int sums;                         ///< number of sums for each right-hand side
  int terms;                        ///< stored site terms that it reads: Arguments::term, then Arguments::twist
  double flops;                     ///< as the field reports them, per site and right-hand side
  double bytes;                     ///< least traffic, per site and right-hand side
  std::string_view formula;         ///< what it computes
  bool complex_scalars;             ///< a, b, c and the slots of the formula may be complex
  std::string_view slots;           ///< names of its device scalars, separated by blanks
  std::string_view scalar_program;  ///< program that it runs on its device scalars after the sums
  Apply apply;
  bool ranks;    ///< whether it also works at the boundaries of local lattices (halos)
  int parities;  ///< number of parities whose sites a launch works on
  /// Fields and numbers of an expression in the order of a call, `name:kind:operand:flag` and perhaps `:reach`
  /// (generator/operators/expression.py).
  std::string_view signature;
};

/// A storage format of reals.
struct PrecisionInfo {
  std::string_view name;
  std::string_view links;  ///< format of the links that go with it
  int bits;                ///< of a real
  int word_bytes;          ///< bytes of a stored word
  int spin_words;          ///< words of a vector of three colours (six reals) of a site field
  int element_bytes;       ///< bytes of the type in which kernels compute; decides the number of lanes
  bool norm;               ///< site fields carry one float scale a site
};

/// A storage of links.
struct StorageInfo {
  std::string_view name;
  int reals;
  bool exact;              ///< false: loses more than rounding
  bool temporal;           ///< the links must be in temporal gauge
  std::string_view group;  ///< `any` matrix, `SU(N)`, or `U(N)` times one real number for the field
  int colours;             ///< rows of a link
};

/// A gamma basis; matrices row by row, (re, im).
struct BasisInfo {
  std::string_view name, short_name;
  double rotation[32];  ///< V with gamma = V gamma_DeGrandRossi V^+
  double gamma[4][32];
};

/// One hop of an operator: the dense spin matrix, top left spins x spins of it.
struct HopInfo {
  int mu, sign;
  int length;  ///< sites; 1: links and hops of the arguments, 3: long_links and long_hops
  int phase;   ///< bits of the coordinates whose sum's parity gives the hop a sign
  double matrix[32];
};

/// An operator of the hopping family, as its definition states it.
struct OperatorInfo {
  std::string_view name, basis;
  int spins;
  std::span<const HopInfo> hops;
};

/// The kernels of one target, or of one instruction set of the CPU.
struct KernelTable {
  std::string_view name;  ///< as generator/targets.py has it: `x86-64-v3`, ...
  std::span<const Kernel> kernels;
};

/// The kernels and tables of one library: the one built in, or a module compiled on demand
/// (generator/emit/ondemand.py).
struct KernelModule {
  /// Version of the records that kernels and host share, and of signatures; a module of another version is refused.
  static constexpr int signatures = 7;
  static constexpr int current_layout = int((sizeof(Kernel) * 4096 + sizeof(Arguments)) * 8) + signatures;
  int layout;
  std::span<const KernelTable> kernels;
  std::span<const PrecisionInfo> precisions;
  std::span<const StorageInfo> storages;
  std::span<const BasisInfo> bases;
  std::span<const OperatorInfo> operators;
};

// The tables below hold the built-in kernels and those of modules named in the environment variable QUARKSMITH_KERNELS
// (shared libraries separated by colons); a kernel of a module replaces the one of the same name. A file that is not a
// module of this version is an Error at the first use of any table.

/// Tables of kernels that are built in (cmake/targets.cmake).
std::span<const KernelTable> built_kernels();
/// The table of that name; empty if there is none.
std::span<const Kernel> kernels_in(std::span<const KernelTable> tables, std::string_view name);
/// All kernels of a target, for the instruction set that this process uses; empty if it is not built in.
std::span<const Kernel> kernels_of(std::string_view target);
std::span<const PrecisionInfo> precisions();
std::span<const StorageInfo> storages();
std::span<const BasisInfo> bases();
std::span<const OperatorInfo> operators();

/// Properties of a kernel that is looked for; empty strings mean that the axis does not apply.
struct KernelQuery {
  std::string_view operation;
  std::string_view precision;
  std::string_view links = "";
  std::string_view basis = "";
  bool dagger = false;
  std::string_view epilogue = "none";
  bool complex_coefficients = false;
  int tile = 1;
  int spins = 4;
  int colours = 3;          ///< only for kernels without links; otherwise the link storage decides
  bool expression = false;  ///< whether it is a lattice expression, which has neither conjugate nor epilogue
};

/// Index of a kernel in a table; none if it is not in it.
std::optional<std::size_t> place_in(std::span<const Kernel> table, const Kernel& kernel);
/// Whether a kernel is of that description.
bool fits(const Kernel& kernel, const KernelQuery& query);
/// The kernel of that description, null if it was not built.
const Kernel* try_find(std::span<const Kernel> kernels, const KernelQuery& query);
/// The kernel of that description.
/// \throws MissingKernel it was not built; the message is the profile row to add.
const Kernel& find(std::span<const Kernel> kernels, const KernelQuery& query);

/// \throws UnknownName no such precision; the message lists those that exist. Likewise for the others.
const PrecisionInfo& find_precision(std::string_view name);
const StorageInfo& find_storage(std::string_view name);
/// The storage of arbitrary matrices with `colours` colours: r18, c2r8, c1r2 for numbers.
/// \throws UsageError there is none of so many.
const StorageInfo& full_storage(int colours);
/// Storage of momenta and forces: anti-Hermitian matrices without trace.
const StorageInfo& algebra_storage(int colours);
/// Storage of SU(N) links with the fewest reals that loses no more than rounding: r12, c2r4.
const StorageInfo& compact_storage(int colours);
const BasisInfo& find_basis(std::string_view name);

}  // namespace quarksmith
