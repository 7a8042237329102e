#include "family/show_options.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace sightline {
namespace fs = std::filesystem;

void ModelPicture::add_to(OptionSet& options) {
  options.add("--picture FILE", &file_, "Picture (PNG) to write of what the model has learned");
}

std::string ModelPicture::write(const fs::path& model, const std::function<Canvas()>& draw) const {
  const fs::path picture = file_;
  std::error_code none;
  if (fs::equivalent(model, picture, none)) {
    throw Error(ExitCode::usage, "the picture would replace the model '" + model.string() + "'",
                "give another name with --picture"_message);
  }
  draw().write_png(picture.string());
  return picture.string();
}

void SurvivorOptions::add_to(OptionSet& options) {
  options.add(
      "--survivors PICTURE|FOLDER", &pictures,
      "Cascades and WaldBoost: a picture or folder of pictures on which to count the windows that get past "
      "each stage or weak classifier");
  options.add("--scale-step RATIO", &scale_step, "Ratio of neighbouring scales, with --survivors")
      .between(1.01, 8.0)
      .show_default()
      .needs("--survivors");
}

std::vector<float> survivor_shares(const PixelWindowDetector& detector, std::size_t steps,
                                   const std::string& path, const ShowContext& context) {
  const auto workspace = detector.make_workspace();
  auto& own = static_cast<PixelWindowWorkspace&>(*workspace);
  std::vector<std::int64_t> left(steps);
  std::int64_t windows = 0;
  context.pictures(path, [&](PictureView picture) {
    if (!detector.prepare(own, picture)) return;
    detector.run_stage(PixelWindowDetector::kPyramid, own);
    windows += detector.count_left(own, left);
  });
  std::vector<float> shares;
  if (windows == 0) {
    logger().warn("no picture in '{}' is as large as the model's window", path);
    return shares;
  }
  for (const std::int64_t count : left)
    shares.push_back(static_cast<float>(static_cast<double>(count) / static_cast<double>(windows)));
  return shares;
}

}  // namespace sightline
