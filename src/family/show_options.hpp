#pragma once
/// Options of `model show` that several families have.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "drawing/canvas.hpp"
#include "family/model_show.hpp"
#include "params/options.hpp"

namespace sightline {

/// Option --picture of families that draw a model's content. Thread-safety: one thread at a time.
class ModelPicture {
 public:
  void add_to(OptionSet& options);
  bool is_wanted() const { return !file_.empty(); }
  /// Draws the picture of a model into the file that was asked for. Returns its name. Throws Error (usage)
  /// where it would replace the model, and Error (failed) where it cannot be written.
  std::string write(const std::filesystem::path& model, const std::function<Canvas()>& draw) const;

 private:
  std::string file_;
};

/// --survivors and --scale-step, of families that reject most windows early. Plain data.
struct SurvivorOptions {
  std::string pictures;     ///< pictures to count on; empty: none
  double scale_step = 1.1;  ///< ratio of neighbouring scales
  void add_to(OptionSet& options);
};

/// Share of the windows that survives each of a model's steps, over all pictures of a file or folder; empty,
/// with a warning, if no picture is large enough. Throws like ShowContext::pictures.
/// @param steps  number of rejecting steps of the model
std::vector<float> survivor_shares(const PixelWindowDetector& detector, std::size_t steps,
                                   const std::string& path, const ShowContext& context);

}  // namespace sightline
