#include "apps/detect/frame_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "apps/cli/writable.hpp"
#include "base/error.hpp"
#include "evaluation/report.hpp"
#include "media/decoded_picture.hpp"
#include "media/picture_file.hpp"

namespace sightline::apps {

namespace fs = std::filesystem;

namespace {

constexpr double kTrackEnds = 120;  // seconds without the track: --track-lost is at most 60

// Pixels of a frame as RGB, converted once for all objects.
class RgbFrame {
 public:
  explicit RgbFrame(const Frame& frame) : frame_(frame) {}

  // The pixels that a box touches; empty where it lies outside of the frame.
  Frame part(const Box& box) {
    const Size size = frame_.size();
    const Box inside = clipped(box, size);
    const int left = static_cast<int>(std::floor(inside.x)), top = static_cast<int>(std::floor(inside.y));
    const int right = std::min(static_cast<int>(std::ceil(inside.x + inside.width)), size.width);
    const int bottom = std::min(static_cast<int>(std::ceil(inside.y + inside.height)), size.height);
    if (!(inside.area() > 0) || right <= left || bottom <= top) return {};
    if (pixels_.empty()) pixels_ = media::to_rgb(frame_);
    const std::size_t width = static_cast<std::size_t>(right - left) * 3;
    std::vector<std::uint8_t> part;
    part.reserve(width * static_cast<std::size_t>(bottom - top));
    for (int y = top; y < bottom; ++y) {
      const auto row = pixels_.begin() + (static_cast<std::ptrdiff_t>(y) * size.width + left) * 3;
      part.insert(part.end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
    return frame_from_rgb(part.data(), {right - left, bottom - top}, frame_.number(), frame_.time());
  }

 private:
  const Frame& frame_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

FrameFolder::FrameFolder(fs::path folder, const std::string& option, const std::vector<std::string>& inputs,
                         bool overwrite)
    : folder_(std::move(folder)) {
  std::error_code error;
  for (const std::string& input : inputs) {
    const fs::path place = fs::is_directory(input, error) ? fs::path(input) : fs::path(input).parent_path();
    if (!fs::exists(input, error) || !fs::equivalent(place.empty() ? "." : place, folder_, error)) continue;
    throw Error(ExitCode::usage,
                option + " '" + folder_.string() + "' is the folder of the input '" + input + "'",
                "choose another folder");
  }
  if (!overwrite && fs::is_directory(folder_, error) && !fs::is_empty(folder_, error)) {
    throw Error(ExitCode::usage, "the folder '" + folder_.string() + "' of " + option + " is not empty",
                "choose another folder, or write into it with --overwrite");
  }
  make_folder(folder_);
  require_writable((folder_ / "file").string());
}

std::string FrameFolder::name_for(const fs::path& source) {
  std::string& name = names_[source.string()];
  if (!name.empty()) return name;
  const fs::path file = source.has_filename() ? source.filename() : source.parent_path().filename();
  const auto plain = [](std::string text) {  // URLs and filter graphs are no names of files
    std::ranges::replace_if(
        text, [](char c) { return std::strchr("/:?*|<>\"\\%=,;&", c) != nullptr; }, '_');
    return text.empty() || text.front() == '.' || text == "-" ? "input" : text.substr(0, 100);
  };
  std::string tried = plain(file.stem());
  if (used_.contains(tried)) tried = plain(file);
  for (int i = 2; !used_.insert(tried).second; ++i) tried = fmt::format("{}_{}", plain(file), i);
  return name = tried;
}

std::string FrameFolder::name_for(const FrameResult& result, const std::string& source, bool is_picture) {
  return name_for(result.picture.empty() ? source : result.picture) +
         (is_picture ? "" : fmt::format("-{:06}", result.frame));
}

fs::path FrameFolder::add(const std::string& file) {
  ++files_;
  return folder_ / file;
}

void CropSink::write(const std::string& name, const Frame& picture) {
  StreamInfo info = info_;
  info.color = {};  // of RGB
  media::write_picture(folder_.add(name + ".png").string(), picture, {}, {}, info);
}

void CropSink::accept(const Frame& frame, const FrameResult& result) {
  if (frame.empty() || result.status != FrameStatus::ok) return;
  std::erase_if(tracks_, [&](const auto& one) {
    const bool has_ended = result.time - one.second.seen > kTrackEnds;
    if (has_ended) write_track(one.first, one.second);
    return has_ended;
  });
  RgbFrame pixels(frame);
  for (std::size_t i = 0; i < result.objects.size(); ++i) {
    const Detection& object = result.objects[i];
    if (object.track > 0) {
      Best& best = tracks_[object.track];
      best.seen = result.time;
      if (!best.picture.empty() && !(object.score > best.score)) continue;
      if (Frame part = pixels.part(object.box); !part.empty()) {
        best.picture = std::move(part);
        best.score = object.score;
      }
      continue;
    }
    const Frame part = pixels.part(object.box);
    if (part.empty()) continue;
    write(fmt::format("{}-{:03}", folder_.name_for(result, source_, info_.is_pictures), i + 1), part);
  }
}

void CropSink::write_track(std::int64_t track, const Best& best) {
  if (!best.picture.empty()) write(fmt::format("{}-{:06}", folder_.name_for(source_), track), best.picture);
}

void CropSink::finish() {
  for (const auto& [track, best] : tracks_) write_track(track, best);
  tracks_.clear();
}

std::string yolo_labels(const FrameResult& result) {
  std::string text;
  const Size size{result.width, result.height};
  for (const Detection& object : result.objects) {
    const Box box = clipped(object.box, size);
    if (!(box.area() > 0)) continue;
    text += fmt::format("{} {:.6f} {:.6f} {:.6f} {:.6f} {:.4f}", object.label,
                        (box.x + box.width / 2) / size.width, (box.y + box.height / 2) / size.height,
                        box.width / size.width, box.height / size.height, object.score);
    if (object.track > 0) text += fmt::format(" {}", object.track);
    text += '\n';
  }
  return text;
}

void LabelSink::accept(const Frame&, const FrameResult& result) {
  if (result.status == FrameStatus::failed) return;
  write_report(folder_.add(folder_.name_for(result, source_, is_pictures_) + ".txt").string(),
               yolo_labels(result));
}

void write_classes(FrameFolder& folder, const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += label + '\n';
  write_report(folder.add(folder.name_for("classes") + ".txt").string(), text);  // a name that no input gets
}

}  // namespace sightline::apps
