#include <algorithm>

#include "network/primitives/checks.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kMostKept = 10'000;  // of a class: each is compared with all that follow
constexpr std::size_t kMostComparisons = std::size_t{1} << 32;  // of all classes, to end within seconds

struct Corners {
  float y1, x1, y2, x2;
};

Corners corners_of(const float* box, bool centred) {
  if (centred) return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
          std::max(box[1], box[3])};
}

float overlap_of(const Corners& a, const Corners& b) {
  const float height = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const float width = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float both = height * width;
  const float all = (a.y2 - a.y1) * (a.x2 - a.x1) + (b.y2 - b.y1) * (b.x2 - b.x1) - both;
  return all > 0 ? both / all : 0;
}

struct Limits {
  std::int64_t count;
  float overlap, score;
};

// The boxes that are kept, by falling score; equal ones stand in their order.
std::vector<std::int64_t> kept_boxes(std::span<const float> boxes, std::span<const float> scores,
                                     bool centred, const Limits& limits, std::size_t& comparisons) {
  std::vector<std::int64_t> order, kept;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > limits.score) order.push_back(static_cast<std::int64_t>(i));
  }
  const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return score(a) > score(b); });
  std::vector<Corners> corners;
  for (const std::int64_t i : order) {
    if (static_cast<std::int64_t>(kept.size()) >= limits.count) break;
    comparisons += kept.size();
    if (comparisons > kMostComparisons) throw Problem("compares too many boxes");
    const Corners box = corners_of(boxes.data() + i * 4, centred);
    const auto overlaps = [&](const Corners& one) { return overlap_of(one, box) > limits.overlap; };
    if (std::ranges::any_of(corners, overlaps)) continue;
    if (kept.size() == kMostKept) throw Problem("keeps too many boxes");
    corners.push_back(box);
    kept.push_back(i);
  }
  return kept;
}

float real_of(const Tensor& tensor) {
  if (tensor.size() != 1) throw Problem("needs one number, not " + text_of(tensor.shape()));
  return tensor.as<float>()[0];
}

}  // namespace

Types Suppress::infer(InputTypes inputs) const {
  check_count(inputs, 5, 5);
  for (const std::size_t i : {0, 1, 3, 4}) check_type(inputs, i, DataType::f32);
  check_index(inputs, 2);
  check_rank(inputs, 1, 3, 3);
  const Shape& scores = inputs[1].shape;
  check_shape(inputs, 0, {scores[0], scores[2], 4});
  return {{DataType::i64, {kUnknown, 3}}};
}

void Suppress::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor &boxes = *inputs[0], &scores = *inputs[1];
  const Limits limits{integer_of(*inputs[2]), real_of(*inputs[3]), real_of(*inputs[4])};
  const std::int64_t classes = scores.dim(1);
  const auto count = static_cast<std::size_t>(scores.dim(2));
  std::vector<std::int64_t> chosen;
  std::size_t comparisons = 0;
  for (std::int64_t row = 0; row < scores.dim(0) * classes; ++row) {
    const auto picture = row / classes;
    for (const std::int64_t box :
         kept_boxes(boxes.as<float>().subspan(static_cast<std::size_t>(picture) * count * 4, count * 4),
                    scores.as<float>().subspan(static_cast<std::size_t>(row) * count, count), centred, limits,
                    comparisons))
      chosen.insert(chosen.end(), {picture, row % classes, box});
  }
  outputs[0] = Tensor::of<std::int64_t>({static_cast<std::int64_t>(chosen.size()) / 3, 3}, chosen);
}

}  // namespace sightline::nn
