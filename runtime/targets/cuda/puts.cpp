#include <cuda_runtime_api.h>

#include <vector>

#include "runtime/error.hpp"
#include "runtime/targets/cuda/names.hpp"
#include "runtime/targets/gpu/memory.hpp"

#ifndef QUARKSMITH_NVSHMEM

namespace quarksmith::cuda {

bool puts() { return false; }
std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t, int, Communicator&, cudaStream_t) { return nullptr; }

}  // namespace quarksmith::cuda

#else

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"  // of the functions for kernels
#include <nvshmem_host.h>
#pragma GCC diagnostic pop

namespace quarksmith::cuda {
namespace {

/// Starts NVSHMEM for these ranks at the first call, with a number that the first rank draws: it then needs no MPI.
/// \return by rank its number there
std::vector<int> processing_elements(Communicator& communicator) {
  static bool started = false;
  const int size = communicator.size();
  const double of_all = communicator.sum(double(started));
  if (of_all == 0) {
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    nvshmemx_init_attr_t how = NVSHMEMX_INIT_ATTR_INITIALIZER;
    communicator.together([&] {
      if (communicator.rank() == 0 && nvshmemx_get_uniqueid(&id) != 0)
        throw Error("NVSHMEM makes no identity for its processes; use another policy");
    });
    communicator.broadcast(&id, sizeof(id), 0);
    communicator.together([&] {
      if (nvshmemx_set_attr_uniqueid_args(communicator.rank(), size, &id, &how) != 0 ||
          nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &how) != 0)
        throw Error("NVSHMEM does not start; NVSHMEM_DEBUG=INFO says why, other policies do without");
    });
    started = true;
  } else if (of_all != size || nvshmem_n_pes() != size) {
    throw UsageError("policy shmem: NVSHMEM runs among other ranks of this process already; use another policy");
  }
  const int mine = nvshmem_my_pe();
  std::vector<int> all(size);
  communicator.all_gather(&mine, sizeof(int), all.data());
  return all;
}

class Symmetric final : public SymmetricMemory {
 public:
  Symmetric(std::size_t bytes, int signals, Communicator& communicator, cudaStream_t queue)
      : communicator_(communicator), queue_(queue), elements_(processing_elements(communicator)) {
    communicator.free_dropped();
    const std::size_t before = aligned(signals * sizeof(std::uint64_t));
    auto* const memory = static_cast<char*>(nvshmem_malloc(before + bytes));
    number_ = communicator.keep([memory] {
      if (memory != nullptr) nvshmem_free(memory);
    });
    const bool good =
        memory != nullptr && cudaMemset(memory, 0, before) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    if (communicator.sum(double(good)) < communicator.size()) {
      communicator.drop(number_);
      throw OutOfMemory(fmt::format("NVSHMEM has no {} MiB; NVSHMEM_SYMMETRIC_SIZE=BYTES gives it more", bytes >> 20));
    }
    signals_ = reinterpret_cast<std::uint64_t*>(memory);
    data_ = memory + before;
  }
  ~Symmetric() override { communicator_.drop(number_); }

  char* data() const override { return data_; }
  void put(int rank, char* to, const char* from, std::size_t bytes, int signal, std::uint64_t value) override {
    nvshmemx_putmem_signal_nbi_on_stream(to, from, bytes, signals_ + signal, value, NVSHMEM_SIGNAL_SET, elements_[rank],
                                         queue_);
  }
  void await(int signal, std::uint64_t value) override {
    nvshmemx_signal_wait_until_on_stream(signals_ + signal, NVSHMEM_CMP_GE, value, queue_);
  }
  void await_puts() override { nvshmemx_quiet_on_stream(queue_); }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  Communicator& communicator_;
  cudaStream_t queue_;
  std::vector<int> elements_;
  long long number_ = 0;
  std::uint64_t* signals_ = nullptr;
  char* data_ = nullptr;
};

}  // namespace

bool puts() { return true; }

std::unique_ptr<SymmetricMemory> allocate_symmetric(std::size_t bytes, int signals, Communicator& communicator,
                                                    cudaStream_t queue) {
  return std::make_unique<Symmetric>(bytes, signals, communicator, queue);
}

}  // namespace quarksmith::cuda

#endif
