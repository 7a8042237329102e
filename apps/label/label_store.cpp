#include "apps/label/label_store.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "apps/cli/writable.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr char kWhat[] = "boxes";  // in messages

std::optional<fs::file_time_type> time_of(const fs::path& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

Size size_of(const GroundTruth& truth, const std::string& image) {
  const auto facts = truth.facts.find(image);
  if (facts == truth.facts.end() || facts->second.size.width <= 0)
    throw Error(ExitCode::failed, "the size of picture '" + image + "' is not known");
  return facts->second.size;
}

// Each class under its own number: that of files that are there already.
std::map<int, int> same_numbers(const GroundTruth& truth) {
  std::map<int, int> numbers;
  for (const auto& [label, name] : truth.labels) numbers.emplace(label, label);
  return numbers;
}

}  // namespace

void write_truth(const fs::path& place, TruthFormat format, GroundTruth truth) {
  name_labels(truth);
  if (format == TruthFormat::boxes) return write_whole(place, as_box_list(truth), kWhat);
  if (format == TruthFormat::coco) return write_whole(place, as_coco(truth), kWhat);
  make_folder(place);
  const std::map<int, int> numbers = yolo_numbers(truth);
  for (const auto& [image, boxes] : truth.images)
    write_whole(yolo_file(place, image), as_yolo(boxes, size_of(truth, image), numbers), kWhat);
  if (const std::string names = as_yolo_classes(truth, numbers); !names.empty())
    write_whole(place / "classes.txt", names, kWhat);
}

LabelStore::LabelStore(fs::path place, TruthFormat format) : place_(std::move(place)), format_(format) {
  if (!is_yolo()) {
    require_writable(place_.string());
    return;
  }
  make_folder(place_);
  if (access(place_.c_str(), W_OK) != 0) {
    throw Error(ExitCode::failed,
                "cannot write to the folder '" + place_.string() + "': " + std::strerror(errno),
                "choose another place for the boxes with --boxes");
  }
}

LabelStore LabelStore::to_read(fs::path place, TruthFormat format) {
  LabelStore store;
  store.place_ = std::move(place);
  store.format_ = format;
  return store;
}

GroundTruth LabelStore::load() {
  std::error_code error;
  if (is_yolo()) return load_yolo_classes(place_);
  if (!fs::exists(place_, error)) return {};
  written_ = time_of(place_);
  return format_ == TruthFormat::coco ? load_coco_truth(place_) : load_box_list(place_);
}

std::optional<std::vector<TruthBox>> LabelStore::find(const std::string& picture) const {
  std::error_code error;
  if (!is_yolo() || !fs::exists(yolo_file(place_, picture), error)) return std::nullopt;
  return load_yolo_truth(place_, {{picture, {1, 1}}}).images.at(picture);
}

// Before it is replaced for the first time.
void LabelStore::keep_former(const fs::path& file) {
  std::error_code error;
  if (kept_.contains(file) || !fs::exists(file, error)) return;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw Error(ExitCode::failed, "cannot keep a copy of '" + file.string() + "': " + std::strerror(errno),
                "check its permissions");
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  write_whole(fs::path(file) += "~", text, "copy of the former boxes");
  kept_.insert(file);
}

void LabelStore::save_file(const GroundTruth& truth) {
  if (time_of(place_) != written_) {
    throw Error(ExitCode::failed, "'" + place_.string() + "' was changed by another program meanwhile",
                "move it away; all boxes are then written in its place");
  }
  const std::string text = format_ == TruthFormat::coco ? as_coco(truth) : as_box_list(truth);
  keep_former(place_);
  write_whole(place_, text, kWhat);
  kept_.insert(place_);
  written_ = time_of(place_);
}

void LabelStore::save_folder(const labelling::Session& session) {
  const GroundTruth& truth = session.truth();
  const std::map<int, int> numbers = same_numbers(truth);
  for (const std::string& image : session.changed()) {
    const fs::path file = yolo_file(place_, image);
    keep_former(file);
    if (const std::vector<TruthBox>* const boxes = truth.find(image)) {
      write_whole(file, as_yolo(*boxes, size_of(truth, image), numbers), kWhat);
    } else {
      std::error_code ignored;
      fs::remove(file, ignored);  // it was ours: marking it has been undone
    }
    kept_.insert(file);
  }
  const fs::path classes = place_ / "classes.txt";
  const std::string names = as_yolo_classes(truth, numbers);
  std::error_code error;
  if (names.empty() || (!session.classes_changed() && fs::exists(classes, error))) return;
  keep_former(classes);
  write_whole(classes, names, kWhat);
  kept_.insert(classes);
}

void LabelStore::save(labelling::Session& session) {
  if (session.changed().empty()) return;
  if (is_yolo()) {
    save_folder(session);
  } else {
    // A file that was moved away since is written anew.
    std::error_code error;
    if (!fs::exists(place_, error)) written_.reset();
    save_file(session.truth());
  }
  session.saved();
}

fs::path LabelStore::rescue(const GroundTruth& truth) const {
  const bool as_list = format_ == TruthFormat::boxes;
  // A folder of its own: others may write to the temporary folder, and plant links at names that they can
  // guess.
  std::string folder = (fs::temp_directory_path() / "sightline-boxes-XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    throw Error(ExitCode::failed, "cannot make the folder '" + folder + "': " + std::strerror(errno),
                "check the folder that TMPDIR names");
  }
  const fs::path file = fs::path(folder) / (as_list ? "boxes.txt" : "boxes.json");
  write_truth(file, as_list ? TruthFormat::boxes : TruthFormat::coco, truth);
  return file;
}

}  // namespace sightline::apps
