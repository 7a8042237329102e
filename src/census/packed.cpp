#include <algorithm>

#include "census/scan.hpp"

namespace sightline::census {
namespace {

// Larger sums are told apart from it in a byte that saturates.
constexpr std::int32_t kMostInBytes = 254;
constexpr int kBlock = 16;  // bytes that vectors look up among

}  // namespace

PackedModel::PackedModel(const Model& model, std::span<const std::int32_t> lowest)
    : model_(&model), most_cell_(model.most_cell()), limits_(reference::limits_of(model, lowest)) {
  for (const WeakClassifier& weak : model.weak) {
    offsets_.push_back((weak.cell - 1) * kPlane + weak.y * kStride + weak.x);
    CodeSet steps = weak.codes;
    for (int i = kBlock; i < kSetBytes; ++i)
      steps[i] = static_cast<std::uint8_t>(weak.codes[i] ^ weak.codes[i - kBlock]);
    steps_.push_back(steps);
  }
  byte_weights_.resize(model.weak.size());
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    const bool is_last =
        std::ranges::any_of(model.views, [&](const View& view) { return view.end == s + 1; });
    const bool fits = !is_last && limit(s) <= kMostInBytes;
    fits_bytes_.push_back(fits ? 1 : 0);
    for (int i = model.first_weak(s); fits && i < model.stages[static_cast<std::size_t>(s)].end; ++i) {
      // A weight above the limit rejects by itself, as limit + 1 does.
      const std::int32_t weight = model.weak[static_cast<std::size_t>(i)].weight;
      byte_weights_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(std::min(weight, limit(s) + 1));
    }
  }
}

}  // namespace sightline::census
