#include "apps/label/label_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/common/picture_output.hpp"
#include "base/error.hpp"
#include "media/folder.hpp"
#include "media/picture_file.hpp"
#include "training/file_image_set.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRecent = 16;

bool is_list(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".txt" || extension == ".lst" || extension == ".list";
}

}  // namespace

LabelPictures::LabelPictures(const Options& options, bool by_stem) : options_(options), by_stem_(by_stem) {
  for (const std::string& input : options_.inputs) add_input(input);
  if (!videos_.empty() && options_.frames.empty() && (videos_.size() > 1 || !entries_.empty())) {
    throw Error(ExitCode::usage,
                "frames of a video are named by number, and there are other pictures or videos",
                "label one video by itself, or write frames as pictures: --frames FOLDER");
  }
  if (!options_.frames.empty()) {
    if (videos_.empty())
      throw Error(ExitCode::usage, "--frames is for videos, and there is none", "leave it out");
    make_folder(options_.frames);
  }
  if (entries_.empty()) extend();
}

void LabelPictures::add_input(const std::string& input) {
  require_present(input);
  std::error_code error;
  if (fs::is_directory(input, error)) {
    for (const fs::path& file : media::list_images(input)) add({file.filename().string(), file, {}});
  } else if (is_picture(input)) {
    add({fs::path(input).filename().string(), input, {}});
  } else if (is_list(input)) {
    const training::FileImageSet list{input};
    for (std::size_t i = 0; i < list.size(); ++i) add({list.name(i), list.file(i), {}});
  } else {
    videos_.push_back(input);
  }
}

void LabelPictures::add(Entry entry) {
  const std::string key = by_stem_ ? fs::path(entry.name).stem().string() : entry.name;
  if (!names_.insert(key).second) {
    throw Error(ExitCode::input, "two pictures are called '" + key + "'",
                by_stem_ ? "YOLO has one file for both; rename one picture"
                         : "marks have file names without folders; label the folders one by one");
  }
  entries_.push_back(std::move(entry));
}

bool LabelPictures::extend() {
  while (next_video_ < videos_.size()) {
    const std::string& video = videos_[next_video_];
    if (!reader_) {
      reader_ = std::make_unique<media::Reader>(video, options_.reading);
      infos_.push_back(reader_->info());
    }
    if (auto frame = reader_->read()) {
      std::string stem = fs::path(video).stem().string();
      std::ranges::replace(stem, '%', '_');  // a writer of pictures would put a number there
      const std::string name = options_.frames.empty() ? std::to_string(frame->number())
                                                       : fmt::format("{}-{:06}.png", stem, frame->number());
      add({name, options_.frames.empty() ? fs::path() : options_.frames / name, next_video_, frame->time()});
      recent_.push_back({entries_.size() - 1, std::move(*frame)});
      if (recent_.size() > kRecent) recent_.pop_front();
      return true;
    }
    reader_.reset();
    ++next_video_;
  }
  return false;
}

std::optional<std::size_t> LabelPictures::expected() const {
  if (is_complete()) return size();
  if (videos_.size() > 1 || !reader_ || !reader_->info().frames) return std::nullopt;
  const auto frames = static_cast<std::size_t>(std::max<std::int64_t>(0, *reader_->info().frames));
  const auto pictures = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.video; }));
  return std::max(size(), pictures + frames);
}

Frame LabelPictures::load(std::size_t picture) {
  const auto kept = std::ranges::find(recent_, picture, &Recent::picture);
  if (kept != recent_.end()) return kept->frame;
  Frame frame = load_frame(entries_[picture]);
  if (entries_[picture].video) {
    recent_.push_back({picture, frame});
    if (recent_.size() > kRecent) recent_.pop_front();
  }
  return frame;
}

Frame LabelPictures::load_frame(const Entry& entry) const {
  media::ReadOptions reading = options_.reading;
  reading.every = 1;
  if (entry.video) reading.start = entry.time;
  if (!entry.video) reading.threads = 1;
  const std::string input = entry.video ? videos_[*entry.video] : entry.file.string();
  media::Reader reader(input, reading);
  if (auto frame = reader.read()) return std::move(*frame);
  throw Error(ExitCode::input, "'" + input + "' no longer contains the requested picture");
}

void LabelPictures::keep(std::size_t picture) {
  const Entry& entry = entries_[picture];
  std::error_code error;
  if (!entry.video || entry.file.empty() || fs::exists(entry.file, error)) return;
  media::write_picture(entry.file.string(), load(picture), {}, {}, infos_[*entry.video]);
}

}  // namespace sightline::apps
