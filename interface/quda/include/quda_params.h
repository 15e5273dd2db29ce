/** \file
 * Structs of quda.h, with the members of QUDA of 2025-02 (chaoos/quda 746c9a240). */
#ifndef QUARKSMITH_QUDA_PARAMS_H
#define QUARKSMITH_QUDA_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "enum_quda.h"
#include "quda_constants.h"

#define double_complex double _Complex

// clang-format off: members of a type stand together
/** Links: their arrays, and what is done with them. */
typedef struct QudaGaugeParam_s {
  size_t struct_size;
  /* where and how large */
  QudaFieldLocation location;
  int X[4];
  /* numbers that belong to the links */
  double anisotropy, tadpole_coeff, scale;
  /* what they are, and their order */
  QudaLinkType type;
  QudaGaugeFieldOrder gauge_order;
  QudaTboundary t_boundary;
  QudaPrecision cpu_prec;
  /* precision and storage on the device */
  QudaPrecision cuda_prec;
  QudaReconstructType reconstruct;
  QudaPrecision cuda_prec_sloppy;
  QudaReconstructType reconstruct_sloppy;
  QudaPrecision cuda_prec_refinement_sloppy;
  QudaReconstructType reconstruct_refinement_sloppy;
  QudaPrecision cuda_prec_precondition;
  QudaReconstructType reconstruct_precondition;
  QudaPrecision cuda_prec_eigensolver;
  QudaReconstructType reconstruct_eigensolver;
  /* not used, but for the phases: gauge_fix, pads, overlap */
  QudaGaugeFixed gauge_fix;
  int ga_pad, site_ga_pad, staple_pad, llfat_ga_pad, mom_ga_pad;
  QudaStaggeredPhase staggered_phase_type;
  int staggered_phase_applied;
  double i_mu;
  int overlap, overwrite_gauge, overwrite_mom;
  /* fields that stay in the library */
  int use_resident_gauge, use_resident_mom, make_resident_gauge, make_resident_mom, return_result_gauge,
      return_result_mom;
  /* bytes, of links within a struct of each site */
  size_t gauge_offset, mom_offset, site_size;
} QudaGaugeParam;

/** An operator, a solve and its results. */
typedef struct QudaInvertParam_s {
  size_t struct_size;
  /* the operator */
  QudaFieldLocation input_location, output_location;
  QudaDslashType dslash_type;
  QudaInverterType inv_type;
  double mass, kappa, m5;
  int Ls;
  double_complex b_5[QUDA_MAX_DWF_LS], c_5[QUDA_MAX_DWF_LS];
  double eofa_shift;
  int eofa_pm;
  double mq1, mq2, mq3, mu, tm_rho, epsilon, evmax;
  QudaTwistFlavorType twist_flavor;
  int laplace3D, covdev_mu;
  /* the solve */
  double tol, tol_restart, tol_hq;
  int compute_true_res;
  double true_res[QUDA_MAX_MULTI_SRC], true_res_hq[QUDA_MAX_MULTI_SRC];
  int maxiter;
  double reliable_delta, reliable_delta_refinement;
  int use_alternative_reliable, use_sloppy_partial_accumulator, solution_accumulator_pipeline, max_res_increase,
      max_res_increase_total, max_hq_res_increase, max_hq_res_restart_total, heavy_quark_check, pipeline;
  /* several sources, or shifts */
  int num_offset, num_src, num_src_per_sub_partition, split_grid[QUDA_MAX_DIM], overlap;
  double offset[QUDA_MAX_MULTI_SHIFT], tol_offset[QUDA_MAX_MULTI_SHIFT], tol_hq_offset[QUDA_MAX_MULTI_SHIFT],
      true_res_offset[QUDA_MAX_MULTI_SHIFT], iter_res_offset[QUDA_MAX_MULTI_SHIFT],
      true_res_hq_offset[QUDA_MAX_MULTI_SHIFT], residue[QUDA_MAX_MULTI_SHIFT];
  int compute_action;
  double action[2];
  /* the system */
  QudaSolutionType solution_type;
  QudaSolveType solve_type;
  QudaMatPCType matpc_type;
  QudaDagType dagger;
  QudaMassNormalization mass_normalization;
  QudaSolverNormalization solver_normalization;
  QudaPreserveSource preserve_source;
  /* spinors */
  QudaPrecision cpu_prec, cuda_prec, cuda_prec_sloppy, cuda_prec_refinement_sloppy, cuda_prec_precondition,
      cuda_prec_eigensolver;
  QudaDiracFieldOrder dirac_order;
  QudaGammaBasis gamma_basis;
  /* the clover term */
  QudaFieldLocation clover_location;
  QudaPrecision clover_cpu_prec, clover_cuda_prec, clover_cuda_prec_sloppy, clover_cuda_prec_refinement_sloppy,
      clover_cuda_prec_precondition, clover_cuda_prec_eigensolver;
  QudaCloverFieldOrder clover_order;
  QudaUseInitGuess use_init_guess;
  double clover_csw, clover_coeff, clover_rho;
  int compute_clover_trlog;
  double trlogA[2];
  int compute_clover, compute_clover_inverse, return_clover, return_clover_inverse;
  /* results: iterations, rate, time */
  QudaVerbosity verbosity;
  int iter;
  double gflops, secs, energy, power, temp, clock;
  /* of solvers and preconditioners of QUDA; read where this library has the same */
  int Nsteps, gcrNkrylov;
  QudaInverterType inv_type_precondition;
  void *preconditioner, *deflation_op, *eig_param;
  QudaBoolean deflate;
  QudaDslashType dslash_type_precondition;
  QudaVerbosity verbosity_precondition;
  double tol_precondition;
  int maxiter_precondition;
  double omega;
  QudaCABasis ca_basis;
  double ca_lambda_min, ca_lambda_max;
  QudaCABasis ca_basis_precondition;
  double ca_lambda_min_precondition, ca_lambda_max_precondition;
  int precondition_cycle;
  QudaSchwarzType schwarz_type;
  QudaAcceleratorType accelerator_type_precondition;
  double madwf_diagonal_suppressor;
  int madwf_ls, madwf_null_miniter;
  double madwf_null_tol;
  int madwf_train_maxiter;
  QudaBoolean madwf_param_load, madwf_param_save;
  char madwf_param_infile[256], madwf_param_outfile[256];
  /* the stopping criterion, and deflation */
  QudaResidualType residual_type;
  QudaPrecision cuda_prec_ritz;
  int n_ev, max_search_dim, rhs_idx, deflation_grid;
  double eigenval_tol;
  int eigcg_max_restarts, max_restart_num;
  double inc_tol;
  /* solutions that stay in the library */
  int make_resident_solution, use_resident_solution, chrono_make_resident, chrono_replace_last,
      chrono_use_resident, chrono_max_dim, chrono_index;
  QudaPrecision chrono_precision;
  /* how QUDA computes */
  QudaExtLibType extlib_type;
  QudaBoolean native_blas_lapack, use_mobius_fused_kernel;
  double distance_pc_alpha0;
  int distance_pc_t0;
  /* of Chroma before 2024 */
  QudaTune tune;
  int sp_pad, cl_pad;
} QudaInvertParam;

/** Eigenvectors. */
typedef struct QudaEigParam_s {
  size_t struct_size;
  QudaInvertParam *invert_param;
  QudaEigType eig_type;
  QudaBoolean use_poly_acc;
  int poly_deg;
  double a_min, a_max;
  QudaBoolean preserve_deflation;
  void *preserve_deflation_space;
  QudaBoolean preserve_evals;
  bool use_smeared_gauge;
  QudaBoolean use_dagger, use_norm_op, use_pc, use_eigen_qr, compute_svd, compute_gamma5, require_convergence;
  QudaEigSpectrumType spectrum;
  int n_ev, n_kr, nLockedMax, n_conv, n_ev_deflate;
  double tol, qr_tol;
  int check_interval, max_restarts, batched_rotate, block_size, compute_evals_batch_size, max_ortho_attempts,
      ortho_block_size;
  QudaBoolean arpack_check;
  char arpack_logfile[512], QUDA_logfile[512];
  int ortho_dim, ortho_dim_size_local, nk, np;
  QudaBoolean import_vectors;
  QudaPrecision cuda_prec_ritz;
  QudaMemoryType mem_type_ritz;
  QudaFieldLocation location;
  QudaBoolean run_verify;
  char vec_infile[256], vec_outfile[256];
  QudaPrecision save_prec;
  QudaBoolean io_parity_inflate, partfile;
  QudaExtLibType extlib_type;
} QudaEigParam;

/** Multigrid of QUDA; most members have no counterpart here, see the page. */
typedef struct QudaMultigridParam_s {
  size_t struct_size;
  QudaInvertParam *invert_param;
  QudaEigParam *eig_param[QUDA_MAX_MG_LEVEL];
  int n_level, geo_block_size[QUDA_MAX_MG_LEVEL][QUDA_MAX_DIM], spin_block_size[QUDA_MAX_MG_LEVEL],
      n_vec[QUDA_MAX_MG_LEVEL];
  QudaPrecision precision_null[QUDA_MAX_MG_LEVEL];
  int n_block_ortho[QUDA_MAX_MG_LEVEL];
  QudaBoolean block_ortho_two_pass[QUDA_MAX_MG_LEVEL];
  QudaVerbosity verbosity[QUDA_MAX_MG_LEVEL];
  QudaBoolean setup_use_mma[QUDA_MAX_MG_LEVEL], dslash_use_mma[QUDA_MAX_MG_LEVEL],
      transfer_use_mma[QUDA_MAX_MG_LEVEL];
  QudaInverterType setup_inv_type[QUDA_MAX_MG_LEVEL];
  int n_vec_batch[QUDA_MAX_MG_LEVEL], num_setup_iter[QUDA_MAX_MG_LEVEL];
  double setup_tol[QUDA_MAX_MG_LEVEL];
  int setup_maxiter[QUDA_MAX_MG_LEVEL], setup_maxiter_refresh[QUDA_MAX_MG_LEVEL];
  QudaCABasis setup_ca_basis[QUDA_MAX_MG_LEVEL];
  int setup_ca_basis_size[QUDA_MAX_MG_LEVEL];
  double setup_ca_lambda_min[QUDA_MAX_MG_LEVEL], setup_ca_lambda_max[QUDA_MAX_MG_LEVEL];
  QudaSetupType setup_type;
  QudaBoolean pre_orthonormalize, post_orthonormalize;
  QudaInverterType coarse_solver[QUDA_MAX_MG_LEVEL];
  double coarse_solver_tol[QUDA_MAX_MG_LEVEL];
  int coarse_solver_maxiter[QUDA_MAX_MG_LEVEL];
  QudaCABasis coarse_solver_ca_basis[QUDA_MAX_MG_LEVEL];
  int coarse_solver_ca_basis_size[QUDA_MAX_MG_LEVEL];
  double coarse_solver_ca_lambda_min[QUDA_MAX_MG_LEVEL], coarse_solver_ca_lambda_max[QUDA_MAX_MG_LEVEL];
  QudaInverterType smoother[QUDA_MAX_MG_LEVEL];
  double smoother_tol[QUDA_MAX_MG_LEVEL];
  int nu_pre[QUDA_MAX_MG_LEVEL], nu_post[QUDA_MAX_MG_LEVEL];
  QudaCABasis smoother_solver_ca_basis[QUDA_MAX_MG_LEVEL];
  double smoother_solver_ca_lambda_min[QUDA_MAX_MG_LEVEL], smoother_solver_ca_lambda_max[QUDA_MAX_MG_LEVEL],
      omega[QUDA_MAX_MG_LEVEL];
  QudaPrecision smoother_halo_precision[QUDA_MAX_MG_LEVEL];
  QudaSchwarzType smoother_schwarz_type[QUDA_MAX_MG_LEVEL];
  int smoother_schwarz_cycle[QUDA_MAX_MG_LEVEL];
  QudaSolutionType coarse_grid_solution_type[QUDA_MAX_MG_LEVEL];
  QudaSolveType smoother_solve_type[QUDA_MAX_MG_LEVEL];
  QudaMultigridCycleType cycle_type[QUDA_MAX_MG_LEVEL];
  QudaBoolean global_reduction[QUDA_MAX_MG_LEVEL];
  QudaFieldLocation location[QUDA_MAX_MG_LEVEL], setup_location[QUDA_MAX_MG_LEVEL];
  QudaBoolean use_eig_solver[QUDA_MAX_MG_LEVEL];
  QudaComputeNullVector compute_null_vector;
  QudaBoolean generate_all_levels, run_verify, run_low_mode_check, run_oblique_proj_check,
      vec_load[QUDA_MAX_MG_LEVEL];
  char vec_infile[QUDA_MAX_MG_LEVEL][256];
  QudaBoolean vec_store[QUDA_MAX_MG_LEVEL];
  char vec_outfile[QUDA_MAX_MG_LEVEL][256];
  QudaBoolean mg_vec_partfile[QUDA_MAX_MG_LEVEL], coarse_guess, preserve_deflation;
  double mu_factor[QUDA_MAX_MG_LEVEL];
  QudaTransferType transfer_type[QUDA_MAX_MG_LEVEL];
  QudaBoolean allow_truncation, staggered_kd_dagger_approximation, thin_update_only;
} QudaMultigridParam;

/** What is measured on the links. */
typedef struct QudaGaugeObservableParam_s {
  size_t struct_size;
  QudaBoolean su_project, compute_plaquette;
  double plaquette[3];
  QudaBoolean compute_polyakov_loop;
  double ploop[2];
  QudaBoolean compute_gauge_loop_trace;
  double_complex *traces;
  int **input_path_buff, *path_length;
  double *loop_coeff;
  int num_paths, max_length;
  double factor;
  QudaBoolean compute_qcharge;
  double qcharge, energy[3];
  QudaBoolean compute_qcharge_density;
  void *qcharge_density;
  QudaBoolean remove_staggered_phase;
} QudaGaugeObservableParam;

/** Smearing and flow of links. */
typedef struct QudaGaugeSmearParam_s {
  size_t struct_size;
  unsigned int n_steps;
  double epsilon, alpha, rho, alpha1, alpha2, alpha3;
  unsigned int meas_interval;
  QudaGaugeSmearType smear_type;
  QudaBoolean restart;
  double t0;
  int dir_ignore;
} QudaGaugeSmearParam;

/** Batches of dense matrices. */
typedef struct QudaBLASParam_s {
  size_t struct_size;
  QudaBLASType blas_type;
  QudaBLASOperation trans_a, trans_b;
  int m, n, k, lda, ldb, ldc, a_offset, b_offset, c_offset, a_stride, b_stride, c_stride;
  double_complex alpha, beta;
  int inv_mat_size, batch_count;
  QudaBLASDataType data_type;
  QudaBLASDataOrder data_order;
} QudaBLASParam;

/** Smearing of staggered quarks by two links. */
typedef struct QudaQuarkSmearParam_s {
  QudaInvertParam *inv_param;
  int n_steps;
  double width;
  int compute_2link, delete_2link, t0;
  double secs, gflops, energy, power, temp, clock;
} QudaQuarkSmearParam;

#endif
