#include "evaluation/truth_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/json_text.hpp"

namespace sightline {
namespace {

constexpr int kMostLines = 10'000;

// With no more digits than it needs; ten-thousandths of a pixel are noise of arithmetic.
std::string trimmed_number(double value, int decimals = 4) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

// A field of a list of boxes.
std::string field(const std::string& text, const char* what) {
  if (text.empty() || text.find_first_of("\"\r\n") != std::string::npos) {
    throw Error(ExitCode::usage, std::string("a list of boxes cannot store the ") + what + " '" + text + "'",
                "rename it, or write COCO (a name that ends in .json)");
  }
  return quoted_field(text);
}

template <typename Images, typename Test>
std::int64_t count(const Images& images, Test test) {
  std::int64_t sum = 0;
  for (const auto& [name, boxes] : images) sum += std::count_if(boxes.begin(), boxes.end(), test);
  return sum;
}

}  // namespace

std::string quoted_field(const std::string& text) {
  return text.find_first_of(" \t") == std::string::npos ? text : '"' + text + '"';
}

const char* to_string(TruthFormat format) {
  return format == TruthFormat::boxes ? "boxes" : format == TruthFormat::yolo ? "yolo" : "coco";
}

TruthFormat parse_truth_format(const std::string& name) {
  for (const TruthFormat format : {TruthFormat::boxes, TruthFormat::yolo, TruthFormat::coco})
    if (name == to_string(format)) return format;
  throw Error(ExitCode::usage, "there is no format '" + name + "' for boxes", "use boxes, yolo or coco");
}

TruthFormat guess_truth_format(const std::filesystem::path& path) {
  std::error_code error;
  if (path.extension() == ".json") return TruthFormat::coco;
  const bool is_folder = !path.has_filename() || std::filesystem::is_directory(path, error);
  return is_folder ? TruthFormat::yolo : TruthFormat::boxes;
}

void name_labels(GroundTruth& truth) {
  std::map<int, bool> used;
  for (const auto& [name, boxes] : truth.images)
    for (const TruthBox& box : boxes) used[box.label] = true;
  if (truth.labels.empty() && (used.empty() || (used.size() == 1 && used.begin()->first == 0))) return;
  for (const auto& [label, is_used] : used) truth.labels.try_emplace(label, fmt::format("class {}", label));
}

std::string as_box_list(const GroundTruth& truth) {
  std::string text;
  for (const auto& [image, boxes] : truth.images) {
    const std::string name = field(image, "name");
    if (std::all_of(boxes.begin(), boxes.end(), [](const TruthBox& box) { return box.ignore; }))
      text += name + '\n';
    for (const auto& [box, ignore, label, area, counts_in_coco] : boxes) {
      if (ignore) continue;
      text += fmt::format("{} {} {} {} {}", name, trimmed_number(box.x), trimmed_number(box.y),
                          trimmed_number(box.x + box.width), trimmed_number(box.y + box.height));
      if (const auto known = truth.labels.find(label); known != truth.labels.end())
        text += ' ' + field(known->second, "class");
      text += '\n';
    }
  }
  return text;
}

std::string as_coco(const GroundTruth& truth) {
  const int shift = truth.labels.empty() || truth.labels.begin()->first == 0 ? 1 : 0;
  std::string images, annotations, categories;
  std::int64_t image_id = 0, id = 0;
  for (const auto& [name, boxes] : truth.images) {
    const auto known = truth.facts.find(name);
    const ImageFacts facts = known != truth.facts.end() ? known->second : ImageFacts{{}, name};
    images += fmt::format("{}{{\"id\":{},\"file_name\":{},\"width\":{},\"height\":{}}}",
                          image_id == 0 ? "\n" : ",\n", image_id + 1, json_string(facts.path),
                          facts.size.width, facts.size.height);
    ++image_id;
    for (const auto& [box, ignore, label, area, counts_in_coco] : boxes) {
      annotations += fmt::format(
          "{}{{\"id\":{},\"image_id\":{},\"category_id\":{},\"bbox\":[{},{},{},{}],\"area\":{},\"iscrowd\":{}"
          "{}}}",
          id == 0 ? "\n" : ",\n", id + 1, image_id, label + shift, trimmed_number(box.x),
          trimmed_number(box.y), trimmed_number(box.width), trimmed_number(box.height),
          trimmed_number(box.area(), 2), ignore && !counts_in_coco ? 1 : 0,
          counts_in_coco ? ",\"ignore\":1" : "");
      ++id;
    }
  }
  const auto category = [&](int number, const std::string& name) {
    categories += fmt::format("{}{{\"id\":{},\"name\":{}}}", categories.empty() ? "\n" : ",\n", number,
                              json_string(name));
  };
  if (truth.labels.empty()) category(1, "object");
  for (const auto& [label, name] : truth.labels) category(label + shift, name);
  return "{\"images\":[" + images + "\n],\"annotations\":[" + annotations + "\n],\"categories\":[" +
         categories + "\n]}\n";
}

std::map<int, int> yolo_numbers(const GroundTruth& truth) {
  std::map<int, int> numbers;
  // Every number up to the highest takes a line.
  const bool keeps =
      truth.labels.empty() || (truth.labels.begin()->first == 0 && truth.labels.rbegin()->first < kMostLines);
  for (const auto& [label, name] : truth.labels)
    numbers.emplace(label, keeps ? label : static_cast<int>(numbers.size()));
  return numbers;
}

std::string as_yolo(const std::vector<TruthBox>& boxes, Size image, const std::map<int, int>& numbers) {
  std::string text;
  for (const auto& [whole, ignore, label, area, counts_in_coco] : boxes) {
    const Box box = clipped(whole, image);
    if (ignore || !(box.width > 0 && box.height > 0)) continue;
    const auto number = numbers.find(label);
    text +=
        fmt::format("{} {} {} {} {}\n", number == numbers.end() ? label : number->second,
                    trimmed_number((box.x + box.width / 2) / image.width, 7),
                    trimmed_number((box.y + box.height / 2) / image.height, 7),
                    trimmed_number(box.width / image.width, 7), trimmed_number(box.height / image.height, 7));
  }
  return text;
}

std::string as_yolo_classes(const GroundTruth& truth, const std::map<int, int>& numbers) {
  std::string text;
  int line = 0;
  for (const auto& [label, number] : numbers) {
    for (; line < number; ++line) text += fmt::format("class {}\n", line);
    std::string name = truth.labels.at(label);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return c < ' '; }, ' ');
    text += name + '\n';
    ++line;
  }
  return text;
}

std::string lost_in(TruthFormat format, const GroundTruth& truth) {
  if (format == TruthFormat::coco) return {};
  const std::int64_t ignored = count(truth.images, [](const TruthBox& box) { return box.ignore; });
  return ignored == 0 ? std::string()
                      : fmt::format("{} box{} to be ignored", ignored, ignored == 1 ? "" : "es");
}

}  // namespace sightline
