/** \file
 * What a build of QUDA offers. PyQUDA takes arrays of CuPy if QUDA_TARGET_CUDA is here; nothing else is promised. */
#pragma once
#define QUDA_TARGET_CUDA
