#include "evaluation/ground_truth.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/text_rows.hpp"

namespace sightline {

namespace {

using namespace text_rows;

constexpr char kWhat[] = "ground truth";  // kind of file in messages

constexpr std::size_t kCornerFields = 5;  // name x1 y1 x2 y2
constexpr std::size_t kClassFields = 6;   // name x1 y1 x2 y2 class
constexpr std::size_t kSizeFields = 8;    // name x y width height error W H
constexpr std::size_t kMaxClasses = 100'000;

Box listed_box(const std::vector<std::string_view>& fields, const Row& row) {
  const double x = number(fields[1], "x", row);
  const double y = number(fields[2], "y", row);
  if (fields.size() != kSizeFields) {
    return {x, y, number(fields[3], "x2", row) - x, number(fields[4], "y2", row) - y};
  }
  number(fields[5], "error", row);
  whole_number(fields[6], "image width", 1, row);
  whole_number(fields[7], "image height", 1, row);
  return {x, y, number(fields[3], "width", row), number(fields[4], "height", row)};
}

TruthBox yolo_box(std::string_view text, Size size, const Row& row) {
  const auto fields = split_at_blanks(text);
  if (fields.size() != 5) {
    row.refuse(std::to_string(fields.size()) + " columns instead of 5 ('class cx cy width height')");
  }
  const auto part = [&](std::size_t i, const char* what) {
    const double value = number(fields[i], what, row);
    // Writers round; a little past the edge is no mistake, a coordinate in pixels is.
    if (value < 0 || value > 1.001) {
      row.refuse(std::string(what) + ' ' + std::string(fields[i]) +
                 " is not relative to the image's size (0 to 1)");
    }
    return value;
  };
  TruthBox truth;
  // Class numbers above 2^30 are no class numbers.
  truth.label = static_cast<int>(std::min<std::int64_t>(whole_number(fields[0], "class", 0, row), 1 << 30));
  const double width = part(3, "width") * size.width;
  const double height = part(4, "height") * size.height;
  truth.box = {part(1, "cx") * size.width - width / 2, part(2, "cy") * size.height - height / 2, width,
               height};
  return truth;
}

std::map<int, std::string> yolo_classes(const std::filesystem::path& folder) {
  std::map<int, std::string> labels;
  const std::filesystem::path file = folder / "classes.txt";
  if (!std::filesystem::exists(file)) return labels;
  for_each_row(file, "names of classes", [&](std::string_view name, const Row& row) {
    if (labels.size() == kMaxClasses) row.refuse("more than " + std::to_string(kMaxClasses) + " classes");
    labels.emplace(row.number - 1, name);  // a blank line has a number, too
  });
  return labels;
}

// Classes of MOT16 to MOT20 by number; "": things that hide others. What the benchmark neither looks for nor
// counts as wrong lies, ignored, under the first: people on vehicles, at rest, reflected, in crowds;
// pictures.
constexpr const char* kMotClasses[] = {"", "person", "", "car", "bicycle", "motorcycle"};
constexpr int kMotPerson = 1;
constexpr int kMotIgnored[] = {2, 6, 7, 8, 12, 13}, kMotOccluders[] = {9, 10, 11};

// The class column of MOT's files: named by `labels.txt` beside them, as CVAT writes it, or by the benchmark.
class MotClasses {
 public:
  explicit MotClasses(const std::filesystem::path& file) {
    const std::filesystem::path list = file.parent_path() / "labels.txt";
    std::error_code error;
    if (!std::filesystem::is_regular_file(list, error)) return;
    for_each_row(list, "names of classes", [&](std::string_view name, const Row& row) {
      if (names_.size() == kMaxClasses) row.refuse("more than " + std::to_string(kMaxClasses) + " classes");
      names_.emplace(row.number, name);
    });
    is_listed_ = true;
  }

  // Sets an object's class. Files of MOT15 have ten columns, of which the last are a place in space; a number
  // below 1 is none. Returns false for what is no object.
  bool set(const std::vector<std::string_view>& fields, const Row& row, GroundTruth& truth,
           TruthBox& object) {
    constexpr std::size_t kClass = 7, kColumnsOfPlaces = 10;
    if (fields.size() <= kClass || (fields.size() == kColumnsOfPlaces && !is_listed_)) return true;
    const double value = number(fields[kClass], "class", row);
    if (value < 1) return true;
    if (value != std::floor(value) || value > 1 << 30) row.refuse("the class is no whole number");
    object.label = static_cast<int>(value);
    if (is_listed_) {
      const auto name = names_.find(object.label);
      if (name == names_.end()) row.refuse("the class is none of labels.txt");
      truth.labels.insert(*name);
      return true;
    }
    if (std::ranges::find(kMotOccluders, object.label) != std::end(kMotOccluders)) return false;
    if (std::ranges::find(kMotIgnored, object.label) != std::end(kMotIgnored)) {
      object.label = kMotPerson;
      object.ignore = true;
    }
    truth.labels.try_emplace(object.label, object.label < std::ssize(kMotClasses)
                                               ? kMotClasses[object.label]
                                               : "class " + std::to_string(object.label));
    return true;
  }

 private:
  std::map<int, std::string> names_;
  bool is_listed_ = false;
};

// In alphabetical order; empty if there is none.
std::string first_label_file(const std::filesystem::path& folder) {
  std::string first;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".txt" || name == "classes.txt") continue;
    if (first.empty() || name < first) first = name;
  }
  return first;
}

}  // namespace

const std::vector<TruthBox>* GroundTruth::find(const std::string& name) const {
  const auto found = images.find(name);
  return found == images.end() ? nullptr : &found->second;
}

void GroundTruth::add(GroundTruth other) {
  for (auto& [name, boxes] : other.images) {
    std::vector<TruthBox>& here = images[name];
    here.insert(here.end(), boxes.begin(), boxes.end());
  }
  labels.merge(other.labels);
  facts.merge(other.facts);
}

std::int64_t GroundTruth::positives() const {
  std::int64_t count = 0;
  for (const auto& [name, boxes] : images) {
    count += std::count_if(boxes.begin(), boxes.end(), [](const TruthBox& box) { return !box.ignore; });
  }
  return count;
}

bool GroundTruth::has_label(const std::string& name) const {
  return std::ranges::any_of(labels, [&](const auto& label) { return label.second == name; });
}

void GroundTruth::keep_label(const std::string& name) {
  if (!has_label(name)) {
    std::string known;
    for (const auto& [number, label] : labels) known += (known.empty() ? "" : ", ") + label;
    throw Error(ExitCode::usage, "no object is marked as '" + name + "'",
                known.empty() ? "the marks have no class names" : "the classes are: " + known);
  }
  for (auto& [image, boxes] : images)
    std::erase_if(boxes, [&](const TruthBox& box) {
      const auto label = labels.find(box.label);
      return label == labels.end() || label->second != name;
    });
}

GroundTruth load_mot_truth(const std::filesystem::path& file, double first_pixel) {
  GroundTruth truth;
  EmptyBoxes empty_boxes;
  MotClasses classes(file);
  for_each_row(file, kWhat, [&](std::string_view text, const Row& row) {
    const auto fields = split_at_commas(text);
    if (fields.size() < 6 || fields.size() > 10) {
      row.refuse(std::to_string(fields.size()) +
                 " columns instead of 6 to 10 ('frame,id,x,y,width,height[,confidence,...]')");
    }
    const std::int64_t frame = whole_number(fields[0], "frame", 1, row);
    number(fields[1], "id", row);
    TruthBox object;
    object.box = {number(fields[2], "x", row) - first_pixel, number(fields[3], "y", row) - first_pixel,
                  number(fields[4], "width", row), number(fields[5], "height", row)};
    if (fields.size() > 6) object.ignore = number(fields[6], "confidence", row) == 0;
    for (std::size_t i = 7; i < fields.size(); ++i) number(fields[i], "column", row);
    std::vector<TruthBox>& objects = truth.images[std::to_string(frame)];
    if (!classes.set(fields, row, truth, object)) return;
    if (empty_boxes.has_area(object.box.width, object.box.height, row.place())) objects.push_back(object);
  });
  empty_boxes.report();
  return truth;
}

GroundTruth load_box_list(const std::filesystem::path& file) {
  GroundTruth truth;
  EmptyBoxes empty_boxes;
  std::size_t columns = 0;
  std::map<std::string, int, std::less<>> numbers;  // numbers of classes
  for_each_row(file, kWhat, [&](std::string_view text, const Row& row) {
    const auto fields = split_at_blanks(text);
    const std::string name(fields[0]);
    if (fields.size() == 1) return truth.annotate(name);
    if (fields.size() != kCornerFields && fields.size() != kClassFields && fields.size() != kSizeFields) {
      row.refuse(
          std::to_string(fields.size()) +
          " columns; 'name x1 y1 x2 y2' has 5, with a class 6, and 'name x y width height error W H' 8; put "
          "a name with spaces in double quotes");
    }
    if (columns == 0) columns = fields.size();
    if (columns != fields.size()) {
      row.refuse(std::to_string(fields.size()) + " columns instead of the previous lines' " +
                 std::to_string(columns));
    }
    const Box box = listed_box(fields, row);
    int label = 0;
    if (fields.size() == kClassFields) {
      label = numbers.try_emplace(std::string(fields[5]), static_cast<int>(numbers.size())).first->second;
      if (numbers.size() > kMaxClasses) row.refuse("more than " + std::to_string(kMaxClasses) + " classes");
    }
    std::vector<TruthBox>& boxes = truth.images[name];
    if (empty_boxes.has_area(box.width, box.height, row.place())) boxes.push_back({box, false, label});
  });
  empty_boxes.report();
  for (const auto& [name, number] : numbers) truth.labels.emplace(number, name);
  return truth;
}

GroundTruth load_marked_boxes(const std::filesystem::path& file) {
  return file.extension() == ".json" ? load_coco_truth(file) : load_box_list(file);
}

std::filesystem::path yolo_file(const std::filesystem::path& folder, const std::string& image) {
  return folder / std::filesystem::path(image).stem().concat(".txt");
}

GroundTruth load_yolo_classes(const std::filesystem::path& folder) {
  GroundTruth truth;
  truth.labels = yolo_classes(folder);
  return truth;
}

GroundTruth load_yolo_truth(const std::filesystem::path& folder, const std::map<std::string, Size>& images) {
  GroundTruth truth;
  truth.labels = yolo_classes(folder);
  EmptyBoxes empty_boxes;
  for (const auto& image : images) {
    // No structured binding: Clang 14 does not capture one.
    const std::string& name = image.first;
    const Size size = image.second;
    const std::filesystem::path file = yolo_file(folder, name);
    if (!std::filesystem::exists(file)) continue;
    truth.annotate(name);
    for_each_row(file, kWhat, [&](std::string_view text, const Row& row) {
      const TruthBox one = yolo_box(text, size, row);
      if (empty_boxes.has_area(one.box.width, one.box.height, row.place())) truth.images[name].push_back(one);
    });
  }
  empty_boxes.report();
  if (truth.images.empty()) {
    std::string names;
    if (const std::string label = first_label_file(folder); !images.empty() && !label.empty())
      names = "; '" + images.begin()->first + "' is the first image, '" + label + "' the first label file";
    throw Error(ExitCode::input,
                "no label file in '" + folder.string() + "' belongs to any of " +
                    std::to_string(images.size()) + " images" + names,
                "name label files like their image, with .txt");
  }
  return truth;
}

}  // namespace sightline
