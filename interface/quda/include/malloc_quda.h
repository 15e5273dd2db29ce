/** \file
 * Memory of a GPU that PyQUDA asks for where its arrays are those of CuPy or PyTorch. */
#pragma once

#include <cstddef>

#include "enum_quda.h"

namespace quda::pool {
void* device_malloc_(const char* function, const char* file, int line, size_t bytes);
void device_free_(const char* function, const char* file, int line, void* memory);
}  // namespace quda::pool

#define pool_device_malloc(bytes) quda::pool::device_malloc_(__func__, __FILE__, __LINE__, bytes)
#define pool_device_free(memory) quda::pool::device_free_(__func__, __FILE__, __LINE__, memory)
