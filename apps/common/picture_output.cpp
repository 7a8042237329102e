#include "apps/common/picture_output.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <regex>
#include <set>
#include <utility>

#include "apps/cli/writable.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "media/folder.hpp"
#include "media/picture_file.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

bool has_extension(const fs::path& file, std::initializer_list<const char*> extensions) {
  return std::ranges::find(extensions, lower_case(file.extension().string())) != extensions.end();
}

}  // namespace

bool is_picture(const fs::path& file) {
  return media::is_image_name(file) && !has_extension(file, {".gif"});  // which may be animated
}

std::string annotated_name(const std::string& name) {
  // What would be taken for a place to put a number in ("a%20dog.jpg").
  fs::path plain = std::regex_replace(name, std::regex("%(?=[0-9]*d)"), "_");
  if (!has_extension(plain, {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".ppm"}))
    plain.replace_extension(".png");
  return plain.string();
}

std::vector<PicturePair> picture_pairs(const fs::path& input, const fs::path& folder, bool recursive) {
  std::error_code error;
  if (!fs::is_directory(input, error)) return {{input, folder / annotated_name(input.filename().string())}};
  const std::vector<fs::path> images = media::list_folder(input.string(), recursive).images;
  std::set<std::string> taken;
  for (const fs::path& image : images) taken.insert(image.lexically_relative(input).string());
  std::vector<PicturePair> pairs;
  for (const fs::path& image : images) {
    const std::string own = image.lexically_relative(input).string();
    std::string name = annotated_name(own);
    if (name != own && taken.contains(name)) name = annotated_name(own + ".png");
    while (name != own && !taken.insert(name).second) name += ".png";
    pairs.push_back({image, folder / name});
  }
  return pairs;
}

PictureSink::PictureSink(fs::path input, fs::path folder, const StreamInfo& info, media::WriteOptions options,
                         std::vector<std::string> labels, bool recursive)
    : input_(std::move(input)),
      folder_(std::move(folder)),
      info_(info),
      options_(std::move(options)),
      labels_(std::move(labels)) {
  make_folder(folder_);
  for (PicturePair& pair : picture_pairs(input_, folder_, recursive))
    targets_[pair.source.string()] = std::move(pair.target);
}

void PictureSink::accept(const Frame& frame, const FrameResult& result) {
  if (frame.empty()) return;
  const bool from_folder = !result.picture.empty();
  const std::string name = from_folder ? result.picture : input_.filename().string();
  options_.input = (from_folder ? input_ / name : input_).string();
  const auto known = targets_.find(options_.input);
  const fs::path target = known != targets_.end() ? known->second : folder_ / annotated_name(name);
  if (from_folder) make_folder(target.parent_path());
  media::write_picture(target.string(), frame, result.objects, labels_, info_, options_);
}

}  // namespace sightline::apps
