#pragma once
/// An OpenCV cascade in words, for `sightline model show`.

#include <filesystem>
#include <string>

#include "cascade/model.hpp"
#include "cascade/survivors.hpp"

namespace sightline::apps {

/// What the cascade is made of, a line a property, and a table of its stages.
/// @param survivors  adds to the table how many windows get past each stage; null: nothing does
std::string cascade_text(const std::filesystem::path& file, const cascade::Model& model,
                         const cascade::StageSurvivors* survivors);

}  // namespace sightline::apps
