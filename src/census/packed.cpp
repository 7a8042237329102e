#include <algorithm>
#include <limits>

#include "census/scan.hpp"

namespace sightline::census {
namespace {

// Larger sums are told apart from it in a byte that saturates.
constexpr std::int32_t kMostInBytes = 254;
constexpr int kBlock = 16;  // bytes that vectors look up among
constexpr int kMostInTable = std::numeric_limits<std::uint16_t>::max();

std::int32_t offset_of(const WeakClassifier& weak) {
  return (weak.cell - 1) * PackedModel::kPlane + weak.y * PackedModel::kStride + weak.x;
}

}  // namespace

PackedModel::PackedModel(const Model& model, std::span<const std::int32_t> lowest)
    : model_(&model), most_cell_(model.most_cell()), limits_(reference::limits_of(model, lowest)) {
  side_by_side_.resize(model.stages.size());
  alone_.resize(model.stages.size());
  tables_.resize(model.stages.size());
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    const bool is_last =
        std::ranges::any_of(model.views, [&](const View& view) { return view.end == s + 1; });
    if (!is_last && limit(s) <= kMostInBytes) pack_side_by_side(s);
    pack_alone(s);
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

// Sums that were too large for a table go on in another one of the same place.
void PackedModel::pack_alone(int stage) {
  struct Place {
    std::int32_t offset;
    int most;  // that a sum in its table may be
  };
  std::vector<Place> places;
  std::vector<std::uint16_t>& tables = tables_[static_cast<std::size_t>(stage)];
  for (const WeakClassifier& weak : model_->weak_of(stage)) {
    const std::int32_t offset = offset_of(weak);
    auto place = std::ranges::find_if(
        places, [&](const Place& p) { return p.offset == offset && p.most + weak.weight <= kMostInTable; });
    if (place == places.end()) {
      place = places.insert(places.end(), Place{offset, 0});
      tables.resize(tables.size() + kCodeTable);
    }
    place->most += weak.weight;
    std::uint16_t* const table = tables.data() + (place - places.begin()) * kCodeTable;
    for (int code = 0; code < kCodeTable; ++code) {
      if (contains(weak.codes, code)) table[code] = static_cast<std::uint16_t>(table[code] + weak.weight);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    alone_[static_cast<std::size_t>(stage)].push_back({places[i].offset, tables.data() + i * kCodeTable});
}

}  // namespace sightline::census
