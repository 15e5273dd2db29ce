// Ranks of MPI. Part of builds with MPI; the one place that calls it, but for files (runtime/io/parallel_mpi.cpp).
#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <type_traits>

#include "runtime/clock.hpp"
#include "runtime/communicator_mpi.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"

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
  Window(Communicator& ranks, MPI_Comm host, std::size_t bytes) : ranks_(ranks) {
    ranks.free_dropped();
    void* mine = nullptr;
    check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, host, &mine, &window_), what);
    std::fill_n(static_cast<char*>(mine), bytes, 0);
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), what);
    MPI_Barrier(host);
    number_ = ranks.keep([window = window_]() mutable {
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    });
  }
  ~Window() override { ranks_.drop(number_); }
  void* part(int host_rank) const override {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* data = nullptr;
    check(MPI_Win_shared_query(window_, host_rank, &bytes, &unit, &data), what);
    return data;
  }

 private:
  static constexpr const char* what = "shared memory of a host";

  Communicator& ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
  long long number_;
};

/// Ranks of a communicator of MPI: they talk by copies of it, which end with it.
class Ranks final : public Communicator {
 public:
  /// \param place of this rank among them. \param host the one of a machine that this rank counts as. \param group of
  /// which these ranks are, if there are several.
  Ranks(MPI_Comm of, int place, int host, int group = 0) : host_number_(host) {
    check(MPI_Comm_split(of, group, place, &ranks_), "start");
    check(MPI_Comm_dup(ranks_, &control_), "start");
    for (const MPI_Comm c : {ranks_, control_}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
    MPI_Comm machine = MPI_COMM_NULL;
    check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine), "ranks of a host");
    check(MPI_Comm_split(machine, host, rank_, &host_), "ranks of a host");
    int on_host = 0;
    MPI_Comm_rank(machine, &host_rank_);
    MPI_Comm_free(&machine);
    MPI_Comm_size(host_, &on_host);
    host_ranks_.resize(static_cast<std::size_t>(on_host));
    MPI_Allgather(&rank_, 1, MPI_INT, host_ranks_.data(), 1, MPI_INT, host_);
  }
  /// Frees the copies; calls fail from here on. All ranks call this at the same time.
  void end() {
    for (auto& [groups, part] : parts_) part->end();
    free_dropped();
    for (MPI_Comm* c : {&ranks_, &control_, &host_}) MPI_Comm_free(c);
  }
  MPI_Comm handle() const {
    if (ranks_ == MPI_COMM_NULL)
      throw UsageError("the communicator of these ranks was freed; free it after what was opened on it");
    return ranks_;
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int host_rank() const override { return host_rank_; }
  const std::vector<int>& host_ranks() const override { return host_ranks_; }
  std::shared_ptr<Communicator> split(int group) override {
    std::vector<int> groups(static_cast<std::size_t>(size_));
    all_gather(&group, sizeof(group), groups.data());
    std::shared_ptr<Ranks>& part = parts_[groups];
    if (part == nullptr) part = std::make_shared<Ranks>(handle(), rank_, host_number_, group);
    return part->size() > 1 ? part : self();
  }
  void barrier() override { check(MPI_Barrier(handle()), "barrier"); }
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
    check(MPI_Allgather(mine, count_of(bytes), MPI_BYTE, all, count_of(bytes), MPI_BYTE, handle()), "all-gather");
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    check(MPI_Bcast(data, count_of(bytes), MPI_BYTE, root, handle()), "broadcast");
  }
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    for (const Message& m : receives)
      for_each_piece(m, [&](void* data, int bytes) {
        check(MPI_Irecv(data, bytes, MPI_BYTE, m.rank, m.tag, handle(), &requests_.emplace_back()), "receive");
      });
    for (const Message& m : sends)
      for_each_piece(m, [&](void* data, int bytes) {
        check(MPI_Isend(data, bytes, MPI_BYTE, m.rank, m.tag, handle(), &requests_.emplace_back()), "send");
      });
  }
  void finish() override {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "exchange");
    requests_.clear();
  }
  std::unique_ptr<SharedMemory> shared_memory(std::size_t bytes) override {
    return std::make_unique<Window>(*this, host_, bytes);
  }

 private:
  int rank_ = 0, size_ = 1, host_rank_ = 0, host_number_ = 0;
  MPI_Comm ranks_ = MPI_COMM_NULL, host_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  std::vector<int> host_ranks_;
  std::vector<MPI_Request> requests_;
  std::map<std::vector<int>, std::shared_ptr<Ranks>> parts_;  ///< by the groups of all ranks
};

/// \throws UsageError `order` does not have each of `size` ranks once.
void require_permutation(const std::vector<int>& order, int size) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<int>(order.size()) != size)
    throw UsageError(fmt::format("a grid of {} ranks on a communicator of {}; use as many", order.size(), size));
  for (int r = 0; r < size; ++r)
    if (sorted[r] != r)
      throw UsageError(
          fmt::format("the ranks of the grid are {}; give each of 0 to {} once", fmt::join(order, ","), size - 1));
}

/// Whether a launcher started this process, alone or among others.
bool launched() {
  for (const char* name : launcher_variables)
    if (std::getenv(name) != nullptr) return true;
  return false;
}

bool running() {
  int begun = 0, done = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&done);
  return begun && !done;
}

/// Starts MPI, unless the program has done so, which then ends it as well.
void start_mpi() {
  if (running()) return;
  int level = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "start");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::atexit([] {
    if (running()) MPI_Finalize();
  });
}

/// What is made of one communicator, by the order of its ranks.
using Made = std::map<std::vector<int>, std::shared_ptr<Ranks>>;

/// Called when a communicator is freed, which its ranks do together. MPI_COMM_WORLD goes when MPI ends, and with it
/// all.
int free_made(MPI_Comm of, int, void* attribute, void*) {
  const std::unique_ptr<Made> made(static_cast<Made*>(attribute));
  if (of != MPI_COMM_WORLD)
    for (auto& [order, ranks] : *made) ranks->end();
  return MPI_SUCCESS;
}

/// The ranks of each host by QUARKSMITH_HOSTS, a means of testing; 0: they would not have equally many.
int ranks_of_host(int ranks) {
  const char* const asked = std::getenv("QUARKSMITH_HOSTS");
  const long long hosts = asked == nullptr ? 1 : as_integer(asked).value_or(0);
  return hosts < 1 || ranks % hosts != 0 ? 0 : static_cast<int>(ranks / hosts);
}

/// \throws UsageError hosts would not have equally many ranks.
void require_hosts(int ranks) {
  if (ranks_of_host(ranks) == 0)
    throw UsageError(
        fmt::format("QUARKSMITH_HOSTS={}: {} rank(s) cannot be spread evenly over that many hosts; set a divisor of "
                    "{}, or unset it",
                    std::getenv("QUARKSMITH_HOSTS"), ranks, ranks));
}

/// Kept as an attribute of the communicator, so that a copy of a communicator has messages of its own.
std::shared_ptr<Communicator> ranks_of(MPI_Comm of, std::vector<int> order) {
  int size = 1, rank = 0;
  check(MPI_Comm_size(of, &size), "start");
  check(MPI_Comm_rank(of, &rank), "start");
  if (order.empty())
    for (int r = 0; r < size; ++r) order.push_back(r);
  require_permutation(order, size);
  int started = 1, number = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &started);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  const int per_host = ranks_of_host(started);
  if (size == 1) return Communicator::self();
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_made, &made, nullptr), "start");
    return made;
  }();
  Made* made = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(of, key, static_cast<void*>(&made), &found), "start");
  if (!found) check(MPI_Comm_set_attr(of, key, made = new Made), "start");
  const int place = static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
  std::shared_ptr<Ranks>& ranks = (*made)[order];
  if (ranks == nullptr) ranks = std::make_shared<Ranks>(of, place, per_host == 0 ? 0 : number / per_host);
  return ranks;
}

/// The communicator that `world` returns; null: not known yet.
std::shared_ptr<Communicator>& present() {
  static std::shared_ptr<Communicator> ranks;
  return ranks;
}

}  // namespace

MPI_Comm handle_of(const Communicator& ranks) {
  const auto* of_mpi = dynamic_cast<const Ranks*>(&ranks);
  return of_mpi != nullptr ? of_mpi->handle() : MPI_COMM_SELF;
}

std::shared_ptr<Communicator> Communicator::world() {
  if (present() != nullptr) return present();
  if (!launched()) {  // the start of MPI takes a good part of a second
    require_hosts(1);
    return self();
  }
  start_mpi();
  present() = ranks_of(MPI_COMM_WORLD, {});
  require_hosts(present()->size());  // now that ranks know which of them tells errors
  return present();
}

std::shared_ptr<Communicator> Communicator::of(int number, const std::vector<int>& order) {
  if (!running()) throw UsageError("MPI does not run: a communicator is for ranks that have started it");
  const MPI_Comm given = MPI_Comm_f2c(static_cast<MPI_Fint>(number));
  int between_groups = 0;
  bool none = given == MPI_COMM_NULL;
  if constexpr (std::is_pointer_v<MPI_Comm>) none = none || given == nullptr;  // Open MPI, for numbers out of range
  if (none || MPI_Comm_test_inter(given, &between_groups) != MPI_SUCCESS)
    throw UsageError(fmt::format("communicator {}: there is none of that number", number));
  if (between_groups)
    throw UsageError("a communicator between two groups has no lattice; merge them (MPI_Intercomm_merge)");
  int started = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &started);
  require_hosts(started);
  return ranks_of(given, order);
}

void Communicator::use(int number) { present() = of(number); }

void Communicator::use_self() { present() = self(); }

void Communicator::use_all() { present() = nullptr; }  // found anew

std::string Communicator::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown";  // needs no MPI_Init
  const std::string all(text, length);
  return all.substr(0, all.find_first_of(",\n"));
}

void Communicator::abort(int status) {
  int size = 1;
  if (!running()) return;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, status);
}

}  // namespace quarksmith
