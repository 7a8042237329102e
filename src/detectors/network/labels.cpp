#include "detectors/network/labels.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"

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
// COCO's numbers that stand for nothing.
constexpr int kCocoGaps[] = {0, 12, 26, 29, 30, 45, 66, 68, 69, 71, 83};

}  // namespace

std::vector<std::string> coco_labels(bool with_gaps) {
  std::vector<std::string> labels = split(kCoco, ',');
  if (!with_gaps) return labels;
  for (const int gap : kCocoGaps) labels.insert(labels.begin() + gap, "");
  return labels;
}

std::vector<std::string> labels_of_metadata(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find("names");
  if (found == metadata.end()) return {};
  const std::string& text = found->second;
  std::vector<std::string> labels;
  std::size_t at = 0;
  while ((at = text.find_first_of("0123456789", at)) != std::string::npos) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    const std::size_t open = text.find_first_of("'\"", static_cast<std::size_t>(end - text.data()));
    if (error != std::errc() || number != labels.size() || number >= kMostClasses ||
        open == std::string::npos)
      return {};
    const std::size_t close = text.find(text[open], open + 1);
    if (close == std::string::npos) return {};
    labels.push_back(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return labels;
}

std::vector<std::string> labels_from(const std::string& text, const std::string& file,
                                     const std::string& where) {
  std::vector<std::string> labels;
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) {
    for (const std::string& line : split(read_text_file(file), '\n')) {
      const std::string label(trimmed(line));
      if (!label.empty()) labels.push_back(label);
    }
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
