/// \file
/// The processes that share one lattice: ranks 0 ... size() - 1, each with its local lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarksmith {

/// Bytes that go to another rank, or come from it. Messages of one pair of ranks are distinguished by their tags.
struct Message {
  int rank;
  int tag;
  void* data;
  std::size_t bytes;
};

/// Memory that the ranks of a host share; [n] is the start of the part of the host's rank n.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual void* part(int host_rank) const = 0;
};

/// Variables of the environment by which launchers tell a process that it is a rank.
inline constexpr const char* launcher_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK",
                                                     "MV2_COMM_WORLD_SIZE"};

/// A group of processes. All calls but `rank` and `size` are collective: every rank makes them, in the same order.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// This process alone.
  static std::shared_ptr<Communicator> self();
  /// All processes that were started together (mpirun, srun): MPI_COMM_WORLD, which the first call initialises. This
  /// process alone if it was started alone or the library was built without MPI.
  /// \throws Error the library was built without MPI but started as several processes.
  static std::shared_ptr<Communicator> world();
  /// The ranks of another communicator of MPI, all of which call this. Messages between them are not mixed with those
  /// of the communicator itself. They end when that is freed.
  /// \param number its Fortran handle (MPI_Comm_c2f); the caller must have initialised MPI.
  /// \param order rank n of the result is rank order[n] of that communicator; empty: as they are.
  /// \throws UsageError there is no such communicator, MPI does not run, or `order` does not have each rank once; Error
  /// this library was built without MPI.
  static std::shared_ptr<Communicator> of(int number, const std::vector<int>& order = {});
  /// Makes `world` such ranks: lattices created later are divided among these.
  static void use(int number);
  /// Makes `world` this process alone, whatever else was started (not collective); or all processes that were started.
  static void use_self();
  static void use_all();
  /// Ends the job with this exit status on all ranks, after what was printed is out. Does nothing for one process.
  static void abort(int status);

  /// The MPI library in words; empty if this library was built without.
  static std::string library();

  /// Removes a launcher's variables from the environment, for a child process that is not a rank.
  static void forget_launcher();

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Index of this rank among those of its machine, which picks its GPU; and all ranks of its host, in order.
  virtual int host_rank() const = 0;
  virtual const std::vector<int>& host_ranks() const = 0;

  virtual void barrier() = 0;
  /// Waits until all ranks have called this, at most `seconds`; true if they have. For a rank that has failed: after
  /// false it cannot know where the others are, and has to end the job with `abort`.
  virtual bool meet(double seconds) = 0;
  /// all[rank] = mine, `bytes` bytes each.
  virtual void all_gather(const void* mine, std::size_t bytes, void* all) = 0;
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
  /// Starts messages; the data must stay as they are until `finish`. One set at a time.
  virtual void start(std::span<const Message> sends, std::span<const Message> receives) = 0;
  virtual void finish() = 0;
  /// Memory shared with the ranks of this host; zero at first.
  virtual std::unique_ptr<SharedMemory> shared_memory(std::size_t bytes) = 0;

  /// Sums over the ranks in their order: the same bits on all of them and in each run.
  void sum(std::span<double> values);
  double sum(double value) {
    sum({&value, 1});
    return value;
  }
  /// Largest of all ranks.
  double largest(double value);
  void largest(std::span<double> values);
  /// Exclusive or over the ranks.
  std::uint32_t exclusive_or(std::uint32_t value);
  /// Sum over the ranks modulo 2^64.
  std::uint64_t sum_integers(std::uint64_t value);
  /// The text of rank `root` on all ranks.
  std::string broadcast(const std::string& text, int root = 0);
  /// Runs `work` on all ranks; if it throws on any of them, all throw: those where it did not with the message of the
  /// first that did, as an error of the same kind. For steps after which no rank may continue alone.
  void together(const std::function<void()>& work);

  /// Registers memory that other ranks access, and that must be freed only when all ranks have finished with it, which
  /// they may do at different times, or after an error never. Each rank drops its share, and at the next collective
  /// `free_dropped` memory is freed whose shares all ranks have dropped.
  /// \return a number for `drop`; all ranks make these calls in the same order.
  long long keep(std::function<void()> free);
  /// Not collective.
  void drop(long long number);
  void free_dropped();

 protected:
  Communicator() = default;

 private:
  struct Kept {
    std::function<void()> free;
    bool dropped = false;
  };
  std::map<long long, Kept> kept_;  // the same numbers on all ranks
  long long made_ = 0;
};

}  // namespace quarksmith
