/** \file
 * Functions of QUDA that MILC calls: see quda.h. Arrays are those of MILC: all even sites, then all odd ones, x
 * fastest. `precision` is 1 (single) or 2 (double). */
#ifndef QUARKSMITH_QUDA_MILC_INTERFACE_H
#define QUARKSMITH_QUDA_MILC_INTERFACE_H

#include "quda.h"

// clang-format off: members of a type stand together
#ifdef __cplusplus
extern "C" {
#endif

/** Links and momenta within a struct of each site (site, offsets, size), or in arrays of their own (link, mom). */
typedef struct {
  void *site, *link;
  size_t link_offset;
  void *mom;
  size_t mom_offset, size;
} QudaMILCSiteArg_t;

/** A solve of staggered quarks. */
typedef struct {
  int max_iter;
  QudaParity evenodd;
  int mixed_precision;
  double boundary_phase[4];
  int make_resident_solution, use_resident_solution;
  QudaInverterType solver_type;
  double tadpole, naik_epsilon;
} QudaInvertArgs_t;

/** Deflated solves. */
typedef struct {
  QudaPrecision prec_ritz;
  int nev, max_search_dim, deflation_grid;
  double tol_restart;
  int eigcg_max_restarts, max_restart_num;
  double inc_tol, eigenval_tol;
  QudaExtLibType solver_ext_lib, deflation_ext_lib;
  QudaFieldLocation location_ritz;
  QudaMemoryType mem_type_ritz;
  char *vec_infile, *vec_outfile;
} QudaEigArgs_t;

/** The global lattice and the grid of ranks; device: of this rank. */
typedef struct {
  const int *latsize, *machsize;
  int device;
} QudaLayout_t;

typedef struct {
  QudaVerbosity verbosity;
  QudaLayout_t layout;
} QudaInitArgs_t;

/** How HISQ links are projected to U(3). */
typedef struct {
  int reunit_allow_svd, reunit_svd_only;
  double reunit_svd_abs_error, reunit_svd_rel_error, force_filter;
} QudaHisqParams_t;

typedef struct {
  int su3_source, use_pinned_memory;
} QudaFatLinkArgs_t;

/** Correlators at momenta. */
typedef struct {
  int n_mom, *mom_modes;
  QudaFFTSymmType *fft_type;
  int *source_position;
  double flops, dtime;
} QudaContractArgs_t;

typedef struct {
  int n_steps;
  double width;
  int compute_2link, delete_2link, t0, laplaceDim;
} QudaTwoLinkQuarkSmearArgs_t;

// clang-format on

/* --- Start and end, memory --- */
void qudaSetMPICommHandle(void* mycomm);
void qudaInit(QudaInitArgs_t input);
void qudaSetLayout(QudaLayout_t layout);
void qudaFinalize(void);
void* qudaAllocatePinned(size_t bytes);
void qudaFreePinned(void* ptr);
void* qudaAllocateManaged(size_t bytes);
void qudaFreeManaged(void* ptr);

/* --- Fat and long links --- */
void qudaHisqParamsInit(QudaHisqParams_t hisq_params);
void qudaLoadKSLink(int precision, QudaFatLinkArgs_t fatlink_args, const double act_path_coeff[6], void* inlink,
                    void* fatlink, void* longlink);
void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t fatlink_args, const double path_coeff[6], void* inlink,
                            void* fatlink, void* ulink);

/* --- Staggered quarks --- */
void qudaShift(int external_precision, int quda_precision, const void* const links, void* source, void* solution,
               int dir, int sym, int reloadGaugeField);
void qudaSpinTaste(int external_precision, int quda_precision, const void* const links, void* src, void* dst, int spin,
                   int taste, int reloadGaugeField);
void qudaDslash(int external_precision, int quda_precision, QudaInvertArgs_t inv_args, const void* const milc_fatlink,
                const void* const milc_longlink, void* source, void* solution, int* num_iters);
void qudaDDInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                  double target_residual, double target_fermilab_residual, const int* const domain_overlap,
                  const void* const fatlink, const void* const longlink, void* source, void* solution,
                  double* const final_residual, double* const final_fermilab_residual, int* num_iters);
void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                double target_residual, double target_fermilab_residual, const void* const milc_fatlink,
                const void* const milc_longlink, void* source, void* solution, double* const final_resid,
                double* const final_rel_resid, int* num_iters);
void* qudaMultigridCreate(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                          const void* const milc_fatlink, const void* const milc_longlink,
                          const char* const mg_param_file);
void qudaInvertMG(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                  double target_residual, double target_fermilab_residual, const void* const milc_fatlink,
                  const void* const milc_longlink, void* mg_pack_ptr, int mg_rebuild_type, void* source, void* solution,
                  double* const final_residual, double* const final_fermilab_residual, int* num_iters);
void qudaMultigridDestroy(void* mg_pack_ptr);
void qudaInvertMsrc(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                    double target_residual, double target_fermilab_residual, const void* const fatlink,
                    const void* const longlink, void** sourceArray, void** solutionArray, double* const final_residual,
                    double* const final_fermilab_residual, int* num_iters, int num_src);
void qudaMultishiftInvert(int external_precision, int precision, int num_offsets, double* const offset,
                          QudaInvertArgs_t inv_args, const double* target_residual,
                          const double* target_fermilab_residual, const void* const milc_fatlink,
                          const void* const milc_longlink, void* source, void** solutionArray,
                          double* const final_residual, double* const final_fermilab_residual, int* num_iters);
void qudaEigCGInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t inv_args,
                     double target_residual, double target_fermilab_residual, const void* const fatlink,
                     const void* const longlink, void* source, void* solution, QudaEigArgs_t eig_args,
                     const int rhs_idx, const int last_rhs_flag, double* const final_residual,
                     double* const final_fermilab_residual, int* num_iters);

/* --- Wilson-clover quarks --- */
void qudaCloverInvert(int external_precision, int quda_precision, double kappa, double clover_coeff,
                      QudaInvertArgs_t inv_args, double target_residual, double target_fermilab_residual,
                      const void* milc_link, void* milc_clover, void* milc_clover_inv, void* source, void* solution,
                      double* const final_residual, double* const final_fermilab_residual, int* num_iters);
void qudaEigCGCloverInvert(int external_precision, int quda_precision, double kappa, double clover_coeff,
                           QudaInvertArgs_t inv_args, double target_residual, double target_fermilab_residual,
                           const void* milc_link, void* milc_clover, void* milc_clover_inv, void* source,
                           void* solution, QudaEigArgs_t eig_args, const int rhs_idx, const int last_rhs_flag,
                           double* const final_residual, double* const final_fermilab_residual, int* num_iters);
void qudaLoadGaugeField(int external_precision, int quda_precision, QudaInvertArgs_t inv_args, const void* milc_link);
void qudaFreeGaugeField(void);
void qudaFreeTwoLink(void);
void qudaLoadCloverField(int external_precision, int quda_precision, QudaInvertArgs_t inv_args, void* milc_clover,
                         void* milc_clover_inv, QudaSolutionType solution_type, QudaSolveType solve_type,
                         double clover_coeff, int compute_trlog, double* trlog);
void qudaFreeCloverField(void);
void qudaCloverMultishiftInvert(int external_precision, int quda_precision, int num_offsets, double* const offset,
                                double kappa, double clover_coeff, QudaInvertArgs_t inv_args,
                                const double* target_residual, void* source, void** solutionArray,
                                double* const final_residual, int* num_iters);

/* --- Forces, links and momenta --- */
void qudaHisqForce(int precision, int num_terms, int num_naik_terms, double dt, double** coeff, void** quark_field,
                   const double level2_coeff[6], const double fat7_coeff[6], const void* const w_link,
                   const void* const v_link, const void* const u_link, void* const milc_momentum);
void qudaGaugeForce(int precision, int num_loop_types, double milc_loop_coeff[3], double eb3, QudaMILCSiteArg_t* arg);
void qudaGaugeForcePhased(int precision, int num_loop_types, double milc_loop_coeff[3], double eb3,
                          QudaMILCSiteArg_t* arg, int phase_in);
void qudaGaugeLoopTracePhased(int precision, double* traces, int** input_path_buf, int* path_length, double* loop_coeff,
                              int num_paths, int max_length, double factor, QudaMILCSiteArg_t* arg, int phase_in);
void qudaPlaquettePhased(int precision, double plaq[3], QudaMILCSiteArg_t* arg, int phase_in);
void qudaPolyakovLoopPhased(int precision, double ploop[2], int dir, QudaMILCSiteArg_t* arg, int phase_in);
void qudaGaugeMeasurementsPhased(int precision, double plaq[3], double ploop[2], int dir, double* traces,
                                 int** input_path_buf, int* path_length, double* loop_coeff, int num_paths,
                                 int max_length, double factor, QudaMILCSiteArg_t* arg, int phase_in);
void qudaUpdateU(int precision, double eps, QudaMILCSiteArg_t* arg);
void qudaUpdateUPhased(int precision, double eps, QudaMILCSiteArg_t* arg, int phase_in);
void qudaUpdateUPhasedPipeline(int precision, double eps, QudaMILCSiteArg_t* arg, int phase_in, int want_gaugepipe);
void qudaMomLoad(int precision, QudaMILCSiteArg_t* arg);
void qudaMomSave(int precision, QudaMILCSiteArg_t* arg);
double qudaMomAction(int precision, QudaMILCSiteArg_t* arg);
void qudaRephase(int prec, void* gauge, int flag, double i_mu);
void qudaUnitarizeSU3(int prec, double tol, QudaMILCSiteArg_t* arg);
void qudaUnitarizeSU3Phased(int prec, double tol, QudaMILCSiteArg_t* arg, int phase_in);

/* --- Forces of clover quarks, fields that stay in the library --- */
void qudaCloverForce(void* mom, double dt, void** x, void** p, double* coeff, double kappa, double ck, int nvec,
                     double multiplicity, void* gauge, int precision, QudaInvertArgs_t inv_args);
void qudaCloverTrace(void* out, void* dummy, int mu, int nu);
void qudaCloverDerivative(void* out, void* gauge, void* oprod, int mu, int nu, double coeff, int precision, int parity,
                          int conjugate);
void* qudaCreateExtendedGaugeField(void* gauge, int geometry, int precision);
void* qudaResidentExtendedGaugeField(void* gauge, int geometry, int precision);
void* qudaCreateGaugeField(void* gauge, int geometry, int precision);
void qudaSaveGaugeField(void* gauge, void* inGauge);
void qudaDestroyGaugeField(void* gauge);

/* --- Gauge fixing, contractions, smearing --- */
void qudaGaugeFixingOVR(int precision, unsigned int gauge_dir, int Nsteps, int verbose_interval, double relax_boost,
                        double tolerance, unsigned int reunit_interval, unsigned int stopWtheta,
                        QudaMILCSiteArg_t* arg);
void qudaGaugeFixingFFT(int precision, unsigned int gauge_dir, int Nsteps, int verbose_interval, double alpha,
                        unsigned int autotune, double tolerance, unsigned int stopWtheta, void* milc_sitelink);
void qudaContractFT(int external_precision, QudaContractArgs_t* cont_args, void* const quark1, void* const quark2,
                    double* corr);
void qudaTwoLinkGaussianSmear(int external_precision, int quda_precision, void* h_gauge, void* source,
                              QudaTwoLinkQuarkSmearArgs_t qsmear_args);

#ifdef __cplusplus
}
#endif

#endif
