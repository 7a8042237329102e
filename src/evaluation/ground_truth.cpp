#include "evaluation/ground_truth.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace sightline {

namespace {

/// A line of a file, for messages.
struct Line {
  const std::filesystem::path& file;
  int number = 0;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ExitCode::input, file.string() + ':' + std::to_string(number) + ": " + reason);
  }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";  // \r: files that come from Windows
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Splits at every comma, or at every run of blanks.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = text.find(',');
    fields.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> fields;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    fields.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return fields;
}

double number(std::string_view text, const char* what, const Line& line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    line.refuse(std::string(what) + " '" + std::string(text) + "' is not a number");
  }
  return value;
}

std::int64_t whole_number(std::string_view text, const char* what, std::int64_t least, const Line& line) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    line.refuse(std::string(what) + " '" + std::string(text) + "' is not a whole number from " +
                std::to_string(least) + " upwards");
  }
  return value;
}

void check_size(const Box& box, const Line& line) {
  if (!(box.width > 0 && box.height > 0)) line.refuse("the box has no area");
}

void for_each_line(const std::filesystem::path& file,
                   const std::function<void(std::string_view, const Line&)>& take) {
  // Opening a folder succeeds on Linux, and reading it would look like an empty file.
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) {
    const int error = in ? EISDIR : errno;
    throw Error(ExitCode::input, "cannot read ground truth '" + file.string() + "': " + std::strerror(error));
  }
  Line line{file};
  std::string text;
  while (std::getline(in, text)) {
    ++line.number;
    if (!trimmed(text).empty()) take(trimmed(text), line);
  }
  if (in.bad() || fault::strikes(fault::Kind::read, "ground truth"))
    line.refuse("the file cannot be read further");
}

constexpr std::size_t kCornerFields = 5;  // name x1 y1 x2 y2
constexpr std::size_t kSizeFields = 8;    // name x y width height error W H

Box listed_box(const std::vector<std::string_view>& fields, const Line& line) {
  const double x = number(fields[1], "x", line);
  const double y = number(fields[2], "y", line);
  if (fields.size() == kCornerFields) {
    return {x, y, number(fields[3], "x2", line) - x, number(fields[4], "y2", line) - y};
  }
  number(fields[5], "error", line);
  whole_number(fields[6], "image width", 1, line);
  whole_number(fields[7], "image height", 1, line);
  return {x, y, number(fields[3], "width", line), number(fields[4], "height", line)};
}

TruthBox yolo_box(std::string_view text, Size size, const Line& line) {
  const auto fields = split_at_blanks(text);
  if (fields.size() != 5) {
    line.refuse(std::to_string(fields.size()) + " columns where 'class cx cy width height' has 5");
  }
  const auto part = [&](std::size_t i, const char* what) {
    const double value = number(fields[i], what, line);
    // Writers round; a little past the edge is no mistake, a coordinate in pixels is.
    if (value < 0 || value > 1.001) {
      line.refuse(std::string(what) + ' ' + std::string(fields[i]) +
                  " is not a part of the image's size, 0 to 1");
    }
    return value;
  };
  TruthBox truth;
  // Class numbers above 2^30 are no class numbers.
  truth.label = static_cast<int>(std::min<std::int64_t>(whole_number(fields[0], "class", 0, line), 1 << 30));
  const double width = part(3, "width") * size.width;
  const double height = part(4, "height") * size.height;
  truth.box = {part(1, "cx") * size.width - width / 2, part(2, "cy") * size.height - height / 2, width,
               height};
  check_size(truth.box, line);
  return truth;
}

}  // namespace

const std::vector<TruthBox>* GroundTruth::find(const std::string& name) const {
  const auto found = images.find(name);
  return found == images.end() ? nullptr : &found->second;
}

std::int64_t GroundTruth::positives() const {
  std::int64_t count = 0;
  for (const auto& [name, boxes] : images) {
    count += std::count_if(boxes.begin(), boxes.end(), [](const TruthBox& box) { return !box.ignore; });
  }
  return count;
}

GroundTruth load_mot_truth(const std::filesystem::path& file, double first_pixel) {
  GroundTruth truth;
  for_each_line(file, [&](std::string_view text, const Line& line) {
    const auto fields = split_at_commas(text);
    if (fields.size() < 6 || fields.size() > 10) {
      line.refuse(std::to_string(fields.size()) +
                  " columns where 'frame,id,x,y,width,height[,confidence,...]' has 6 to 10");
    }
    const std::int64_t frame = whole_number(fields[0], "frame", 1, line);
    number(fields[1], "id", line);
    TruthBox object;
    object.box = {number(fields[2], "x", line) - first_pixel, number(fields[3], "y", line) - first_pixel,
                  number(fields[4], "width", line), number(fields[5], "height", line)};
    check_size(object.box, line);
    if (fields.size() > 6) object.ignore = number(fields[6], "confidence", line) == 0;
    for (std::size_t i = 7; i < fields.size(); ++i) number(fields[i], "column", line);
    truth.images[std::to_string(frame)].push_back(object);
  });
  return truth;
}

GroundTruth load_box_list(const std::filesystem::path& file) {
  GroundTruth truth;
  std::size_t columns = 0;
  for_each_line(file, [&](std::string_view text, const Line& line) {
    const auto fields = split_at_blanks(text);
    const std::string name(fields[0]);
    if (fields.size() == 1) return truth.annotate(name);
    if (fields.size() != kCornerFields && fields.size() != kSizeFields) {
      line.refuse(std::to_string(fields.size()) +
                  " columns where 'name x1 y1 x2 y2' has 5 and 'name x y width height error W H' has 8");
    }
    if (columns == 0) columns = fields.size();
    if (columns != fields.size()) {
      line.refuse(std::to_string(fields.size()) + " columns where the lines before have " +
                  std::to_string(columns));
    }
    const Box box = listed_box(fields, line);
    check_size(box, line);
    truth.images[name].push_back({box});
  });
  return truth;
}

GroundTruth load_yolo_truth(const std::filesystem::path& folder, const std::map<std::string, Size>& images) {
  GroundTruth truth;
  for (const auto& image : images) {
    // No structured binding: Clang 14 does not capture one.
    const std::string& name = image.first;
    const Size size = image.second;
    const std::filesystem::path file = folder / std::filesystem::path(name).stem().concat(".txt");
    if (!std::filesystem::exists(file)) continue;
    truth.annotate(name);
    for_each_line(file, [&](std::string_view text, const Line& line) {
      truth.images[name].push_back(yolo_box(text, size, line));
    });
  }
  if (truth.images.empty()) {
    throw Error(ExitCode::input,
                "no label file in '" + folder.string() + "' belongs to any of " +
                    std::to_string(images.size()) + " images",
                "label files are called like their image, with .txt");
  }
  return truth;
}

}  // namespace sightline
