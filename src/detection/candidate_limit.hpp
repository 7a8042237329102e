#pragma once
/// Limit of the windows per frame that are grouped. Grouping is quadratic, so a model or threshold that
/// accepts every window must not take all memory and hours.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace sightline {

/// The most that can be asked for.
inline constexpr int kMostCandidates = 10'000'000;

/// Keeps the best windows where there are more than the limit, and tells the user so, once.
/// Thread-safety: `keep_top_k` from any thread.
class CandidateLimit {
 public:
  /// @param most  windows of a frame, at least 1
  explicit CandidateLimit(int most) : most_(static_cast<std::size_t>(most)) {}

  /// Sorts by `is_better` (a strict total order) and truncates to the limit; fewer windows stay unsorted. The
  /// selection does not depend on the order of the windows.
  template <typename Window, typename IsBetter>
  void keep_top_k(std::vector<Window>& windows, const IsBetter& is_better) const {
    if (windows.size() <= most_) return;
    tell(windows.size());
    const auto end = windows.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(windows.begin(), end, windows.end(), is_better);
    windows.resize(most_);
    std::sort(windows.begin(), windows.end(), is_better);
  }

 private:
  void tell(std::size_t found) const;

  std::size_t most_;
  mutable std::atomic<bool> told_ = false;
};

}  // namespace sightline
