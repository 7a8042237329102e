#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "detectors/census/scan.hpp"

namespace sightline::census {
namespace {

// Largest limit in a saturating byte: larger sums must be distinguishable.
constexpr std::int32_t kMostInBytes = 254;
constexpr int kBlock = 16;  // bytes that vectors look up among

std::int32_t offset_of(const WeakClassifier& weak) {
  return (weak.cell - 1) * PackedModel::kPlane + weak.y * PackedModel::kStride + weak.x;
}

PackedSet pack(const CodeSet& codes) {
  PackedSet packed{codes};
  for (int i = kBlock; i < kSetBytes; ++i)
    packed.steps[i] = static_cast<std::uint8_t>(codes[i] ^ codes[i - kBlock]);
  return packed;
}

GatheredStage pack_gathered(std::span<const WeakClassifier> stage) {
  std::vector<WeakClassifier> sorted(stage.begin(), stage.end());
  std::ranges::stable_sort(sorted, {}, offset_of);
  GatheredStage packed;
  std::int32_t room = 0;  // room for weights in the last run
  for (const WeakClassifier& weak : sorted) {
    const std::int32_t offset = offset_of(weak);
    if (weak.weight > room || offset - packed.runs.back().offset >= GatheredStage::kRun) {
      packed.runs.push_back({offset, 0});
      room = std::numeric_limits<std::uint16_t>::max();
    }
    room -= weak.weight;
    packed.sets.push_back(pack(weak.codes));
    packed.weights.push_back(weak.weight);
    packed.columns.push_back(static_cast<std::uint8_t>(offset - packed.runs.back().offset));
    packed.runs.back().end = static_cast<int>(packed.sets.size());
  }
  return packed;
}

}  // namespace

PackedModel::PackedModel(const Model& model, std::span<const std::int32_t> lowest)
    : model_(&model), most_cell_(model.most_cell()), limits_(reference::limits_of(model, lowest)) {
  packed_stages_.resize(model.stages.size());
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    const bool is_last =
        std::ranges::any_of(model.views, [&](const View& view) { return view.end == s + 1; });
    if (!is_last && limit(s) <= kMostInBytes) pack_stage(s);
    gathered_stages_.push_back(pack_gathered(model.weak_of(s)));
  }
}

void PackedModel::pack_stage(int stage) {
  for (const WeakClassifier& weak : model_->weak_of(stage)) {
    // A weight above the limit rejects by itself, as limit + 1 does.
    const auto weight = static_cast<std::uint8_t>(std::min<std::int32_t>(weak.weight, limit(stage) + 1));
    packed_stages_[static_cast<std::size_t>(stage)].push_back({pack(weak.codes), offset_of(weak), weight});
  }
}

}  // namespace sightline::census
