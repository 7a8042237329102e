#pragma once
/// Facts about a network's outputs that tell their meaning. Internal to choose.cpp and output_*.cpp.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detectors/network/scheme.hpp"

namespace sightline::network {

/// An output, or a part of one, as places times channels, for each anchor of a cell if there are several.
struct Sheet {
  int output = 0;
  std::int64_t places = 0, channels = 1;
  std::int64_t start = 0, place_step = 1, channel_step = 1, anchor_step = 0;
  bool is_map = false;  ///< rows and columns of cells
  std::int64_t columns = 0;
  bool is_probability = false;
  bool is_last = true;           ///< whether channels are the output's last side, else its second one
  std::int64_t first_class = 0;  ///< its channel, in an output that holds classes

  /// An anchor's channels from one on.
  Field field(std::int64_t channel = 0, std::int64_t anchor = 0) const {
    return {output, start + anchor * anchor_step + channel * channel_step, place_step, channel_step};
  }
  float at(const Tensor& values, std::int64_t place, std::int64_t channel) const {
    return number_at(values, start + place * place_step + channel * channel_step);
  }
  Sheet turned() const {
    Sheet other = *this;
    std::swap(other.places, other.channels);
    std::swap(other.place_step, other.channel_step);
    other.is_last = !is_last;
    return other;
  }
};

inline std::optional<Sheet> sheet_of(const NetworkOutputs::Output& output, int number) {
  if (!output.shape) return {};
  Shape shape = *output.shape;
  Sheet sheet;
  sheet.output = number;
  sheet.is_probability = output.is_probability;
  constexpr std::int64_t kFew = 16;
  if (shape.size() == 4 && shape[1] > kFew && shape[2] == 1 && shape[3] == 4)
    shape.erase(shape.begin() + 2);  // boxes of YOLOv4, the same for all classes
  if (shape.size() == 4 && shape[0] == 1) {
    sheet.is_last = false;
    sheet.channels = shape[1];
    sheet.places = shape[2] * shape[3];
    sheet.channel_step = sheet.places;
    sheet.is_map = true;
    sheet.columns = shape[3];
    return sheet;
  }
  if (shape.size() >= 2 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.empty() || shape.size() > 2) return {};
  sheet.places = shape[0];
  sheet.channels = shape.size() == 2 ? shape[1] : 1;
  sheet.place_step = sheet.channels;
  return sheet;
}

/// All that the rules below look at.
struct Evidence {
  const NetworkOutputs& outputs;
  std::string wanted;         ///< word of `model_type` in lower case; empty: to be inferred
  std::int64_t mask_numbers;  ///< of each place, for an output with masks that is left out
  std::vector<Sheet> sheets;  ///< all outputs, unless one has no known shape
  bool all_known = true;
  mutable std::vector<const Tensor*> probed;
  mutable bool has_probed = false;
  static constexpr std::int64_t kMostKept = 1000;

  Evidence(const NetworkOutputs& known, std::string word, std::int64_t masks = 0)
      : outputs(known), wanted(std::move(word)), mask_numbers(masks) {
    for (std::size_t i = 0; i < known.all.size(); ++i) {
      if (const auto sheet = sheet_of(known.all[i], static_cast<int>(i))) {
        sheets.push_back(*sheet);
      } else {
        all_known = false;
      }
    }
  }
  std::int64_t columns(int stride) const { return (outputs.input.width + stride - 1) / stride; }
  std::int64_t cells(int stride) const {
    return columns(stride) * ((outputs.input.height + stride - 1) / stride);
  }
  /// Strides whose cells, so many times each, are all the places; empty where none are.
  std::vector<int> strides_for(std::int64_t places, std::int64_t anchors = 1) const {
    std::int64_t sum = 0;
    std::vector<int> strides;
    for (const int stride : {8, 16, 32, 64, 128}) {
      sum += anchors * cells(stride);
      strides.push_back(stride);
      if (stride >= 32 && sum == places) return strides;
    }
    return {};
  }
  /// The stride whose cells are so many places; 0 where none has.
  int stride_of(std::int64_t places) const {
    for (const int stride : {4, 8, 16, 32, 64, 128}) {
      if (cells(stride) == places) return stride;
    }
    return 0;
  }
  /// Whether rows are those of YOLOv5-face: coordinates, objectness, five points, and the face. Without names
  /// there is no telling them from eleven classes, which hardly anybody has.
  bool has_points_in_row(std::int64_t channels) const {
    constexpr std::int64_t kOfFace = 4 + 1 + 10 + 1;
    return channels == kOfFace && outputs.classes.value_or(1) == 1 &&
           (wanted.empty() || wanted == "yolov5-face");
  }
  /// Its first class's channel: behind coordinates and objectness, and maybe points.
  std::int64_t first_class(std::int64_t channels) const { return has_points_in_row(channels) ? 15 : 5; }
  /// A map whose channels may be last, as rows and columns of the cells of a stride tell.
  Sheet as_map(const Sheet& sheet) const;
  /// The head for cells of a stride.
  Head with_cells(Head head, int stride, std::int64_t anchors = 1) const {
    head.stride = static_cast<float>(stride);
    head.columns = columns(stride);
    head.anchors = anchors;
    head.places = anchors * cells(stride);
    return head;
  }
  /// Values of the outputs for a test picture; empty where there are none.
  const std::vector<const Tensor*>& probe() const {
    if (!has_probed && outputs.probe) probed = outputs.probe();
    has_probed = true;
    return probed;
  }
  /// The same of one sheet; null where there are none, or too few.
  const Tensor* values_of(const Sheet& sheet) const {
    const Tensor* const values = probe().empty() ? nullptr : probe()[static_cast<std::size_t>(sheet.output)];
    return values && values->size() >= sheet.places * sheet.channels ? values : nullptr;
  }
  /// The operator that made a channel of a sheet; `other` where that is not known.
  Content content(const Sheet& sheet, std::int64_t channel) const;
  /// Whether the file makes the channels before and from this one on separately.
  bool has_boundary(const Sheet& sheet, std::int64_t channel) const;
  /// Smallest and largest value of a channel for the test picture.
  struct Range {
    float smallest = 0, largest = 0;
    bool is_whole = true;
    bool is_share() const { return smallest >= -0.001F && largest <= 1.001F; }
  };
  std::optional<Range> range(const Sheet& sheet, std::int64_t channel) const;
  /// Class scores among the channels from one on: some rows have points in front of them, or other numbers
  /// behind. All channels where nothing tells.
  struct Classes {
    std::int64_t first = 0, count = 0;
  };
  Classes classes_of(const Sheet& sheet, std::int64_t first) const;
  /// Whether rows are corners, score and class number of a place each that are not suppressed yet.
  bool is_dense(const Sheet& sheet) const;
  /// Whether there are as many places as cells, or more than a network keeps of them.
  bool has_all_places(std::int64_t places) const {
    return places > kMostKept || std::ranges::any_of(std::initializer_list<std::int64_t>{1, 2, 3, 6, 9},
                                                     [&](auto n) { return !strides_for(places, n).empty(); });
  }
  bool has_operator(const char* name) const { return outputs.operators.contains(name); }
  int count_of(const char* operator_name) const {
    const auto found = outputs.operators.find(operator_name);
    return found == outputs.operators.end() ? 0 : found->second;
  }
  bool is_single() const { return all_known && sheets.size() == 1; }
  const NetworkOutputs::Output& output_of(const Sheet& sheet) const {
    return outputs.all[static_cast<std::size_t>(sheet.output)];
  }
  std::string metadata(const std::string& key) const {
    const auto found = outputs.metadata.find(key);
    return found == outputs.metadata.end() ? std::string() : found->second;
  }
  bool has_more_than_boxes() const { return metadata("task") == "segment" || metadata("task") == "pose"; }
  bool fits_classes(std::int64_t count) const {
    return count >= 1 && (outputs.classes ? count == *outputs.classes : count <= 10'000);
  }
};

using Match = std::optional<Scheme>;

/// Coordinates are fractions of the input.
inline void set_fractions(Scheme& scheme, const Evidence& evidence) {
  scheme.unit_x = static_cast<float>(evidence.outputs.input.width);
  scheme.unit_y = static_cast<float>(evidence.outputs.input.height);
}

inline std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}
/// Whether a name, in any case, contains one of several words in lower case, which blanks separate.
inline bool has_word(const std::string& name, std::string_view words) {
  const std::string lower = in_lower_case(name);
  for (std::size_t at = 0, end = 0; at < words.size(); at = end + 1) {
    end = std::min(words.find(' ', at), words.size());
    if (lower.find(words.substr(at, end - at)) != std::string::npos) return true;
  }
  return false;
}

/// Takes the first way of reading boxes (corners or centres, in pixels or in parts of the input) that shows
/// no sign of an error for the test picture, and says so. Leaves the scheme where there is no such picture.
void settle_boxes(Scheme& scheme, const Evidence& evidence);

}  // namespace sightline::network
