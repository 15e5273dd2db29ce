/// \file
/// Rehearsals: they find out which kernels a piece of work needs when a build first lacks one of them.
#pragma once

#include <functional>

namespace quarksmith {

/// Stands before work that looks up kernels. When the first of them is missing the work is rehearsed, in this moment:
/// what the rehearsal asks for and the build lacks is compiled side by side with that kernel, or named together with it
/// in the error. Where nothing is missing nothing happens.
class KernelRehearsal {
 public:
  /// \param rehearse makes what the work makes, on few sites and one rank, and throws it away. Meanwhile kernels that
  /// do nothing stand for those that are missing: numbers mean nothing. What it throws ends it and is forgotten.
  explicit KernelRehearsal(std::function<void()> rehearse);
  ~KernelRehearsal();
  KernelRehearsal(const KernelRehearsal&) = delete;
  KernelRehearsal& operator=(const KernelRehearsal&) = delete;

  /// Whether this build has all kernels that such a rehearsal asks for, and it throws nothing. Nothing is compiled.
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
