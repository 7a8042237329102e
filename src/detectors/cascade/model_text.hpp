#pragma once
/// An OpenCV cascade in words, for `sightline model show`.

#include <filesystem>
#include <string>

#include "detectors/cascade/model.hpp"
#include "detectors/cascade/survivors.hpp"

namespace sightline::cascade {

/// Text about the cascade, one line per property, and a table of its stages.
/// @param survivors  adds each stage's surviving windows to the table; may be null
std::string model_text(const std::filesystem::path& file, const Model& model,
                       const StageSurvivors* survivors);

}  // namespace sightline::cascade
