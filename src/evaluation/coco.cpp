// COCO's object annotations, read event by event: a document tree of the whole data set would fill the memory
// with outlines that are not used.
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/input_file.hpp"
#include "base/json_problem.hpp"
#include "base/text.hpp"
#include "base/text_rows.hpp"
#include "evaluation/ground_truth.hpp"

namespace sightline {
namespace {

using Value = nlohmann::json;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

struct Image {
  std::int64_t id = kNone;
  ImageFacts facts;
};
struct Annotation {
  std::int64_t image = kNone, category = kNone;
  std::vector<double> box;
  double area = 0;
  bool ignore = false, crowd = false;
};
struct Category {
  std::int64_t id = kNone;
  std::string name;
};

// Reader of a file's lists, which may come in any order; references are resolved at the end.
class Reader final : public nlohmann::json_sax<Value> {
 public:
  std::vector<Image> images;
  std::vector<Annotation> annotations;
  std::vector<Category> categories;
  std::string problem;

  bool start_object(std::size_t) override {
    if (!enter()) return false;
    if (depth_ == kEntry && list_ != List::none && ++entries_ > kMaxEntries)
      return refuse("more than " + std::to_string(kMaxEntries) + " images, annotations and categories");
    if (depth_ == kEntry && list_ == List::images) images.emplace_back();
    if (depth_ == kEntry && list_ == List::annotations) annotations.emplace_back();
    if (depth_ == kEntry && list_ == List::categories) categories.emplace_back();
    key_.clear();
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    if (!enter()) return false;
    if (depth_ == kEntry && list_ != List::none) return refuse("an entry of a list is a list itself");
    if (depth_ == 1) return refuse("a list instead of COCO's object with images, annotations and categories");
    if (depth_ == kList) {
      list_ = key_ == "images"        ? List::images
              : key_ == "annotations" ? List::annotations
              : key_ == "categories"  ? List::categories
                                      : List::none;
      has_images_ |= list_ == List::images;
      has_annotations_ |= list_ == List::annotations;
    }
    return true;
  }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    if (depth_ == 1 || depth_ == kEntry) key_ = std::move(name);
    return true;
  }

  bool number_integer(std::int64_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(std::uint64_t value) override {
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number(static_cast<double>(value), fits ? static_cast<std::int64_t>(value) : kNone);
  }
  bool number_float(double value, const std::string&) override {
    const bool is_whole = value == std::trunc(value) && std::abs(value) < 9e15;
    return number(value, is_whole ? static_cast<std::int64_t>(value) : kNone);
  }
  bool boolean(bool value) override { return number(value, value ? 1 : 0); }
  bool string(std::string& value) override {
    if (depth_ != kEntry) return true;
    if (list_ == List::images && key_ == "file_name") images.back().facts.path = std::move(value);
    if (list_ == List::categories && key_ == "name") categories.back().name = std::move(value);
    return true;
  }
  bool null() override { return true; }
  bool binary(Value::binary_t&) override { return refuse("binary data"); }
  bool parse_error(std::size_t, const std::string&, const Value::exception& error) override {
    return refuse("not valid JSON: " + json_problem(error));
  }

  bool is_complete() {
    return has_images_ && has_annotations_ ? true : refuse("no lists 'images' and 'annotations' as in COCO");
  }

 private:
  enum class List { none, images, annotations, categories };
  static constexpr int kList = 2, kEntry = 3;  // depths: the object of all, a list in it, an entry of that

  static constexpr int kMaxEntries = 10'000'000;

  bool enter() {
    return ++depth_ <= kMaxTextDepth ||
           refuse("it is nested deeper than " + std::to_string(kMaxTextDepth) + " levels");
  }
  bool leave() {
    if (depth_ == kList) list_ = List::none;
    --depth_;
    return true;
  }
  bool refuse(const std::string& why) {
    problem = why;
    return false;
  }

  // @param whole  kNone where it is none
  bool number(double value, std::int64_t whole) {
    if (list_ == List::annotations && depth_ == kEntry + 1 && key_ == "bbox") {
      Annotation& annotation = annotations.back();
      if (annotation.box.size() < 5) annotation.box.push_back(value);  // the fifth is refused later
      return true;
    }
    if (depth_ != kEntry) return true;
    if (list_ == List::images) {
      Image& image = images.back();
      if (key_ == "id") image.id = whole;
      if (key_ == "width") image.facts.size.width = pixels(whole);
      if (key_ == "height") image.facts.size.height = pixels(whole);
    } else if (list_ == List::annotations) {
      Annotation& annotation = annotations.back();
      if (key_ == "image_id") annotation.image = whole;
      if (key_ == "category_id") annotation.category = whole;
      if (key_ == "area") annotation.area = value;
      if (key_ == "iscrowd") annotation.crowd = value != 0;
      if (key_ == "ignore") annotation.ignore = value != 0;
    } else if (list_ == List::categories && key_ == "id") {
      categories.back().id = whole;
    }
    return true;
  }
  static int pixels(std::int64_t value) {
    return value > 0 && value < (1 << 30) ? static_cast<int>(value) : 0;
  }

  int depth_ = 0, entries_ = 0;
  List list_ = List::none;
  std::string key_;
  bool has_images_ = false, has_annotations_ = false;
};

class Linker {
 public:
  explicit Linker(std::string file) : file_(std::move(file)) {}

  void add(const Category& category, std::size_t index) {
    const std::string which = entry("category", index);
    if (category.id < 0 || category.id > std::numeric_limits<int>::max())
      refuse(which + "no 'id' that is a whole number from 0 upwards");
    if (category.name.empty()) refuse(which + "no 'name'");
    if (!truth.labels.emplace(static_cast<int>(category.id), category.name).second)
      refuse(which + "a second one with id " + std::to_string(category.id));
  }

  void add(const Image& image, std::size_t index) {
    const std::string which = entry("image", index);
    if (image.id == kNone) refuse(which + "no 'id' that is a whole number");
    const std::string name = std::filesystem::path(image.facts.path).filename().string();
    if (name.empty()) refuse(which + "no 'file_name'");
    if (!truth.facts.emplace(name, image.facts).second) refuse(which + "a second one called '" + name + "'");
    if (!names_.emplace(image.id, name).second)
      refuse(which + "a second one with id " + std::to_string(image.id));
    truth.annotate(name);
  }

  void add(const Annotation& annotation, std::size_t index) {
    const std::string which = entry("annotation", index);
    const auto image = names_.find(annotation.image);
    if (annotation.image == kNone) refuse(which + "no 'image_id' that is a whole number");
    if (image == names_.end())
      refuse(which + "there is no image with id " + std::to_string(annotation.image));
    if (annotation.box.empty()) return;  // a region or key points alone
    if (annotation.box.size() != 4) refuse(which + "'bbox' is not [x, y, width, height]");
    TruthBox box{{annotation.box[0], annotation.box[1], annotation.box[2], annotation.box[3]},
                 annotation.ignore || annotation.crowd};
    box.counts_in_coco = box.ignore && !annotation.crowd;
    if (annotation.area > 0 && annotation.area != box.box.area()) box.area = annotation.area;
    if (annotation.category != kNone) {
      if (annotation.category < 0 || annotation.category > std::numeric_limits<int>::max() ||
          !truth.labels.contains(static_cast<int>(annotation.category)))
        refuse(which + "there is no category with id " + std::to_string(annotation.category));
      box.label = static_cast<int>(annotation.category);
    }
    if (empty_boxes_.has_area(box.box.width, box.box.height,
                              file_ + ": annotation " + std::to_string(index + 1)))
      truth.images[image->second].push_back(box);
  }

  void report_empty_boxes() const { empty_boxes_.report(); }

  GroundTruth truth;

 private:
  static std::string entry(const char* kind, std::size_t index) {
    return std::string(kind) + ' ' + std::to_string(index + 1) + ": ";
  }
  [[noreturn]] void refuse(const std::string& why) const { throw Error(ExitCode::input, why).at(file_); }

  std::string file_;
  std::unordered_map<std::int64_t, std::string> names_;
  text_rows::EmptyBoxes empty_boxes_;
};

}  // namespace

GroundTruth load_coco_truth(const std::filesystem::path& file) {
  refuse_special_file(file);
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    const int error = in ? EISDIR : errno;
    throw Error(ExitCode::input, "cannot read ground truth '" + file.string() + "': " + std::strerror(error));
  }
  text_rows::check_size(file);
  Reader reader;
  bool is_read = false, ends_early = false;
  try {
    is_read = Value::sax_parse(in, &reader) && reader.is_complete();
  } catch (const std::ios_base::failure&) {  // by the library's buffer, whatever the stream is told
    ends_early = true;
  }
  if (ends_early || in.bad() || fault::strikes(fault::Kind::read, "ground truth"))
    reader.problem = "the file cannot be read further";
  if (!is_read || !reader.problem.empty())
    throw Error(ExitCode::input, file.string() + ": " + reader.problem);
  Linker linker(file.string());
  for (std::size_t i = 0; i < reader.categories.size(); ++i) linker.add(reader.categories[i], i);
  for (std::size_t i = 0; i < reader.images.size(); ++i) linker.add(reader.images[i], i);
  for (std::size_t i = 0; i < reader.annotations.size(); ++i) linker.add(reader.annotations[i], i);
  linker.report_empty_boxes();
  return std::move(linker.truth);
}

}  // namespace sightline
