#include "faces/landmarks/finder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace sightline::landmarks {

Points frame_points(const Shape& shape, const Square& square) {
  const auto place = [&](int first, std::int32_t value) {
    const std::int64_t from_box = std::int64_t{value} - kPatchMargin * kUnit;
    return first + static_cast<double>(from_box * square.side) / (kBoxPixels * kUnit);
  };
  Points points;
  for (std::size_t i = 0; i < kPoints; ++i)
    points[i] = {place(square.x, shape[2 * i]), place(square.y, shape[2 * i + 1])};
  return points;
}

Finder::Finder(const Model& model)
    : mean_(model.mean),
      mean_shape_(model.mean),
      depth_(model.depth),
      stages_(model.stages),
      trees_(model.trees),
      pixels_(model.pixels),
      places_(model.places),
      shifts_(model.shifts),
      leaves_(model.leaves.size() * kPadded) {
  for (const Split& split : model.splits) nodes_.push_back({split.first, split.second, split.threshold});
  std::fill_n(leaves_.data(), leaves_.size(), std::int8_t{0});
  for (std::size_t i = 0; i < model.leaves.size(); ++i)
    std::copy(model.leaves[i].begin(), model.leaves[i].end(), leaves_.data() + i * kPadded);
}

template <int kDepth>
void Finder::add_trees(int stage, const std::uint8_t* pixels, std::int32_t* sums) const {
  constexpr int kNodes = (1 << kDepth) - 1;
  const Node* nodes = nodes_.data() + std::ptrdiff_t{stage} * trees_ * kNodes;
  const std::int8_t* leaves = leaves_.data() + std::ptrdiff_t{stage} * trees_ * (kNodes + 1) * kPadded;
  for (int tree = 0; tree < trees_; ++tree, nodes += kNodes, leaves += (kNodes + 1) * kPadded) {
    int node = 0;
    for (int level = 0; level < kDepth; ++level) {
      const Node& one = nodes[node];
      node = 2 * node + 1 + (pixels[one.first] - pixels[one.second] > one.threshold ? 1 : 0);
    }
    const std::int8_t* const leaf = leaves + (node - kNodes) * kPadded;
    for (int i = 0; i < kPadded; ++i) sums[i] += leaf[i];
  }
}

Shape Finder::find(const Patch& patch, const Shape& start) const {
  Shape shape = start;
  std::array<std::uint8_t, kMaxPixels> pixels;
  for (int stage = 0; stage < stages_; ++stage) {
    const SimilarityTransform transform = mean_shape_.transform_to(shape);
    const PixelPlace* const places = places_.data() + std::ptrdiff_t{stage} * pixels_;
    for (int i = 0; i < pixels_; ++i)
      pixels[static_cast<std::size_t>(i)] =
          patch[static_cast<std::size_t>(patch_index(shape, transform, places[i]))];
    alignas(64) std::int32_t sums[kPadded] = {};
    static_assert(kMaxDepth == 6);
    switch (depth_) {
      case 1:
        add_trees<1>(stage, pixels.data(), sums);
        break;
      case 2:
        add_trees<2>(stage, pixels.data(), sums);
        break;
      case 3:
        add_trees<3>(stage, pixels.data(), sums);
        break;
      case 4:
        add_trees<4>(stage, pixels.data(), sums);
        break;
      case 5:
        add_trees<5>(stage, pixels.data(), sums);
        break;
      default:
        add_trees<6>(stage, pixels.data(), sums);
        break;
    }
    move_points(shape, sums, shifts_[static_cast<std::size_t>(stage)]);
  }
  return shape;
}

Shape Finder::find(GrayView frame, const Square& square, PatchSampler& sampler) const {
  Patch patch;
  sampler.sample(frame, square, patch);
  return find(patch);
}

Shape Finder::other_start(int other) const {
  // A tenth larger or smaller about the patch's middle, a twentieth of the box's side to the right or left.
  const int sign = other == 0 ? 1 : -1;
  constexpr std::int32_t kMiddle = kPatchSide * kUnit / 2, kAside = kBoxPixels * kUnit / 20;
  Shape start = mean_;
  for (std::size_t i = 0; i < kCoordinates; ++i) {
    start[i] += sign * (start[i] - kMiddle) / 10;
    if (i % 2 == 0) start[i] += sign * kAside;
    start[i] = std::clamp(start[i], kLeast, kMost);
  }
  return start;
}

namespace {

// Points that a face's detector has found; none unless it has all of them.
std::optional<Points> points_of_detector(const SharedAttributes& attributes) {
  if (!attributes) return {};
  Points points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto found = std::ranges::find(attributes->landmarks, kPointNames[i], &Landmark::name);
    if (found == attributes->landmarks.end() || !std::isfinite(found->x) || !std::isfinite(found->y))
      return {};
    points[i] = {found->x, found->y};
  }
  return points;
}

}  // namespace

Square Finder::square_of(const Box& box, const SharedAttributes& attributes) const {
  const std::optional<Points> own = points_of_detector(attributes);
  if (!own) return landmarks::square_of(box);
  Point middle, mean_middle;
  for (std::size_t i = 0; i < kPoints; ++i) {
    middle.x += (*own)[i].x / kPoints;
    middle.y += (*own)[i].y / kPoints;
    mean_middle.x += static_cast<double>(mean_[2 * i]) / kPoints;
    mean_middle.y += static_cast<double>(mean_[2 * i + 1]) / kPoints;
  }
  double spread = 0, mean_spread = 0;
  const auto squared = [](double x, double y) { return x * x + y * y; };
  for (std::size_t i = 0; i < kPoints; ++i) {
    spread += squared((*own)[i].x - middle.x, (*own)[i].y - middle.y);
    mean_spread += squared(mean_[2 * i] - mean_middle.x, mean_[2 * i + 1] - mean_middle.y);
  }
  const double scale = std::sqrt(spread / mean_spread);  // frame pixels per unit of the shape
  const double margin = kPatchMargin * kUnit, side = scale * kBoxPixels * kUnit;
  return landmarks::square_of(
      {middle.x - scale * (mean_middle.x - margin), middle.y - scale * (mean_middle.y - margin), side, side});
}

FoundPoints Finder::find_points(GrayView frame, const Box& box, PatchSampler& sampler) const {
  const Square square = landmarks::square_of(box);
  Patch patch;
  sampler.sample(frame, square, patch);
  const Shape shape = find(patch);
  std::int64_t apart = 0;
  for (int other = 0; other < 2; ++other) {
    const Shape found = find(patch, other_start(other));
    for (std::size_t i = 0; i < kCoordinates; ++i) apart += std::abs(found[i] - shape[i]);
  }
  return {frame_points(shape, square), static_cast<double>(apart) / (2 * kCoordinates * kBoxPixels * kUnit)};
}

namespace reference {

Shape find(const Model& model, const Patch& patch, const Shape& start) {
  const MeanShape mean(model.mean);
  Shape shape = start;
  const auto pixels = static_cast<std::size_t>(model.pixels), trees = static_cast<std::size_t>(model.trees);
  const auto nodes = static_cast<std::size_t>(model.nodes());
  for (std::size_t stage = 0; stage < static_cast<std::size_t>(model.stages); ++stage) {
    const SimilarityTransform transform = mean.transform_to(shape);
    const auto pixel = [&](std::size_t i) {
      return patch[static_cast<std::size_t>(patch_index(shape, transform, model.places[stage * pixels + i]))];
    };
    std::int32_t sums[kCoordinates] = {};
    for (std::size_t tree = stage * trees; tree < (stage + 1) * trees; ++tree) {
      std::size_t node = 0;
      while (node < nodes) {
        const Split& split = model.splits[tree * nodes + node];
        node = 2 * node + (pixel(split.first) - pixel(split.second) > split.threshold ? 2 : 1);
      }
      const Leaf& leaf = model.leaves[tree * (nodes + 1) + node - nodes];
      for (std::size_t i = 0; i < kCoordinates; ++i) sums[i] += leaf[i];
    }
    move_points(shape, sums, model.shifts[stage]);
  }
  return shape;
}

}  // namespace reference
}  // namespace sightline::landmarks
