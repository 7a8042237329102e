#include <algorithm>
#include <span>
#include <vector>

#include "census/scan.hpp"

namespace sightline::census {
namespace {

// Larger sums are told apart from it in a byte that saturates.
constexpr std::int32_t kMostInBytes = 254;
constexpr int kBlock = 16;  // bytes that vectors look up among

std::int32_t offset_of(const WeakClassifier& weak) {
  return (weak.cell - 1) * PackedModel::kPlane + weak.y * PackedModel::kStride + weak.x;
}

OneByOne pack_one_by_one(std::span<const WeakClassifier> stage) {
  OneByOne packed;
  for (const WeakClassifier& weak : stage) {
    packed.offsets.push_back(offset_of(weak));
    packed.weights.push_back(weak.weight);
    packed.sets.push_back({weak.codes});
  }
  const std::size_t count = (stage.size() + OneByOne::kAtOnce - 1) / OneByOne::kAtOnce * OneByOne::kAtOnce;
  packed.offsets.resize(count);
  packed.weights.resize(count);
  packed.sets.resize(count);
  return packed;
}

}  // namespace

PackedModel::PackedModel(const Model& model, std::span<const std::int32_t> lowest)
    : model_(&model), most_cell_(model.most_cell()), limits_(reference::limits_of(model, lowest)) {
  side_by_side_.resize(model.stages.size());
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    const bool is_last =
        std::ranges::any_of(model.views, [&](const View& view) { return view.end == s + 1; });
    if (!is_last && limit(s) <= kMostInBytes) pack_side_by_side(s);
    one_by_one_.push_back(pack_one_by_one(model.weak_of(s)));
  }
}

void PackedModel::pack_side_by_side(int stage) {
  for (const WeakClassifier& weak : model_->weak_of(stage)) {
    // A weight above the limit rejects by itself, as limit + 1 does.
    const auto weight = static_cast<std::uint8_t>(std::min<std::int32_t>(weak.weight, limit(stage) + 1));
    SideBySide packed{weak.codes, offset_of(weak), weight};
    for (int i = kBlock; i < kSetBytes; ++i)
      packed.steps[i] = static_cast<std::uint8_t>(weak.codes[i] ^ weak.codes[i - kBlock]);
    side_by_side_[static_cast<std::size_t>(stage)].push_back(packed);
  }
}

}  // namespace sightline::census
