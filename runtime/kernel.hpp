/// \file
/// Everything that a generated kernel is made of. Include after the target's header.
#pragma once

#include "runtime/random.hpp"
#include "runtime/colour.hpp"
#include "runtime/codec.hpp"
#include "runtime/scalars.hpp"
#include "runtime/site.hpp"
#include "runtime/view.hpp"
#include "runtime/epilogue.hpp"
#include "runtime/walk.hpp"
#include "runtime/unitary.hpp"
#include "runtime/block.hpp"
#include "runtime/convert.hpp"
#include "runtime/term.hpp"
#include "runtime/gauge_update.hpp"
