// Defaults of QUDA's structs, which are printed by the same tables. Members that are in none are 0.
#include <quda.h>

#include <cfloat>
#include <complex>
#include <sstream>
#include <type_traits>

#include "interface/quda/names.hpp"
#include "interface/quda/state.hpp"

namespace quarksmith::quda {
namespace {

/// The default of what a caller has to set.
struct Unset {
} constexpr unset;

template <class M, class V>
void assign(M& member, const V& value) {
  if constexpr (std::is_array_v<M>)
    for (auto& element : member) assign(element, value);
  else if constexpr (!std::is_same_v<V, Unset>)
    member = static_cast<M>(value);
  else if constexpr (std::is_floating_point_v<M>)
    member = DBL_MIN;
  else
    member = static_cast<M>(QUDA_INVALID_ENUM);
}

template <class M>
void write(std::ostream& out, const std::string& name, const M& member) {
  if constexpr (std::is_array_v<M>) {
    for (std::size_t n = 0; n < std::extent_v<M> && std::extent_v<M> <= QUDA_MAX_DIM; ++n)
      write(out, name + '[' + std::to_string(n) + ']', member[n]);
  } else {
    out << '\n' << name << " = ";
    if constexpr (std::is_enum_v<M>)
      out << int(member);
    else
      out << member;
  }
}

struct GaugeMembers : QudaGaugeParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, X, anisotropy, tadpole_coeff, type, gauge_order, t_boundary, cpu_prec, cuda_prec,
                 reconstruct, cuda_prec_sloppy, reconstruct_sloppy, cuda_prec_refinement_sloppy,
                 reconstruct_refinement_sloppy, cuda_prec_precondition, reconstruct_precondition, cuda_prec_eigensolver,
                 reconstruct_eigensolver, gauge_fix, ga_pad)
    QUDA_MEMBERS(QUDA_CPU_FIELD_LOCATION, location)
    QUDA_MEMBERS(1, scale, return_result_gauge, return_result_mom)
    QUDA_MEMBERS(0, staggered_phase_type, staggered_phase_applied, i_mu, overlap, overwrite_gauge, overwrite_mom,
                 use_resident_gauge, use_resident_mom, make_resident_gauge, make_resident_mom, gauge_offset, mom_offset,
                 site_size)
  }
};

struct InvertMembers : QudaInvertParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, dslash_type, inv_type, mass, kappa, m5, Ls, mu, epsilon, evmax, twist_flavor,
                 laplace3D, covdev_mu, tol, maxiter, reliable_delta, reliable_delta_refinement, solution_type,
                 solve_type, matpc_type, dagger, mass_normalization, preserve_source, cpu_prec, cuda_prec,
                 cuda_prec_sloppy, cuda_prec_refinement_sloppy, cuda_prec_precondition, cuda_prec_eigensolver)
    QUDA_MEMBERS(unset, gamma_basis, dirac_order, Nsteps, gcrNkrylov, dslash_type_precondition, inv_type_precondition,
                 tol_precondition, maxiter_precondition, verbosity_precondition, schwarz_type,
                 accelerator_type_precondition, madwf_diagonal_suppressor, madwf_ls, madwf_null_miniter, madwf_null_tol,
                 madwf_train_maxiter, clover_cpu_prec, clover_cuda_prec, clover_cuda_prec_sloppy,
                 clover_cuda_prec_refinement_sloppy, clover_cuda_prec_precondition, clover_cuda_prec_eigensolver,
                 clover_order, verbosity, chrono_precision)
    QUDA_MEMBERS(QUDA_CPU_FIELD_LOCATION, input_location, output_location, clover_location)
    QUDA_MEMBERS(0, tm_rho, use_alternative_reliable, use_sloppy_partial_accumulator, pipeline, num_offset, overlap,
                 compute_action, solver_normalization, use_init_guess, compute_clover, compute_clover_inverse,
                 return_clover, return_clover_inverse, clover_rho, clover_coeff, clover_csw)
    QUDA_MEMBERS(0, madwf_param_load, madwf_param_save, ca_basis, ca_lambda_min, ca_basis_precondition,
                 ca_lambda_min_precondition, iter, gflops, secs, energy, power, temp, clock, rhs_idx,
                 use_resident_solution, make_resident_solution, chrono_use_resident, chrono_make_resident,
                 chrono_replace_last, chrono_max_dim, chrono_index, distance_pc_alpha0)
    QUDA_MEMBERS(1, residual_type, solution_accumulator_pipeline, max_res_increase, max_hq_res_increase, num_src,
                 split_grid, num_src_per_sub_partition, compute_true_res, precondition_cycle, omega,
                 compute_clover_trlog, deflation_grid, extlib_type, native_blas_lapack, use_mobius_fused_kernel)
    QUDA_MEMBERS(-1, ca_lambda_max, ca_lambda_max_precondition, distance_pc_t0)
    QUDA_MEMBERS(10, max_res_increase_total, max_hq_res_restart_total, heavy_quark_check)
    QUDA_MEMBERS(QUDA_SINGLE_PRECISION, cuda_prec_ritz)
    QUDA_MEMBERS(8, n_ev)
    QUDA_MEMBERS(64, max_search_dim)
    QUDA_MEMBERS(4, eigcg_max_restarts)
    QUDA_MEMBERS(3, max_restart_num)
    QUDA_MEMBERS(5e-5, tol_restart)
    QUDA_MEMBERS(1e-2, inc_tol)
    QUDA_MEMBERS(1e-1, eigenval_tol)
  }
};

struct EigMembers : QudaEigParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, block_size)
    QUDA_MEMBERS(0, use_eigen_qr, use_poly_acc, poly_deg, a_min, a_max, preserve_deflation, use_smeared_gauge,
                 use_dagger, use_norm_op, compute_svd, n_ev, n_kr, n_conv, batched_rotate, tol, qr_tol, check_interval,
                 max_restarts, arpack_check, nk, np, ortho_block_size, partfile, io_parity_inflate)
    QUDA_MEMBERS(1, preserve_evals, require_convergence)
    QUDA_MEMBERS(-1, n_ev_deflate)
    QUDA_MEMBERS(10, max_ortho_attempts)
    QUDA_MEMBERS(4, compute_evals_batch_size)
    QUDA_MEMBERS(QUDA_SPECTRUM_LR_EIG, spectrum)
    QUDA_MEMBERS(QUDA_EIG_TR_LANCZOS, eig_type)
    QUDA_MEMBERS(QUDA_EIGEN_EXTLIB, extlib_type)
    QUDA_MEMBERS(QUDA_MEMORY_DEVICE, mem_type_ritz)
    QUDA_MEMBERS(QUDA_CUDA_FIELD_LOCATION, location)
    QUDA_MEMBERS(QUDA_DOUBLE_PRECISION, save_prec)
  }
};

struct MultigridMembers : QudaMultigridParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, n_level, coarse_solver, coarse_solver_maxiter, smoother, smoother_solve_type,
                 smoother_halo_precision, smoother_schwarz_type, geo_block_size, spin_block_size, cycle_type, nu_pre,
                 nu_post, coarse_grid_solution_type, n_vec, n_vec_batch, coarse_solver_tol, smoother_tol, omega,
                 location, compute_null_vector, generate_all_levels, run_verify)
    QUDA_MEMBERS(0, setup_type, pre_orthonormalize, verbosity, setup_use_mma, dslash_use_mma, transfer_use_mma,
                 use_eig_solver, setup_maxiter_refresh, setup_ca_basis, setup_ca_lambda_min, coarse_solver_ca_basis,
                 coarse_solver_ca_lambda_min, smoother_solver_ca_basis, smoother_solver_ca_lambda_min, transfer_type,
                 mg_vec_partfile, run_low_mode_check)
    QUDA_MEMBERS(0, run_oblique_proj_check, coarse_guess, preserve_deflation, vec_load, vec_store, allow_truncation,
                 staggered_kd_dagger_approximation, thin_update_only)
    QUDA_MEMBERS(1, post_orthonormalize, num_setup_iter, n_block_ortho, block_ortho_two_pass, smoother_schwarz_cycle,
                 mu_factor, global_reduction)
    QUDA_MEMBERS(-1, setup_ca_lambda_max, coarse_solver_ca_lambda_max, smoother_solver_ca_lambda_max)
    QUDA_MEMBERS(4, setup_ca_basis_size, coarse_solver_ca_basis_size)
    QUDA_MEMBERS(QUDA_BICGSTAB_INVERTER, setup_inv_type)
    QUDA_MEMBERS(5e-6, setup_tol)
    QUDA_MEMBERS(500, setup_maxiter)
    QUDA_MEMBERS(QUDA_SINGLE_PRECISION, precision_null)
    QUDA_MEMBERS(QUDA_CUDA_FIELD_LOCATION, setup_location)
  }
};

struct ObservableMembers : QudaGaugeObservableParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, num_paths, max_length, factor)
    QUDA_MEMBERS(0, su_project, compute_plaquette, compute_polyakov_loop, compute_gauge_loop_trace, compute_qcharge,
                 compute_qcharge_density, remove_staggered_phase)
  }
};

struct SmearMembers : QudaGaugeSmearParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, smear_type)
    QUDA_MEMBERS(-1, dir_ignore)
  }
};

struct BlasMembers : QudaBLASParam {
  template <class Visit>
  void all(const Visit& visit) {
    QUDA_MEMBERS(unset, struct_size, m, n, k, lda, ldb, ldc, blas_type, inv_mat_size)
    QUDA_MEMBERS(0, trans_a, trans_b, a_offset, b_offset, c_offset, data_type, data_order)
    QUDA_MEMBERS(1, a_stride, b_stride, c_stride, batch_count)
  }
};

template <class Members>
Members defaults() {
  Members made{};
  made.all([](const char*, auto& member, const auto& value) { assign(member, value); });
  return made;
}

template <class Members, class Param>
void print_members(const char* what, const Param& param) {
  std::ostringstream text;
  text << what;
  Members{param}.all([&](const char* name, auto& member, const auto&) { write(text, name, member); });
  print(QUDA_SILENT, text.str());
}

}  // namespace
}  // namespace quarksmith::quda

using namespace quarksmith::quda;

QudaGaugeParam newQudaGaugeParam() { return defaults<GaugeMembers>(); }
QudaInvertParam newQudaInvertParam() { return defaults<InvertMembers>(); }
QudaEigParam newQudaEigParam() { return defaults<EigMembers>(); }
QudaMultigridParam newQudaMultigridParam() { return defaults<MultigridMembers>(); }
QudaGaugeObservableParam newQudaGaugeObservableParam() { return defaults<ObservableMembers>(); }
QudaGaugeSmearParam newQudaGaugeSmearParam() { return defaults<SmearMembers>(); }
QudaBLASParam newQudaBLASParam() { return defaults<BlasMembers>(); }

void printQudaGaugeParam(QudaGaugeParam* p) { print_members<GaugeMembers>("QUDA Gauge Parameters:", *p); }
void printQudaInvertParam(QudaInvertParam* p) { print_members<InvertMembers>("QUDA Inverter Parameters:", *p); }
void printQudaEigParam(QudaEigParam* p) { print_members<EigMembers>("QUDA Eig Parameters:", *p); }
void printQudaMultigridParam(QudaMultigridParam* p) {
  print_members<MultigridMembers>("QUDA Multigrid Parameters:", *p);
}
void printQudaGaugeObservableParam(QudaGaugeObservableParam* p) {
  print_members<ObservableMembers>("QUDA Gauge-Observable Parameters:", *p);
}
void printQudaBLASParam(QudaBLASParam* p) { print_members<BlasMembers>("QUDA blas parameters:", *p); }
