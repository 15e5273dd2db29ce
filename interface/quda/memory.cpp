// Memory that programs ask QUDA for: of the host, where it is as good as page-locked, and of a GPU.
#include <cstdlib>

#include <malloc_quda.h>
#include <quda_milc_interface.h>

#include "interface/quda/state.hpp"

namespace {

/// On the boundary of a page.
void* allocate(const char* function, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (memory == nullptr && bytes > 0)
    quarksmith::quda::refuse(function, std::to_string(bytes) + " bytes of the host cannot be had");
  return memory;
}

}  // namespace

void* qudaAllocatePinned(size_t bytes) { return allocate(__func__, bytes); }
void* qudaAllocateManaged(size_t bytes) { return allocate(__func__, bytes); }
void qudaFreePinned(void* ptr) { std::free(ptr); }
void qudaFreeManaged(void* ptr) { std::free(ptr); }

namespace quda::pool {

void* device_malloc_(const char* function, const char*, int, std::size_t) {
  quarksmith::quda::refuse(function, "memory of a GPU is not given out; use the allocator of CuPy or PyTorch itself");
}
void device_free_(const char*, const char*, int, void*) {}

}  // namespace quda::pool
