#include "family/show_options.hpp"

#include "base/error.hpp"

namespace sightline {
namespace fs = std::filesystem;

void ModelPicture::add_to(OptionSet& options) {
  options.add("--picture", &file_,
              "PNG to write (default: the model's name with .png, in the current folder)");
  options.add("--no-picture", &none_, "Describe in words only").excludes("--picture").harmless();
}

std::string ModelPicture::write(const fs::path& model, const std::function<Canvas()>& draw) const {
  const fs::path picture = file_.empty() ? model.stem().string() + ".png" : file_;
  std::error_code none;
  if (fs::equivalent(model, picture, none)) {
    throw Error(ExitCode::usage, "the picture would replace the model '" + model.string() + "'",
                "give another name with --picture");
  }
  // A name that nobody gave must not cost anybody a file.
  if (file_.empty() && fs::exists(picture, none))
    return "not drawn: '" + picture.string() + "' exists; name a file with --picture";
  draw().write_png(picture.string());
  return picture.string();
}

void SurvivorOptions::add_to(OptionSet& options) {
  options.add(
      "--survivors", &pictures,
      "Cascades and WaldBoost: a picture or folder of pictures on which to count the windows that get past "
      "each stage or weak classifier");
  options.add("--scale-step", &scale_step, "Ratio of neighbouring scales, with --survivors")
      .between(1.01, 8.0)
      .show_default()
      .needs("--survivors");
}

}  // namespace sightline
