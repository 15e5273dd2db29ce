// Ranks of MPI. Part of builds with MPI; the one place that calls it, but for files (io_parallel_mpi.cpp).
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "runtime/clock.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/error.hpp"

namespace quarksmith {
namespace {

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(fmt::format("MPI: {}: {}", what, std::string(text, length)));
}

/// Bytes as a count of MPI, which is an int.
int count_of(std::size_t bytes) {
  if (bytes > 0x7fffffff) throw Error(fmt::format("MPI: a message of {} bytes; the limit is 2^31 - 1", bytes));
  return static_cast<int>(bytes);
}

/// Cuts a message into pieces that MPI can count; those of one pair of ranks and tag arrive in their order.
template <class Visit>
void for_each_piece(const Message& m, const Visit& visit) {
  constexpr std::size_t most = std::size_t(1) << 30;
  for (std::size_t at = 0; at == 0 || at < m.bytes; at += most)
    visit(static_cast<char*>(m.data) + at, count_of(std::min(most, m.bytes - at)));
}

class Window final : public SharedMemory {
 public:
  Window(MPI_Comm host, std::size_t bytes) {
    void* mine = nullptr;
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, host, &mine, &window_),
          "shared memory of a host");
    std::fill_n(static_cast<char*>(mine), bytes, 0);
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "shared memory of a host");
    MPI_Barrier(host);
  }
  ~Window() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized || std::uncaught_exceptions() > 0) return;  // after an error the others do not come here
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  void* part(int host_rank) const override {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* data = nullptr;
    check(MPI_Win_shared_query(window_, host_rank, &bytes, &unit, &data), "shared memory of a host");
    return data;
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

class World final : public Communicator {
 public:
  World() {
    int level = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "start");
    std::atexit([] {
      int done = 0;
      MPI_Finalized(&done);
      if (!done) MPI_Finalize();
    });
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_), "ranks of a host");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "start");
    int on_host = 0;
    MPI_Comm_rank(host_, &host_rank_);
    MPI_Comm_size(host_, &on_host);
    host_ranks_.resize(on_host);
    MPI_Allgather(&rank_, 1, MPI_INT, host_ranks_.data(), 1, MPI_INT, host_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int host_rank() const override { return host_rank_; }
  const std::vector<int>& host_ranks() const override { return host_ranks_; }
  void barrier() override { check(MPI_Barrier(MPI_COMM_WORLD), "barrier"); }
  bool meet(double seconds) override {
    MPI_Request met = MPI_REQUEST_NULL;  // beside all other messages, in which the rest may still be
    check(MPI_Ibarrier(control_, &met), "meeting of ranks");
    const double end = now() + seconds;
    for (int done = 0; now() < end;) {
      check(MPI_Test(&met, &done, MPI_STATUS_IGNORE), "meeting of ranks");
      if (done) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  void all_gather(const void* mine, std::size_t bytes, void* all) override {
    check(MPI_Allgather(mine, count_of(bytes), MPI_BYTE, all, count_of(bytes), MPI_BYTE, MPI_COMM_WORLD), "all-gather");
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    check(MPI_Bcast(data, count_of(bytes), MPI_BYTE, root, MPI_COMM_WORLD), "broadcast");
  }
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    for (const Message& m : receives)
      for_each_piece(m, [&](void* data, int bytes) {
        check(MPI_Irecv(data, bytes, MPI_BYTE, m.rank, m.tag, MPI_COMM_WORLD, &requests_.emplace_back()), "receive");
      });
    for (const Message& m : sends)
      for_each_piece(m, [&](void* data, int bytes) {
        check(MPI_Isend(data, bytes, MPI_BYTE, m.rank, m.tag, MPI_COMM_WORLD, &requests_.emplace_back()), "send");
      });
  }
  void finish() override {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "exchange");
    requests_.clear();
  }
  std::unique_ptr<SharedMemory> shared_memory(std::size_t bytes) override {
    return std::make_unique<Window>(host_, bytes);
  }

 private:
  int rank_ = 0, size_ = 1, host_rank_ = 0;
  MPI_Comm host_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  std::vector<int> host_ranks_;
  std::vector<MPI_Request> requests_;
};

/// Whether a launcher started this process, alone or among others.
bool launched() {
  for (const char* name : launcher_variables)
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace

std::shared_ptr<Communicator> Communicator::world() {
  if (!launched()) return self();  // the start of MPI takes a good part of a second
  static const std::shared_ptr<Communicator> world = [] {
    auto all = std::make_shared<World>();
    return all->size() > 1 ? std::shared_ptr<Communicator>(all) : self();
  }();
  return world;
}

std::string Communicator::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";  // needs no MPI_Init
  const std::string all(text, length);
  return all.substr(0, all.find_first_of(",\n"));
}

void Communicator::abort(int status) {
  int running = 0, done = 0, size = 1;
  MPI_Initialized(&running);
  MPI_Finalized(&done);
  if (!running || done) return;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, status);
}

}  // namespace quarksmith
