/// \file
/// Rehearsals, which find out all kernels that a piece of work needs as soon as the first one is missing.
#pragma once

#include <functional>

namespace quarksmith {

/// Created before work that looks up kernels. When the first missing kernel is looked up the work is rehearsed: all
/// kernels that the rehearsal asks for and the build lacks are compiled together with it, or named together in the
/// error. If no kernel is missing nothing happens.
class KernelRehearsal {
 public:
  /// \param rehearse does the work on few sites and one rank, and discards the results. Missing kernels are replaced by
  /// kernels that do nothing, so that numbers are meaningless. An exception ends the rehearsal and is ignored.
  explicit KernelRehearsal(std::function<void()> rehearse);
  ~KernelRehearsal();
  KernelRehearsal(const KernelRehearsal&) = delete;
  KernelRehearsal& operator=(const KernelRehearsal&) = delete;

  /// Whether this build has all kernels that a rehearsal asks for, and it does not throw. Nothing is compiled.
  static bool finds_all(const std::function<void()>& rehearse);
  /// Whether this thread rehearses.
  static bool under_way();
  /// Runs the rehearsals of all work that this thread has begun.
  static void run();

 private:
  std::function<void()> rehearse_;
  KernelRehearsal* outer_;
};

}  // namespace quarksmith
