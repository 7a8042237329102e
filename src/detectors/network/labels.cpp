#include "detectors/network/labels.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"
#include "detectors/network/class_names.hpp"
#include "detectors/network/tensors.hpp"

namespace sightline::network {
namespace {

constexpr const char* kCoco =
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop "
    "sign,parking "
    "meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,"
    "suitcase,"
    "frisbee,skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,"
    "bottle,wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot "
    "dog,pizza,donut,"
    "cake,chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell "
    "phone,microwave,"
    "oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush";
constexpr const char* kLabelFileEndings[] = {".txt",  ".names", ".labels", ".json",
                                             ".yaml", ".yml",   ".csv",    ".pbtxt"};
// COCO's numbers that stand for nothing.
constexpr int kCocoGaps[] = {0, 12, 26, 29, 30, 45, 66, 68, 69, 71, 83};

}  // namespace

std::vector<std::string> coco_labels(bool with_gaps) {
  std::vector<std::string> labels = split(kCoco, ',');
  if (!with_gaps) return labels;
  for (const int gap : kCocoGaps) labels.insert(labels.begin() + gap, "");
  return labels;
}

std::optional<std::vector<std::string>> labels_of_metadata(
    const std::map<std::string, std::string>& metadata) {
  if (const auto found = metadata.find("names"); found != metadata.end())
    return parse_class_names(found->second);
  for (const char* key : {"labels", "class_names", "classes"}) {
    const auto found = metadata.find(key);
    if (found == metadata.end() || std::string("{[").find(found->second[0]) == std::string::npos) continue;
    if (auto names = parse_class_names(found->second)) return names;
  }
  return std::vector<std::string>();
}

namespace {

bool is_label_file(const std::string& file) {
  return std::ranges::any_of(kLabelFileEndings, [&](const char* ending) { return file.ends_with(ending); });
}

// Whether a text can only mean a file, which is not there then.
bool names_a_file(const std::string& text) {
  return text.find(',') == std::string::npos &&
         (is_label_file(text) ||
          (text.find('/') != std::string::npos && text.find(' ') == std::string::npos));
}

std::vector<std::string> labels_in(const std::string& file, const std::string& where) {
  const std::string read = read_text_file(file);
  refuse_wide_text(read, file);
  const std::string_view content = without_byte_order_mark(read);
  const std::string_view text = trimmed(content);
  std::vector<std::string> labels;
  if (!text.empty() && (text.front() == '{' || text.front() == '[')) {
    const auto names = parse_class_names(text);
    if (!names)
      throw Error(ExitCode::usage, where + ": '" + file + "' cannot be read as class names",
                  "give a file with a name on each line");
    return *names;
  }
  for (const std::string& line : split(std::string(text), '\n')) {
    const std::string label(trimmed(line));
    if (!label.empty()) labels.push_back(label);
  }
  return labels;
}

}  // namespace

void check_labels(const std::vector<std::string>& labels) {
  constexpr std::size_t kLongest = 256, kMostTogether = std::size_t{1} << 20;
  std::size_t together = 0;
  for (const std::string& label : labels) {
    together += label.size();
    if (label.size() > kLongest || together > kMostTogether)
      throw Problem("has class names that are too long: " + std::to_string(label.size()) +
                    " bytes, where a name may have " + std::to_string(kLongest) + " and all together " +
                    std::to_string(kMostTogether));
  }
}

std::vector<std::string> labels_from(const std::string& text, const std::string& file,
                                     const std::string& where) {
  std::vector<std::string> labels;
  std::error_code error;
  if (!file.empty() && std::filesystem::is_regular_file(file, error)) {
    if (!is_label_file(file))  // so that no configuration shows what another file says
      throw Error(ExitCode::usage, where + ": '" + file + "' is no file of class names by its ending",
                  "name it .txt, .names or .labels");
    labels = labels_in(file, where);
  } else if (!file.empty() && names_a_file(text)) {
    throw Error(ExitCode::usage, where + ": there is no file '" + file + "' with labels",
                "check the name; it is relative to the configuration");
  } else if (text.find(',') != std::string::npos) {
    for (const std::string_view one : split_at_commas(text)) labels.emplace_back(one);
  } else {
    for (std::string one : split(text, ' ')) {
      std::ranges::replace(one, '_', ' ');
      if (!one.empty()) labels.push_back(one);
    }
  }
  if (labels.empty() || labels.size() > kMostClasses)
    throw Error(ExitCode::usage, where + ": labels '" + text.substr(0, 100) + "' name no classes",
                "give a file with a name on each line, or names separated by commas");
  return labels;
}

}  // namespace sightline::network
