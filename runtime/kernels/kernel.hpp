/// \file
/// Headers that generated kernels of all targets use. Include after the target's kernel.hpp and before its other
/// headers.
#pragma once

#include "runtime/kernels/random.hpp"
#include "runtime/kernels/complex.hpp"
#include "runtime/kernels/colour.hpp"
#include "runtime/kernels/codec.hpp"
#include "runtime/kernels/scalars.hpp"
#include "runtime/kernels/site.hpp"
#include "runtime/kernels/view.hpp"
#include "runtime/kernels/epilogue.hpp"
#include "runtime/kernels/slices.hpp"
#include "runtime/kernels/walk.hpp"
#include "runtime/kernels/unitary.hpp"
#include "runtime/kernels/block.hpp"
#include "runtime/kernels/convert.hpp"
#include "runtime/kernels/term.hpp"
#include "runtime/kernels/twist.hpp"
#include "runtime/kernels/gauge_update.hpp"
