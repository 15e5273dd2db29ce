// Functions of quda_milc_interface.h: start and end, and solves of improved staggered quarks.
#include <quda_milc_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "interface/quda/milc.hpp"

namespace quarksmith::quda {

int milc_precision(const char* name, int precision) {
  return meaning<int>(name, precision, {{1, "1 (single)", QUARKSMITH_SINGLE}, {2, "2 (double)", QUARKSMITH_DOUBLE}});
}

quarksmith_link_format milc_links(int precision, bool phases) {
  auto format = initial(quarksmith_link_format_init);
  format.precision = milc_precision("precision", precision);
  format.sites = QUARKSMITH_EVEN_ODD;
  if (phases) std::copy_n(time_first, 4, format.eta);
  return format;
}

const char* milc_inner_precision(int quda_precision, int mixed_precision) {
  const bool in_double = milc_precision("quda_precision", quda_precision) == QUARKSMITH_DOUBLE;
  return meaning<const char*>(
      "mixed_precision", mixed_precision,
      {{0, "0", in_double ? "double" : "double-single"}, {1, "1", "double-single"}, {2, "2", "double-half"}});
}

namespace {

/// Changes if a word of the array does, or moves.
std::uint64_t digest(const void* array, std::size_t bytes) {
  const char* const words = static_cast<const char*>(array);
  std::uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
  for (std::size_t n = 0; n < bytes / 8; ++n) {
    std::uint64_t word;
    std::memcpy(&word, words + 8 * n, 8);
    word = (word ^ (n + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    sum += (word ^ word >> 29) * 0x94d049bb133111ebu;
  }
  return sum;
}

/// What the functions on staggered quarks have in common. All arrays are those of both parities.
class MilcQuarks {
 public:
  /// \param tolerance of solves. \param links_changed -1 if they have; other changes are found by their digest.
  MilcQuarks(int external, int internal, const QudaInvertArgs_t& args, double tolerance, const void* fat,
             const void* lng, const int* links_changed)
      : parity_(meaning<const char*>(
            "evenodd", args.evenodd,
            {{QUDA_EVEN_PARITY, "QUDA_EVEN_PARITY", "even"}, {QUDA_ODD_PARITY, "QUDA_ODD_PARITY", "odd"}})),
        precision_(milc_inner_precision(internal, args.mixed_precision)),
        tolerance_(tolerance),
        most_(args.max_iter) {
    if (!(tolerance > 0 && tolerance < 1))
      refuse("target_residual " + std::to_string(tolerance) + "; use a number between 0 and 1");
    format.precision = milc_precision("external_precision", external);
    format.sites = QUARKSMITH_EVEN_ODD;
    format.half = 1;
    half_ = state().sites() / 2 * colours * (format.precision == QUARKSMITH_DOUBLE ? sizeof(double) : sizeof(float));
    offset_ = args.evenodd == QUDA_ODD_PARITY ? half_ : 0;
    load(external, fat, lng, links_changed != nullptr && *links_changed == -1);
  }

  quarksmith_operator* op() const { return state().staggered.op(action); }
  /// \param flag of quarksmith_shifted_create
  quarksmith_shifted* solver(const std::string& flag, int shifts, double heavy_quark = 0) const {
    const std::string options = std::string(action) + " parity=" + parity_ + " precision=" + precision_ + ' ' + flag;
    quarksmith_shifted* const solver = state().staggered.shifted(options, shifts);
    check(quarksmith_shifted_limits(solver, tolerance_, most_, heavy_quark));
    return solver;
  }
  /// The half of an array on the parity that is solved for, or the other one: what is read and written of it.
  void* half_of(void* array, bool other = false) const {
    return static_cast<char*>(array) + (other ? half_ - offset_ : offset_);
  }
  std::vector<void*> halves_of(void* const* arrays, int n) const {
    std::vector<void*> all;
    for (int k = 0; k < n; ++k) all.push_back(half_of(arrays[k]));
    return all;
  }
  /// The half of the source, or a copy if a solution is the same array.
  const void* apart(void* source, void* const* solutions, int n) {
    if (std::find(solutions, solutions + n, source) == solutions + n) return half_of(source);
    copy_.resize(half_);
    std::memcpy(copy_.data(), half_of(source), half_);
    return copy_.data();
  }

  /// The shifts beside 4 m^2 of the action.
  static std::vector<double> shifts(const double* offsets, int n) {
    std::vector<double> all(offsets, offsets + n);
    for (double& shift : all) {
      if (!(shift >= least)) refuse("4 m^2 or offset " + text_of(shift) + "; use " + text_of(least) + " at least");
      shift -= least;
    }
    return all;
  }

  quarksmith_spinor_format format = initial(quarksmith_spinor_format_init);

 private:
  static constexpr std::size_t colours = 6;  // reals
  /// Of the mass of the action, one for all that are solved for: with mass 0 there is no even-odd form.
  static constexpr double least = 0x1p-38;
  /// Links hold eta and the sign of the boundary; eta is that of the operator, the sign stays where it is.
  static constexpr const char* action =
      "action=improved-staggered mass=9.5367431640625e-07 boundary=periodic field=fat=fat field=long=long";

  static void load(int external, const void* fat, const void* lng, bool changed) {
    if (fat == nullptr || lng == nullptr) refuse("fat or long links are NULL; pass both (naive quarks are not served)");
    const std::size_t bytes = state().sites() * 72 * (external == 1 ? sizeof(float) : sizeof(double));
    static std::uint64_t held = 0;
    const std::uint64_t now = digest(fat, bytes) + 3 * digest(lng, bytes) + std::uint64_t(external);
    Links& links = state().staggered;
    if (links && !changed && now == held) return;
    const double periodic[4] = {0, 0, 0, 0};
    if (!links) check(quarksmith_gauge_unit(state().context(), periodic, links.out()));
    links.forget();
    const quarksmith_link_format format = milc_links(external, true);
    check(quarksmith_gauge_links(links.gauge(), "fat", 1, &fat, &format));
    check(quarksmith_gauge_links(links.gauge(), "long", 3, &lng, &format));
    held = now;
  }

  const char *parity_, *precision_;
  double tolerance_;
  int most_;
  std::size_t half_, offset_;  ///< bytes of a parity, before the one that is solved for
  std::vector<char> copy_;
};

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

void qudaSetMPICommHandle(void* mycomm) { setMPICommHandleQuda(mycomm); }

void qudaSetLayout(QudaLayout_t layout) {
  const Call call(__func__);
  int local[4];
  for (int mu = 0; mu < 4; ++mu) {
    local[mu] = layout.latsize[mu] / layout.machsize[mu];
    if (local[mu] * layout.machsize[mu] != layout.latsize[mu])
      refuse("latsize is no multiple of machsize in direction " + std::to_string(mu) + "; use another grid of ranks");
  }
  State& s = state();
  s.close();
  s.ranks.use(layout.machsize, nullptr, nullptr, {0, 1, 2, 3});
  initQuda(s.ranks.count() > 1 ? -1 : layout.device);  // MILC has a number for one process alone
  s.context(local);
}

void qudaInit(QudaInitArgs_t input) {
  const Call call(__func__);
  if (state().begun) return;
  setVerbosityQuda(input.verbosity, "", stdout);
  qudaSetLayout(input.layout);
}

void qudaFinalize() { endQuda(); }
void qudaHisqParamsInit(QudaHisqParams_t) {}

void qudaDslash(int external_precision, int quda_precision, QudaInvertArgs_t inv_args, const void* const milc_fatlink,
                const void* const milc_longlink, void* source, void* solution, int* num_iters) {
  const Call call(__func__);
  inv_args.mixed_precision = 0;
  const MilcQuarks quarks(external_precision, quda_precision, inv_args, 0.1, milc_fatlink, milc_longlink, num_iters);
  void* const out = quarks.half_of(solution);
  const void* const in = quarks.half_of(source, true);
  check(quarksmith_dslash_host(quarks.op(), inv_args.evenodd, 0, 1, &out, &in, &quarks.format));
}

void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                double target_residual, double target_fermilab_residual, const void* const milc_fatlink,
                const void* const milc_longlink, void* source, void* solution, double* const final_resid,
                double* const final_rel_resid, int* num_iters) {
  const Call call(__func__);
  // A target of 0 is none.
  const bool heavy_alone = target_residual == 0 && target_fermilab_residual > 0;
  const double offset = 4 * mass * mass;
  const std::vector<double> shift = MilcQuarks::shifts(&offset, 1);
  MilcQuarks quarks(external_precision, quda_precision, inv_args,
                    heavy_alone ? std::min(target_fermilab_residual, 0.5) : target_residual, milc_fatlink,
                    milc_longlink, num_iters);
  auto report = initial(quarksmith_solve_report_init);
  void* const x = quarks.half_of(solution);
  check_solve(quarksmith_shifted_solve(quarks.solver("guess", 1, target_fermilab_residual), 1, shift.data(), &x,
                                       quarks.apart(source, &solution, 1), &quarks.format, &report));
  *final_resid = report.residual;
  *final_rel_resid = report.heavy_quark;
  *num_iters = report.iterations;
}

void qudaMultishiftInvert(int external_precision, int precision, int num_offsets, double* const offset,
                          QudaInvertArgs_t inv_args, const double* target_residual,
                          const double* target_fermilab_residual, const void* const milc_fatlink,
                          const void* const milc_longlink, void* source, void** solutionArray,
                          double* const final_residual, double* const final_fermilab_residual, int* num_iters) {
  const Call call(__func__);
  if (std::any_of(target_fermilab_residual, target_fermilab_residual + num_offsets, [](double t) { return t > 0; }))
    refuse("target_fermilab_residual of many shifts is not served; set it to 0, or solve for one mass at a time");
  // Targets of 0 ask for what is there when the first one is done.
  double tolerance = 1;
  for (int n = 0; n < num_offsets; ++n)
    if (target_residual[n] > 0) tolerance = std::min(tolerance, target_residual[n]);
  const std::vector<double> shifts = MilcQuarks::shifts(offset, num_offsets);
  MilcQuarks quarks(external_precision, precision, inv_args, tolerance, milc_fatlink, milc_longlink, num_iters);
  std::vector<quarksmith_solve_report> reports(num_offsets, initial(quarksmith_solve_report_init));
  check_solve(quarksmith_shifted_solve(quarks.solver("together", num_offsets), num_offsets, shifts.data(),
                                       quarks.halves_of(solutionArray, num_offsets).data(),
                                       quarks.apart(source, solutionArray, num_offsets), &quarks.format,
                                       reports.data()));
  *num_iters = 0;
  for (int n = 0; n < num_offsets; ++n) {
    final_residual[n] = reports[n].residual;
    final_fermilab_residual[n] = 0;
    *num_iters = std::max(*num_iters, reports[n].iterations);
  }
}
