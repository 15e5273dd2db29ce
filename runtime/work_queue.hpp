/// \file
/// The queue of a device's work: waiting, recorded programs, times, a second queue.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace quarksmith {

/// Work that was enqueued once and can be started again at little cost.
class Program {
 public:
  virtual ~Program() = default;
  /// Enqueues the work.
  virtual void launch() = 0;
};

/// Copies of a few numbers in device memory, taken in the order of the device's work without stopping it.
class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// Enqueues a copy. At most `depth` copies may be outstanding, taken but not waited for.
  virtual void take() = 0;
  /// Waits for the oldest copy that was not waited for; valid until `depth` further ones were taken.
  virtual const double* wait() = 0;
};

/// A moment in the order of the device's work.
class TimeMark {
 public:
  virtual ~TimeMark() = default;
  /// Seconds since an earlier moment of the same device. Waits until this one has come.
  virtual double since(const TimeMark& earlier) const = 0;
};

/// The work of a device, done in the order in which it is given.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  /// Waits for all kernels; reports an error that one of them met.
  virtual void synchronize() = 0;

  /// The kernels and copies that `enqueue` starts, recorded where the device can (as a graph) when they are launched
  /// for the second time. `enqueue` must start the same work each time, allocate nothing and wait for nothing.
  virtual std::unique_ptr<Program> program(std::function<void()> enqueue) = 0;
  /// Copies of `count` numbers at `from` in the device's memory, of which up to `depth` are kept.
  virtual std::unique_ptr<Snapshots> snapshots(const double* from, int count, int depth) = 0;
  /// True if kernels run while the host does other things.
  virtual bool asynchronous() const = 0;

  /// The moment at which all work so far is done, without waiting for it.
  virtual std::unique_ptr<TimeMark> mark() = 0;
  /// Seconds that the device takes for the work that `enqueue` starts on it, launches included.
  virtual double time(const std::function<void()>& enqueue) = 0;
  /// As time, with the work as one graph where the device has such: without the cost of launches.
  virtual double time_graph(const std::function<void()>& enqueue) = 0;

  // A second queue, whose work may run while that of the first does; a GPU prefers it.
  /// Later work of the second queue starts after the work that the first one has been given so far; join: the reverse.
  virtual void fork() {}
  virtual void join() {}
  virtual void download_beside(void* host, const void* device, std::size_t bytes) = 0;
  virtual void upload_beside(void* device, const void* host, std::size_t bytes) = 0;
  /// Waits for the second queue.
  virtual void wait_beside() {}
};

}  // namespace quarksmith
