#pragma once
/// Kinds of networks as rows of a table: what a kind's outputs look like, and how they are read.
///
/// To add a kind, add a row to output_rows.cpp: its word of `model_type`, the predicate that its outputs fit
/// with the parts that they hold, and what all its networks have in common. What depends on the file is a
/// function that the row names (`refine`). Rows are tried in turn, so that a row stands before those that its
/// outputs fit as well. A test makes such outputs by hand, with one box (tests/network/decoder_test.cpp).
/// Internal to choose.cpp and output_*.cpp.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/network/evidence.hpp"

namespace sightline::network {

/// Channels that mean one thing.
struct OutputPart {
  Field Head::*field = nullptr;  ///< null: not read
  std::int64_t channels = 0;     ///< how many, or one of the numbers below
  const char* words = "";        ///< one of which the output's name has, separated by blanks; "": any name
  bool is_optional = false;
};
inline constexpr std::int64_t kAny = 0,  ///< classes
    kNamed = 1001,                       ///< as many classes as there are names, or COCO's 80
    kAmong = 1002,                       ///< classes, with other numbers in front or behind
    kBefore = 1003,                      ///< classes, with points or masks behind where the file tells so
    kFourSides = 1004;                   ///< distances to four sides: each a number, or a distribution
/// Any number of classes but this one.
constexpr std::int64_t any_but(std::int64_t classes) {
  return -classes;
}

/// How many places an output has, and whether they are cut into a head for each stride.
enum class Cells {
  any,
  stride,         ///< cells of one stride
  strides,        ///< cells of strides from 8 on, cut
  strides_uncut,  ///< the same, whose boxes need no strides
  mediapipe,      ///< cells of MediaPipe's grids, cut
};

/// A reading that is being made.
struct Reading {
  Scheme scheme;
  Sheet boxes{}, scores{};  ///< outputs with coordinates and with classes; of groups, the last one's
};

struct OutputRow;
using Look = bool(const Evidence& evidence, const OutputRow& row, Reading& reading);
using Refine = bool(const Evidence& evidence, const Sheet& boxes, const Sheet& scores, Scheme& scheme);

struct OutputRow {
  std::string_view type;       ///< word of `model_type`; of several rows the first that fits counts
  std::string_view also = "";  ///< other words for it, separated by blanks
  Look* look;                  ///< predicate, which adds heads
  std::vector<OutputPart> parts = {};
  Cells cells = Cells::any;
  std::int64_t anchors = 1;                 ///< places of a cell
  std::array<std::size_t, 2> groups{1, 1};  ///< how many at least and at most, each of other places
  std::optional<bool> are_maps = {};        ///< whether outputs are maps; nothing: either
  bool may_join = false;                    ///< parts of a group may be one output
  bool may_turn = false;                    ///< a place may be a column
  bool has_either_layout = false;           ///< maps may have channels last
  bool is_in_fractions = false;             ///< coordinates are parts of the input
  bool is_doubtful = false;   ///< a test picture is looked at; otherwise the structure of the file tells
  bool only_as_told = false;  ///< only if the user names the type
  Scheme scheme = {};         ///< common to all such networks
  Refine* refine = nullptr;   ///< checks the rest, and adds what depends on the file
};
const std::vector<OutputRow>& output_rows();

/// The reading of a row; nothing where the outputs do not fit.
Match match(const OutputRow& row, const Evidence& evidence);

/// One output whose rows (or columns) hold all parts in turn; of several anchors, their raw maps may be
/// beside it. Groups of outputs of as many places, each of which holds all parts. Two outputs: four
/// coordinates, and scores of as many places.
Look one_sheet, groups, box_pair;
/// Boxes, scores and class numbers in outputs of their own; corners, score and class in rows.
Look finished_boxes, finished_rows;
/// Maps of coordinates, objectness and classes for each anchor of a cell.
Look maps_of_yolov5, maps_of_darknet, map_of_yolov2;
/// One score for each class.
Look whole_picture;

Refine refine_decoded, refine_retinaface, refine_yolov5_undecoded, refine_yolov5, refine_yolox, refine_yolov8,
    refine_yolov8_maps, refine_nanodet, refine_fastestdet, refine_yolo_fastest, refine_queries,
    refine_query_pair, refine_ssd;

/// The usual priors, square ones in each cell as of RetinaFace and UltraFace, those of the first SSD, or
/// those that the user gives; empty unless there are `count`.
std::vector<Prior> usual_priors(const Evidence& evidence, std::int64_t count);
/// Reads rows anew as those that YOLOv5's last layer has not decoded.
bool add_undecoded_rows(const Evidence& evidence, const Sheet& rows, Scheme& scheme);

constexpr Preprocessing usual(Fit fit, double pad, bool rgb, std::array<double, 3> mean,
                              std::array<double, 3> scale) {
  return {.fit = fit, .pad = pad, .rgb = rgb, .mean = mean, .scale = scale};
}
constexpr Preprocessing as_ultralytics() {
  return usual(Fit::fit_to_window_letterbox, 114, true, {0, 0, 0}, {255, 255, 255});
}
constexpr Preprocessing stretched(bool rgb, double scale) {
  return usual(Fit::standard, 0, rgb, {0, 0, 0}, {scale, scale, scale});
}
constexpr Preprocessing bytes_in_bgr(double pad) {
  return usual(Fit::fit_to_window, pad, false, {0, 0, 0}, {1, 1, 1});
}
/// RTMDet's, with its fit and padding, and NanoDet's.
constexpr Preprocessing as_openmmlab(Fit fit, double pad) {
  return usual(fit, pad, false, {103.53, 116.28, 123.675}, {57.375, 57.12, 58.395});
}
constexpr Preprocessing as_image_net() {
  return usual(Fit::standard, 0, true, {123.675, 116.28, 103.53}, {58.395, 57.12, 57.375});
}
/// PaddleDetection's networks tell their input by their activation: PP-YOLOE and RT-DETR have a smooth one.
Preprocessing as_paddle(const Evidence& evidence);

}  // namespace sightline::network
