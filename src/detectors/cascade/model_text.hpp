#pragma once
/// An OpenCV cascade in words, for `sightline model show`.

#include <filesystem>
#include <string>

#include "detectors/cascade/model.hpp"
#include "detectors/cascade/survivors.hpp"

namespace sightline::cascade {

/// What the cascade is made of, a line a property, and a table of its stages.
/// @param survivors  adds to the table how many windows get past each stage; null: nothing does
std::string model_text(const std::filesystem::path& file, const Model& model,
                       const StageSurvivors* survivors);

}  // namespace sightline::cascade
