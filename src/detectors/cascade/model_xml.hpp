#pragma once
/// Writing cascades as OpenCV's XML: the new layout, as opencv_traincascade wrote it, which OpenCV 2.4 and
/// later load.

#include <filesystem>
#include <string>

#include "detectors/cascade/model.hpp"

namespace sightline::cascade {

/// Training parameters in a file. OpenCV's trainer reads them, its detector does not.
struct StageParameters {
  double min_hit_rate = 0.995;
  double max_false_alarm = 0.5;
  double trimmed_weight = 0.95;
  int max_weak_classifiers = 200;
};

/// The file of a model. parse_model restores the same model: numbers have enough digits.
/// @param note  a comment on the data; may be empty
std::string model_xml(const Model& model, const StageParameters& parameters, const std::string& note);

/// Writes it, whole or not at all. Throws Error (failed).
void save_model(const Model& model, const StageParameters& parameters, const std::string& note,
                const std::filesystem::path& file);

}  // namespace sightline::cascade
