#pragma once
/// One window of a packed cascade: for those that are left alone. Exact: sums are as the reference's.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "detectors/cascade/kernels.hpp"

namespace sightline::cascade {

/// `Window` has `goes_left(node number)`.
template <typename Window>
class ScalarStages {
 public:
  double stage_sum(int s) const {
    const Model& model = cascade_.model();
    const BoostingStage& stage = model.stages[s];
    const Tree* tree = model.trees.data() + stage.first_tree;
    double sum = 0;
    for (int t = 0; t < stage.trees; ++t, ++tree) {
      std::int32_t at = 0;
      do {
        const std::int32_t number = tree->first_node + at;
        const Node& node = model.nodes[number];
        at = window().goes_left(number) ? node.left : node.right;
      } while (at > 0);
      sum += static_cast<double>(model.leaves[tree->first_leaf - at]);
    }
    return sum;
  }
  bool passes(int s) const {
    return stage_sum(s) >= static_cast<double>(cascade_.model().stages[s].threshold);
  }
  bool passes_all(int first, int last) const {
    for (int s = first; s < last; ++s) {
      if (!passes(s)) return false;
    }
    return true;
  }

 protected:
  explicit ScalarStages(const PackedCascade& cascade) : cascade_(cascade) {}
  const PackedCascade& cascade_;

 private:
  const Window& window() const { return static_cast<const Window&>(*this); }
};

class HaarScalar : public ScalarStages<HaarScalar> {
 public:
  /// @param corner  element of the sums at the window's corner
  /// @param window  of the row from there
  HaarScalar(const PackedCascade& cascade, int step, const std::byte* corner, std::ptrdiff_t window)
      : ScalarStages(cascade),
        nodes_(cascade.haar[step - 1].data()),
        list_(cascade.list[step - 1].data()),
        sums_(reinterpret_cast<const std::uint32_t*>(corner) + window) {
    const std::int32_t* const o = cascade.inside[step - 1];
    const auto inside = [&](const std::uint32_t* p) { return p[o[0]] - p[o[1]] - p[o[2]] + p[o[3]]; };
    const Size size = cascade.model().window;
    const double area = (size.width - 2) * (size.height - 2);
    const double sum = static_cast<std::int32_t>(inside(sums_));
    const double squares = inside(sums_ + cascade.layout().plane * Layout::kSquares);
    norm_ = static_cast<float>(1.0 / std::sqrt(area * squares - sum * sum));
  }

  bool goes_left(std::int32_t number) const {
    const PackedCascade::HaarNode& node = nodes_[number];
    return static_cast<float>(static_cast<std::int32_t>(value(node))) * norm_ < node.threshold;
  }

 private:
  std::uint32_t value(const PackedCascade::HaarNode& node) const {
    const auto at = [&](int corner) { return sums_[node.corners[corner]]; };
    if (node.form == PackedCascade::HaarNode::Form::list) {
      std::uint32_t sum = 0;
      for (int i = node.first; i < node.first + node.count; ++i)
        sum += static_cast<std::uint32_t>(list_[i].weight) * sums_[list_[i].offset];
      return sum;
    }
    std::uint32_t other = at(4) - at(5);
    if (node.form == PackedCascade::HaarNode::Form::eight) other += at(6) - at(7);
    return at(0) + at(1) - at(2) - at(3) + static_cast<std::uint32_t>(node.factor) * other;
  }

  const PackedCascade::HaarNode* nodes_;
  const PackedCascade::Corner* list_;
  const std::uint32_t* sums_;
  float norm_ = 1;
};

class LbpScalar : public ScalarStages<LbpScalar> {
 public:
  LbpScalar(const PackedCascade& cascade, int step, const std::byte* corner, std::ptrdiff_t window)
      : ScalarStages(cascade),
        nodes_(cascade.lbp[step - 1].data()),
        sums_(reinterpret_cast<const std::uint16_t*>(corner) + window) {}

  bool goes_left(std::int32_t number) const {
    const PackedCascade::LbpNode& node = nodes_[number];
    const auto at = [&](int row, int column) { return sums_[node.corners[4 * row + column]]; };
    const auto block = [&](int row, int column) {
      return static_cast<std::uint16_t>(at(row, column) - at(row, column + 1) - at(row + 1, column) +
                                        at(row + 1, column + 1));
    };
    const std::uint16_t middle = block(1, 1);
    const auto bit = [&](int row, int column) { return block(row, column) < middle ? 1U : 0U; };
    const unsigned byte = bit(0, 0) << 4 | bit(0, 1) << 3 | bit(0, 2) << 2 | bit(1, 2) << 1 | bit(2, 2);
    const unsigned index = bit(2, 1) << 2 | bit(2, 0) << 1 | bit(1, 0);
    return (node.set[byte] >> index & 1U) != 0;
  }

 private:
  const PackedCascade::LbpNode* nodes_;
  const std::uint16_t* sums_;
};

/// The windows that are skipped: those after one that is visited and rejected by the first stage.
///
/// `e[i] = r[i - 1] and not e[i - 1]` is the recurrence of characters escaped by backslashes; it takes an
/// addition whose carries run through the runs of rejected windows (G. Langdale and D. Lemire, "Parsing
/// Gigabytes of JSON per Second", VLDB Journal 28, 2019, section 3.1.1).
///
/// @param rejected   windows rejected by the first stage, bit i for window i; bits from `count` on are 0
/// @param count      number of windows, up to 64
/// @param skip_next  whether window 0 is skipped; afterwards, whether the one after the last is
inline std::uint64_t skipped_windows(std::uint64_t rejected, int count, bool& skip_next) {
  constexpr std::uint64_t kEven = 0x5555555555555555;
  const std::uint64_t first = skip_next ? 1 : 0;
  rejected &= ~first;
  const std::uint64_t follows = rejected << 1 | first;
  const std::uint64_t odd_starts = rejected & ~kEven & ~follows;
  const std::uint64_t from_even = odd_starts + rejected;
  const std::uint64_t skipped = (kEven ^ (from_even << 1)) & follows;
  const std::uint64_t last = std::uint64_t{1} << (count - 1);
  skip_next = (rejected & last) != 0 && (skipped & last) == 0;
  return skipped & (~std::uint64_t{0} >> (64 - count));
}

}  // namespace sightline::cascade
