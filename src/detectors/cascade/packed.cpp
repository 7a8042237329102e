#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "detectors/cascade/kernels.hpp"

namespace sightline::cascade {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// Whole numbers up to here are exact in float.
constexpr double kExactFloat = 1 << 24;

// Trees of a stage whose leaves, rounded, still add up in 16 bits.
constexpr int kMaxSmallTrees = 2000;

bool sums_are_exact(const HaarFeature& feature) {
  double largest = 0;
  for (int i = 0; i < HaarFeature::kMaxRects; ++i) {
    const Rect& r = feature.rects[i];
    const double weight = static_cast<double>(feature.weights[i]);
    if (weight != std::floor(weight)) return false;
    largest += std::abs(weight) * 255 * r.width * r.height * (feature.tilted ? 2 : 1);
  }
  return largest < kExactFloat;
}

// Corners of a feature with what their sums count for.
std::map<std::int32_t, std::int32_t> merge_corners(const HaarFeature& feature, const Layout& layout,
                                                   int step) {
  std::map<std::int32_t, std::int32_t> merged;
  const auto plane = static_cast<std::int32_t>(feature.tilted ? Layout::kTilted * layout.plane : 0);
  for (int i = 0; i < HaarFeature::kMaxRects; ++i) {
    const Rect& r = feature.rects[i];
    const auto weight = static_cast<std::int32_t>(feature.weights[i]);
    const auto add = [&](int x, int y, std::int32_t w) {
      merged[plane + y * layout.stride + layout.column(step, x)] += w;
    };
    add(r.x, r.y, weight);
    if (feature.tilted) {
      add(r.x - r.height, r.y + r.height, -weight);
      add(r.x + r.width, r.y + r.width, -weight);
      add(r.x + r.width - r.height, r.y + r.width + r.height, weight);
    } else {
      add(r.x + r.width, r.y, -weight);
      add(r.x, r.y + r.height, -weight);
      add(r.x + r.width, r.y + r.height, weight);
    }
  }
  std::erase_if(merged, [](const auto& corner) { return corner.second == 0; });
  return merged;
}

// Two plain corners either way, and one or two of a common factor; that is most features.
bool fill_corners(const std::map<std::int32_t, std::int32_t>& merged, PackedCascade::HaarNode& node) {
  std::vector<std::int32_t> plus, minus, factor_plus, factor_minus;
  for (const auto& [offset, weight] : merged) {
    if (std::abs(weight) == 1) {
      (weight > 0 ? plus : minus).push_back(offset);
      continue;
    }
    if (node.factor != 0 && std::abs(weight) != node.factor) return false;
    node.factor = std::abs(weight);
    (weight > 0 ? factor_plus : factor_minus).push_back(offset);
  }
  if (plus.size() != 2 || minus.size() != 2 || factor_plus.size() != factor_minus.size()) return false;
  if (factor_plus.empty() || factor_plus.size() > 2) return false;
  std::copy(plus.begin(), plus.end(), node.corners);
  std::copy(minus.begin(), minus.end(), node.corners + 2);
  for (std::size_t i = 0; i < factor_plus.size(); ++i) {
    node.corners[4 + 2 * i] = factor_plus[i];
    node.corners[5 + 2 * i] = factor_minus[i];
  }
  node.form =
      factor_plus.size() == 2 ? PackedCascade::HaarNode::Form::eight : PackedCascade::HaarNode::Form::six;
  return true;
}

// The largest leaf of each of a stage's trees, added up: no sum is larger.
double largest_sum(const Model& model, const BoostingStage& stage) {
  double sum = 0;
  for (int t = 0; t < stage.trees; ++t) {
    const Tree& tree = model.trees[static_cast<std::size_t>(stage.first_tree) + t];
    double largest = 0;
    for (int i = 0; i <= tree.nodes; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(model.leaves[tree.first_leaf + i])));
    sum += largest;
  }
  return sum;
}

bool has_small_offsets(const Layout& layout) {
  return layout.plane * layout.planes <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

PackedCascade::PackedCascade(const Model& model, const Layout& layout)
    : model_(&model), layout_(&layout), stride_(layout.stride), plane_(layout.plane) {
  if (!has_small_offsets(layout)) return;
  if (model.kind == FeatureKind::haar) {
    if (!std::all_of(model.haar.begin(), model.haar.end(), sums_are_exact)) return;
    for (const int step : {1, 2}) pack_haar(step);
    bound_float_sums();
  } else {
    const auto is_long = [](const BoostingStage& stage) { return stage.trees > kMaxSmallTrees; };
    if (layout.element_bytes != 2 || std::any_of(model.stages.begin(), model.stages.end(), is_long)) return;
    for (const int step : {1, 2}) pack_lbp(step);
    bound_small_sums();
  }
  packed_ = true;
}

bool PackedCascade::serves(const Layout& layout) const {
  if (!model_ || stride_ != layout.stride) return false;
  return plane_ == layout.plane || (packed_ && !model_->has_tilted && has_small_offsets(layout));
}

void PackedCascade::pack_haar(int step) {
  const int index = step - 1;
  for (const Node& node : model_->nodes) {
    HaarNode packed;
    packed.threshold = node.threshold;
    const auto merged = merge_corners(model_->haar[node.feature], *layout_, step);
    if (!fill_corners(merged, packed)) {
      packed.form = HaarNode::Form::list;
      packed.first = static_cast<std::int32_t>(list[index].size());
      packed.count = static_cast<std::int32_t>(merged.size());
      for (const auto& [offset, weight] : merged) list[index].push_back({offset, weight});
    }
    haar[index].push_back(packed);
  }
  int next = 0;
  for (const int y : {1, model_->window.height - 1}) {
    for (const int x : {1, model_->window.width - 1})
      inside[index][next++] = y * layout_->stride + layout_->column(step, x);
  }
}

void PackedCascade::pack_lbp(int step) {
  for (std::size_t i = 0; i < model_->nodes.size(); ++i) {
    const Rect& block = model_->lbp[model_->nodes[i].feature];
    LbpNode packed;
    int next = 0;
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 4; ++column) {
        packed.corners[next++] = (block.y + row * block.height) * layout_->stride +
                                 layout_->column(step, block.x + column * block.width);
      }
    }
    const std::uint32_t* const words = model_->subset(static_cast<std::int32_t>(i));
    for (unsigned p = 0; p < 256; ++p) {
      if ((words[p / 32] >> (p % 32) & 1U) == 0) continue;
      const unsigned darker = 255 - p;
      packed.set[darker / 8] = static_cast<std::uint8_t>(packed.set[darker / 8] | 1U << (darker % 8));
    }
    lbp[step - 1].push_back(packed);
  }
}

// Adding n floats in any order is off by at most (n - 1) 2^-24 times the sum of their magnitudes, to first
// order (N. Higham, "Accuracy and Stability of Numerical Algorithms", 4.2); twice that is plenty for the
// rest.
void PackedCascade::bound_float_sums() {
  for (const BoostingStage& stage : model_->stages) {
    const double error = stage.trees * std::ldexp(1.0, -24) * largest_sum(*model_, stage);
    const double threshold = stage.threshold;
    Bounds b;
    b.pass = std::nextafter(static_cast<float>(threshold + error), kInfinite);
    b.reject = std::nextafter(static_cast<float>(threshold - error), -kInfinite);
    bounds.push_back(b);
  }
}

// Fixed point so fine as a stage's largest sum allows. The error is what rounding its leaves makes at most.
void PackedCascade::bound_small_sums() {
  constexpr double kLargest = 32000;  // largest upper half of a sum
  constexpr int kMostLowBits = 12;
  lbp_leaves.resize(model_->leaves.size());
  for (const BoostingStage& stage : model_->stages) {
    LbpBounds b;
    b.low_bits =
        std::min(kMostLowBits, 15 - static_cast<int>(std::bit_width(static_cast<unsigned>(stage.trees))));
    const auto halves = [&](std::int64_t value) {
      const std::int64_t high = value >> b.low_bits;
      return LbpLeaf{static_cast<std::int16_t>(high),
                     static_cast<std::int16_t>(value - (high << b.low_bits))};
    };
    const double threshold = stage.threshold;
    const double largest = std::max(largest_sum(*model_, stage), 1e-3);
    const double one = std::ldexp(kLargest, b.low_bits) / largest;
    double error = 1e-3;
    for (int t = 0; t < stage.trees; ++t) {
      const Tree& tree = model_->trees[static_cast<std::size_t>(stage.first_tree) + t];
      double worst = 0;
      for (int i = 0; i <= tree.nodes; ++i) {
        const std::size_t leaf = static_cast<std::size_t>(tree.first_leaf) + i;
        const double value = static_cast<double>(model_->leaves[leaf]) * one;
        const std::int64_t rounded = std::llrint(value);
        lbp_leaves[leaf] = halves(rounded);
        worst = std::max(worst, std::abs(value - static_cast<double>(rounded)));
      }
      error += worst;
    }
    // Thresholds out of reach pass or reject all.
    const double farthest = std::ldexp(32767.0, b.low_bits);
    const auto bound = [&](double value) {
      return halves(static_cast<std::int64_t>(std::ceil(std::clamp(value, -farthest, farthest))));
    };
    b.pass = bound(threshold * one + error);
    b.reject = bound(threshold * one - error);
    lbp_bounds.push_back(b);
  }
}

}  // namespace sightline::cascade
