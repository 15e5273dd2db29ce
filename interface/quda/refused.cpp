// Functions of QUDA that are not served: programs find them when they are linked, and end with one line if they call
// one.
#include "interface/quda/names.hpp"
#include "interface/quda/state.hpp"

// MILC
QUDA_REFUSED("leave the switches of MILC's Makefile for contractions, spin and taste, smearing and gauge fixing out",
             qudaShift, qudaSpinTaste, qudaContractFT, qudaTwoLinkGaussianSmear, qudaFreeTwoLink, qudaGaugeFixingOVR,
             qudaGaugeFixingFFT)
QUDA_REFUSED("use conjugate gradients: leave multigrid and deflation out of MILC's input", qudaMultigridCreate,
             qudaInvertMG, qudaMultigridDestroy, qudaEigCGInvert, qudaEigCGCloverInvert, qudaDDInvert, qudaInvertMsrc)
QUDA_REFUSED("use MILC's own forces and fields of clover quarks", qudaCloverForce, qudaCloverTrace,
             qudaCloverDerivative, qudaCloverMultishiftInvert, qudaCreateExtendedGaugeField,
             qudaResidentExtendedGaugeField, qudaCreateGaugeField, qudaSaveGaugeField, qudaDestroyGaugeField,
             qudaRephase)
QUDA_REFUSED("use MILC without WANTQUDA for this program", qudaLoadGaugeField, qudaFreeGaugeField, qudaLoadCloverField,
             qudaFreeCloverField)

// quda.h
QUDA_REFUSED("it is not served yet; docs/howto-quda-clients.md lists what is", eigensolveQuda, dumpMultigridQuda,
             covDevQuda, shiftQuda, spinTasteQuda, computeTwoLinkQuda, computeGaugePathQuda, createGaugeFieldQuda,
             saveGaugeFieldQuda, destroyGaugeFieldQuda, createCloverQuda, computeStaggeredForceQuda, gaussGaugeQuda)
QUDA_REFUSED("it is not served yet; docs/howto-quda-clients.md lists what is", copyExtendedResidentGaugeQuda,
             performFermionSmearQuda, performWuppertalnStep, performGaussianSmearNStep, performGaugeSmearQuda,
             performWFlowQuda, performGFlowQuda, contractQuda, contractFTQuda, computeGaugeFixingOVRQuda,
             computeGaugeFixingFFTQuda, blasGEMMQuda, blasLUInvQuda, newDeflationQuda, destroyDeflationQuda,
             performTwoLinkGaussianSmearNStep, laphSinkProject)
