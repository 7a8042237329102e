#include "detectors/waldboost/scan.hpp"

namespace sightline::waldboost {

PackedModel::PackedModel(const Model& model) : model_(&model) {
  for (const Feature& f : model.features) {
    if (model.kind == FeatureKind::haar) break;  // Haar features use an integral image
    const int plane = plane_of(f);
    uses_plane_[plane] = true;
    offsets_.push_back(plane * kPlane + f.y * kStride + f.x);
  }
  for (int code = 0; code < kCodes; ++code) {
    if (model.table(0)[code] >= model.thresholds[0])
      first_passes_[code / 8] = static_cast<std::uint8_t>(first_passes_[code / 8] | 1U << code % 8);
  }
}

}  // namespace sightline::waldboost
