#pragma once
/// Local memory of a group, while the tables of its chain are made.

#include <algorithm>
#include <utility>
#include <vector>

namespace sightline::network {

/// Thread-safety: none.
class LocalMemory {
 public:
  /// Takes the first place that is free. Returns its start, in floats.
  int take(int floats) {
    int at = 0;
    for (const auto& [begin, end] : taken_) {
      if (at + floats <= begin) break;
      at = std::max(at, end);
    }
    taken_.insert(std::ranges::upper_bound(taken_, std::pair(at, 0)), {at, at + floats});
    most_ = std::max(most_, at + floats);
    return at;
  }
  /// @param at  what `take` returned
  void give_back(int at) {
    std::erase_if(taken_, [&](const auto& one) { return one.first == at; });
  }
  /// The highest end of what was taken so far, in floats.
  int most() const { return most_; }

 private:
  std::vector<std::pair<int, int>> taken_;  // sorted
  int most_ = 0;
};

}  // namespace sightline::network
