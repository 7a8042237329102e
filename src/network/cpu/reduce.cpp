#include "network/cpu/reduce.hpp"

#include <algorithm>
#include <vector>

#include "network/cpu/move.hpp"

namespace sightline::nn {
namespace {

// The blocks that elements lie in; {}: they lie otherwise.
std::vector<const float*> blocks_of(const Channels<const float>& elements, int count) {
  std::vector<const float*> blocks;
  for (int c = 0; c < count; c += kBlock) {
    const int end = std::min(count, c + static_cast<int>(kBlock));
    if (elements.side_by_side(c, end) < end - c || elements.step_of(c) != elements.step_of(0)) return {};
    blocks.push_back(elements.first[c]);
  }
  return blocks;
}

}  // namespace

void fold_channels(Fold fold, const Channels<const float>& elements, int count, int points, float* out,
                   std::ptrdiff_t out_step, float* scratch) {
  const std::vector<const float*> blocks = blocks_of(elements, count);
  if (!blocks.empty())
    return fold_within_points(fold, {blocks.data(), count, points, elements.step_of(0)}, out, out_step);
  std::vector<float*> rows(static_cast<std::size_t>(count));
  for (int c = 0; c < count; ++c) rows[static_cast<std::size_t>(c)] = scratch + c * points;
  copy_channels(elements, {rows.data(), 1}, count, points);
  float* const folds = out_step == 1 ? out : scratch + count * points;
  fold_across_rows(fold, {rows.data(), count, points}, folds);
  for (int p = 0; out_step != 1 && p < points; ++p) out[p * out_step] = folds[p];
}

}  // namespace sightline::nn
