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

// Calls `in_blocks(elements)` or `in_rows(elements)`.
template <typename InBlocks, typename InRows>
void with_elements(const Channels<const float>& elements, int count, int points, float* scratch,
                   const InBlocks& in_blocks, const InRows& in_rows) {
  const std::vector<const float*> blocks = blocks_of(elements, count);
  if (!blocks.empty()) return in_blocks(PointElements{blocks.data(), count, points, elements.step_of(0)});
  std::vector<float*> rows(static_cast<std::size_t>(count));
  for (int c = 0; c < count; ++c) rows[static_cast<std::size_t>(c)] = scratch + c * points;
  copy_channels(elements, {rows.data(), 1}, count, points);
  in_rows(RowElements{rows.data(), count, points});
}

}  // namespace

void fold_channels(Fold fold, const Channels<const float>& elements, int count, int points, float* out,
                   std::ptrdiff_t out_step, float* scratch) {
  with_elements(
      elements, count, points, scratch,
      [&](const PointElements& all) { fold_within_points(fold, all, out, out_step); },
      [&](const RowElements& all) {
        if (out_step == 1) return fold_across_rows(fold, all, out);
        float* const folds = scratch + count * points;
        fold_across_rows(fold, all, folds);
        for (int p = 0; p < points; ++p) out[p * out_step] = folds[p];
      });
}

void find_channels(const ArgReduce& how, const Channels<const float>& elements, int count, int points,
                   std::int64_t* out, float* scratch) {
  with_elements(
      elements, count, points, scratch, [&](const PointElements& all) { find_within_points(how, all, out); },
      [&](const RowElements& all) { find_across_rows(how, all, out); });
}

}  // namespace sightline::nn
