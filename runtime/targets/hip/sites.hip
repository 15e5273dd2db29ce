// What GPUs do with the sites of any field.
#include "runtime/targets/hip/names.hpp"
#include "runtime/targets/gpu/attributes.hpp"
#include "runtime/targets/gpu/site_kernels.hpp"
