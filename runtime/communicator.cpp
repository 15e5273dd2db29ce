// What does not depend on how ranks talk, and the communicator of a process that is alone.
#include "runtime/communicator.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

class OwnMemory final : public SharedMemory {
 public:
  explicit OwnMemory(std::size_t bytes) : data_(bytes / sizeof(std::max_align_t) + 1) {}
  void* part(int) const override { return const_cast<std::max_align_t*>(data_.data()); }

 private:
  std::vector<std::max_align_t> data_;
};

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int host_rank() const override { return 0; }
  const std::vector<int>& host_ranks() const override { return ranks_; }
  void barrier() override {}
  bool meet(double) override { return true; }
  void all_gather(const void* mine, std::size_t bytes, void* all) override { std::memcpy(all, mine, bytes); }
  void broadcast(void*, std::size_t, int) override {}
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    for (const Message& s : sends)
      for (const Message& r : receives)
        if (r.tag == s.tag) std::memcpy(r.data, s.data, s.bytes);
  }
  void finish() override {}
  std::unique_ptr<SharedMemory> shared_memory(std::size_t bytes) override { return std::make_unique<OwnMemory>(bytes); }

 private:
  std::vector<int> ranks_ = {0};
};

/// Gathers a value from each rank, in the order of ranks.
template <class T>
std::vector<T> gathered(Communicator& c, const T& mine) {
  std::vector<T> all(c.size());
  c.all_gather(&mine, sizeof(T), all.data());
  return all;
}

}  // namespace

void Communicator::forget_launcher() {
  for (const char* name : launcher_variables) unsetenv(name);
  unsetenv("QUARKSMITH_HOSTS");
}

std::shared_ptr<Communicator> Communicator::self() {
  static const auto alone = std::make_shared<Alone>();
  return alone;
}

void Communicator::sum(std::span<double> values) {
  if (size() == 1) return;
  std::vector<double> all(values.size() * size());
  all_gather(values.data(), values.size_bytes(), all.data());
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] = 0;
    for (int r = 0; r < size(); ++r) values[n] += all[r * values.size() + n];
  }
}

double Communicator::largest(double value) {
  const auto all = gathered(*this, value);
  return *std::max_element(all.begin(), all.end());
}

void Communicator::largest(std::span<double> values) {
  if (size() == 1) return;
  std::vector<double> all(values.size() * static_cast<std::size_t>(size()));
  all_gather(values.data(), values.size_bytes(), all.data());
  for (std::size_t n = 0; n < all.size(); ++n) values[n % values.size()] = std::max(values[n % values.size()], all[n]);
}

std::uint32_t Communicator::exclusive_or(std::uint32_t value) {
  std::uint32_t result = 0;
  for (const std::uint32_t v : gathered(*this, value)) result ^= v;
  return result;
}

std::uint64_t Communicator::sum_integers(std::uint64_t value) {
  std::uint64_t result = 0;
  for (const std::uint64_t v : gathered(*this, value)) result += v;
  return result;
}

std::string Communicator::broadcast(const std::string& text, int root) {
  std::uint64_t length = text.size();
  broadcast(&length, sizeof(length), root);
  std::string result = text;
  result.resize(length);
  broadcast(result.data(), length, root);
  return result;
}

namespace {

/// A class of errors, and how one is recognised and thrown again.
struct ErrorKind {
  bool (*matches)(const std::exception&);
  void (*raise)(const std::string&);
};
template <class E>
constexpr ErrorKind error_kind = {[](const std::exception& e) { return dynamic_cast<const E*>(&e) != nullptr; },
                                  [](const std::string& message) { throw E(message); }};
constexpr ErrorKind error_kinds[] = {error_kind<UnknownName>, error_kind<WrongLattice>, error_kind<MissingKernel>,
                                     error_kind<NotSU3>,      error_kind<UsageError>,   error_kind<BadData>,
                                     error_kind<OutOfMemory>};

}  // namespace

void Communicator::together(const std::function<void()>& work) {
  if (size() == 1) return work();
  constexpr int fine = -1, kinds = std::size(error_kinds);
  int outcome = fine;
  std::string message;
  try {
    work();
  } catch (const std::exception& e) {
    for (outcome = 0; outcome < kinds && !error_kinds[outcome].matches(e); ++outcome) continue;
    message = e.what();
  }
  const auto all = gathered(*this, outcome);
  const auto first = std::find_if(all.begin(), all.end(), [](int o) { return o != fine; });
  if (first == all.end()) return;
  message = broadcast(message, static_cast<int>(first - all.begin()));
  if (*first < kinds) error_kinds[*first].raise(message);
  throw Error(message);
}

long long Communicator::keep(std::function<void()> free) {
  kept_[made_].free = std::move(free);
  return made_++;
}

void Communicator::drop(long long number) { kept_.at(number).dropped = true; }

void Communicator::free_dropped() {
  std::vector<double> in_use;
  for (const auto& [number, k] : kept_) in_use.push_back(k.dropped ? 0 : 1);
  if (in_use.empty()) return;
  largest(in_use);
  auto at = kept_.begin();
  for (const double by_some : in_use) {
    if (by_some == 0) at->second.free();
    at = by_some == 0 ? kept_.erase(at) : std::next(at);
  }
}

#ifndef QUARKSMITH_MPI

namespace {

bool alone = false;  // by use_self

}  // namespace

std::shared_ptr<Communicator> Communicator::world() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"})
    if (const char* value = std::getenv(name); !alone && value != nullptr && std::atoi(value) > 1)
      throw Error(
          "started as several processes, but this library was built without MPI: install it (libopenmpi-dev), "
          "build again, or start one process");
  return self();
}

std::shared_ptr<Communicator> Communicator::of(int, const std::vector<int>&) {
  throw Error("this library was built without MPI: install it (libopenmpi-dev) and build again for several ranks");
}

void Communicator::use(int number) { of(number); }

void Communicator::use_self() { alone = true; }

void Communicator::use_all() { alone = false; }

void Communicator::abort(int) {}

std::string Communicator::library() { return {}; }

#endif

}  // namespace quarksmith
