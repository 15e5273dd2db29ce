/** \file
 * QUDA's C interface, so that programs which call it run on Quarksmith: the names, members and signatures of QUDA of
 * 2025-02 (chaoos/quda 746c9a240). This is not QUDA: docs/howto-quda-clients.md says what is served. What is not ends
 * the program with one line that names the function and what to do. */
#ifndef QUARKSMITH_QUDA_H
#define QUARKSMITH_QUDA_H

#include <stdio.h>

#include "quda_define.h"
#include "quda_params.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From the coordinates of a rank in the grid to its number. */
typedef int (*QudaCommsMap)(const int* coords, void* fdata);

/* --- Start and end. Errors end the program after one line --- */
void setVerbosityQuda(QudaVerbosity verbosity, const char prefix[], FILE* outfile);
void qudaSetCommHandle(void* mycomm);
void initCommsGridQuda(int nDim, const int* dims, QudaCommsMap func, void* fdata);
void initQudaDevice(int device);
void initQudaMemory(void);
void initQuda(int device);
void endQuda(void);
void updateR(void);

/* --- Defaults of the structs; members that QUDA leaves alone are 0 --- */
QudaGaugeParam newQudaGaugeParam(void);
QudaInvertParam newQudaInvertParam(void);
QudaMultigridParam newQudaMultigridParam(void);
QudaEigParam newQudaEigParam(void);
QudaGaugeObservableParam newQudaGaugeObservableParam(void);
QudaGaugeSmearParam newQudaGaugeSmearParam(void);
QudaBLASParam newQudaBLASParam(void);

/* --- Members of the structs, as text --- */
void printQudaGaugeParam(QudaGaugeParam* param);
void printQudaInvertParam(QudaInvertParam* param);
void printQudaMultigridParam(QudaMultigridParam* param);
void printQudaEigParam(QudaEigParam* param);
void printQudaGaugeObservableParam(QudaGaugeObservableParam* param);
void printQudaBLASParam(QudaBLASParam* param);

/* --- Links and clover terms that later calls use --- */
void loadGaugeQuda(void* gauge, QudaGaugeParam* param);
void freeGaugeQuda(void);
void freeUniqueGaugeQuda(QudaLinkType link_type);
void freeGaugeSmearedQuda(void);
void freeGaugeTwoLinkQuda(void);
void saveGaugeQuda(void* gauge, QudaGaugeParam* param);
void loadCloverQuda(void* clover, void* clovinv, QudaInvertParam* inv_param);
void freeCloverQuda(void);

/* --- Eigenvectors and solves --- */
void eigensolveQuda(void** evecs, double_complex* evals, QudaEigParam* param);
void invertQuda(void* x, void* b, QudaInvertParam* param);
void invertMultiSrcQuda(void** x, void** b, QudaInvertParam* param);
void invertMultiShiftQuda(void** x, void* b, QudaInvertParam* param);

/* --- Multigrid --- */
void* newMultigridQuda(QudaMultigridParam* param);
void destroyMultigridQuda(void* mg_instance);
void updateMultigridQuda(void* mg_instance, QudaMultigridParam* param);
void dumpMultigridQuda(void* mg_instance, QudaMultigridParam* param);

/* --- Operators, applied --- */
void dslashQuda(void* out, void* in, QudaInvertParam* inv_param, QudaParity parity);
void covDevQuda(void* out, void* in, int dir, QudaInvertParam* param);
void shiftQuda(void* out, void* in, int dir, int sym, QudaInvertParam* param);
void spinTasteQuda(void* out, void* in, int spin, int taste, QudaInvertParam* param);
void dslashMultiSrcQuda(void** x, void** b, QudaInvertParam* param, QudaParity parity);
void cloverQuda(void* out, void* in, QudaInvertParam* inv_param, QudaParity parity, int inverse);
void MatQuda(void* out, void* in, QudaInvertParam* inv_param);
void MatDagMatQuda(void* out, void* in, QudaInvertParam* inv_param);

/* --- Links and molecular dynamics --- */
void computeKSLinkQuda(void* fatlink, void* longlink, void* ulink, void* inlink, double* patcoeff,
                       QudaGaugeParam* param);
void computeTwoLinkQuda(void* twolink, void* inlink, QudaGaugeParam* param);
void momResidentQuda(void* mom, QudaGaugeParam* param);
int computeGaugeForceQuda(void* mom, void* sitelink, int*** input_patbuf, int* patlength, double* loop_coeff,
                          int num_paths, int max_length, double dt, QudaGaugeParam* qudaGaugeParam);
int computeGaugePathQuda(void* out, void* sitelink, int*** input_patbuf, int* patlength, double* loop_coeff,
                         int num_paths, int max_length, double dt, QudaGaugeParam* qudaGaugeParam);
void computeGaugeLoopTraceQuda(double_complex* traces, int** input_patbuf, int* patlength, double* loop_coeff,
                               int num_paths, int max_length, double factor);
void updateGaugeFieldQuda(void* gauge, void* momentum, double dt, int conj_mom, int exact, QudaGaugeParam* param);
void staggeredPhaseQuda(void* gauge_h, QudaGaugeParam* param);
void projectSU3Quda(void* gauge_h, double tol, QudaGaugeParam* param);
double momActionQuda(void* momentum, QudaGaugeParam* param);
void* createGaugeFieldQuda(void* gauge, int geometry, QudaGaugeParam* param);
void saveGaugeFieldQuda(void* outGauge, void* inGauge, QudaGaugeParam* param);
void destroyGaugeFieldQuda(void* gauge);
void createCloverQuda(QudaInvertParam* param);
void computeCloverForceQuda(void* mom, double dt, void** x, void** p, double* coeff, double kappa2, double ck,
                            int nvector, double multiplicity, void* gauge, QudaGaugeParam* gauge_param,
                            QudaInvertParam* inv_param);
void computeTMCloverForceQuda(void* mom, void** x, void** x0, double* coeff, int nvector, QudaGaugeParam* gauge_param,
                              QudaInvertParam* inv_param, int detratio);
void computeStaggeredForceQuda(void* mom, double dt, double delta, void* gauge, void** x, QudaGaugeParam* gauge_param,
                               QudaInvertParam* invert_param);
void computeHISQForceQuda(void* momentum, double dt, const double level2_coeff[6], const double fat7_coeff[6],
                          const void* const w_link, const void* const v_link, const void* const u_link, void** quark,
                          int num, int num_naik, double** coeff, QudaGaugeParam* param);
void gaussGaugeQuda(unsigned long long seed, double sigma);
void gaussMomQuda(unsigned long long seed, double sigma);

/* --- Observables, smearing, flow and gauge fixing --- */
void plaqQuda(double plaq[3]);
void polyakovLoopQuda(double ploop[2], int dir);
void copyExtendedResidentGaugeQuda(void* resident_gauge);
void performFermionSmearQuda(void* out, void* in, QudaInvertParam* param, const int n_steps, const double coeff,
                             const QudaFermionSmearType smear_type);
void performWuppertalnStep(void* out, void* in, QudaInvertParam* param, unsigned int n_steps, double alpha);
void performGaussianSmearNStep(void* out, void* in, QudaInvertParam* param, const int n_steps, const double omega);
void performGaugeSmearQuda(QudaGaugeSmearParam* smear_param, QudaGaugeObservableParam* obs_param);
void performWFlowQuda(QudaGaugeSmearParam* smear_param, QudaGaugeObservableParam* obs_param);
void performGFlowQuda(void* out, void* in, QudaInvertParam* inv_param, QudaGaugeSmearParam* smear_param,
                      QudaGaugeObservableParam* obs_param);
void gaugeObservablesQuda(QudaGaugeObservableParam* param);

/* --- Contractions, dense linear algebra and others --- */
void contractQuda(const void* x, const void* y, void* result, const QudaContractType cType, QudaInvertParam* param,
                  const int* X);
void contractFTQuda(void** x, void** y, void** result, const QudaContractType cType, void* cs_param_ptr,
                    const int src_colors, const int* X, const int* const source_position, const int n_mom,
                    const int* const mom_modes, const QudaFFTSymmType* const fft_type);
int computeGaugeFixingOVRQuda(void* gauge, const unsigned int gauge_dir, const unsigned int Nsteps,
                              const unsigned int verbose_interval, const double relax_boost, const double tolerance,
                              const unsigned int reunit_interval, const unsigned int stopWtheta, QudaGaugeParam* param);
int computeGaugeFixingFFTQuda(void* gauge, const unsigned int gauge_dir, const unsigned int Nsteps,
                              const unsigned int verbose_interval, const double alpha, const unsigned int autotune,
                              const double tolerance, const unsigned int stopWtheta, QudaGaugeParam* param);
void blasGEMMQuda(void* arrayA, void* arrayB, void* arrayC, QudaBoolean native, QudaBLASParam* param);
void blasLUInvQuda(void* Ainv, void* A, QudaBoolean use_native, QudaBLASParam* param);
void flushChronoQuda(int index);
void* newDeflationQuda(QudaEigParam* param);
void destroyDeflationQuda(void* df_instance);
void flushPoolQuda(QudaMemoryType type);
void setMPICommHandleQuda(void* mycomm);
void performTwoLinkGaussianSmearNStep(void* in, QudaQuarkSmearParam* smear_param);
void laphSinkProject(double _Complex* host_sinks, void** host_quark, int n_quark, int tile_quark, void** host_evec,
                     int nevec, int tile_evec, QudaInvertParam* inv_param, const int X[4]);

#ifdef __cplusplus
}
#endif

#undef double_complex
#endif
