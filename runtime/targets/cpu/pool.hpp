/// \file
/// Memory of the CPU as a device.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

namespace quarksmith::cpu {

/// Large pieces that are released are kept for the next of about the same size: fresh pages are cleared by the
/// operating system when they are first touched, which takes longer than many a kernel. At most a quarter of the
/// machine's memory is kept, as on GPUs.
class Pool {
 public:
  /// \param most bytes that are kept.
  explicit Pool(std::size_t most) : most_(most) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { trim(); }

  /// Null where there is none.
  void* allocate(std::size_t bytes) {
    if (bytes < 2 * huge_page) return std::aligned_alloc(cache_line, rounded(bytes, cache_line));
    const std::size_t whole = rounded(bytes, huge_page);
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.lower_bound(whole); found != kept_.end() && found->first <= whole + whole / 4) {
      void* memory = found->second;
      kept_bytes_ -= found->first;
      kept_.erase(found);
      return memory;
    }
    void* memory = std::aligned_alloc(huge_page, whole);
    if (memory == nullptr && kept_bytes_ > 0) {
      trim();
      memory = std::aligned_alloc(huge_page, whole);
    }
    // Kernels stream through many arrays at once: with pages of 4 KiB they would miss the TLB again and again.
    if (memory == nullptr) return nullptr;
    madvise(memory, whole, MADV_HUGEPAGE);  // advice may be ignored
    sizes_[memory] = whole;
    return memory;
  }

  void release(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end() || kept_bytes_ + found->second > most_) {
      if (found != sizes_.end()) sizes_.erase(found);
      return std::free(memory);
    }
    kept_.emplace(found->second, memory);
    kept_bytes_ += found->second;
  }

  /// What would be returned to the operating system where memory becomes short.
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr std::size_t cache_line = 64, huge_page = std::size_t(2) << 20;
  static constexpr std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

  void trim() {
    for (const auto& [bytes, memory] : kept_) {
      sizes_.erase(memory);
      std::free(memory);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }

  std::size_t most_, kept_bytes_ = 0;
  std::mutex mutex_;
  std::multimap<std::size_t, void*> kept_;        ///< by their sizes
  std::unordered_map<void*, std::size_t> sizes_;  ///< of large pieces, in use or kept
};

}  // namespace quarksmith::cpu
