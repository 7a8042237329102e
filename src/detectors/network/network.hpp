#pragma once
/// A user's network that is ready to run: its graph, how frames become its input, and what its outputs
/// mean.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detection/keys.hpp"
#include "detectors/network/labels.hpp"
#include "detectors/network/parts.hpp"
#include "detectors/network/scheme.hpp"
#include "onnx/model.hpp"

namespace sightline::network {

/// MiB of a file unless asked otherwise (see detection/keys.hpp).
inline constexpr int kMaxModelSize = 512;

/// Parameters in section [detector], beside those that families share. Words are those of OpenVINO's
/// model_info.
inline constexpr keys::Text kInputSize("input_size", "--input-size WIDTHxHEIGHT",
                                       "Size of the network's input, where it takes any");
inline constexpr keys::Text kModelType(
    "model_type", "--model-type TYPE",
    "Kind of network (yolox, yolov8, detr, ssd, ...), where it is not to be inferred");
inline constexpr keys::Text kResizeType("resize_type", "", "How frames are resized to the input");
inline constexpr keys::Number kPadValue("pad_value", {0, 255}, "", "Level of the padding");
inline constexpr keys::Flag kReverseInputChannels("reverse_input_channels", "", "Whether the input is RGB");
inline constexpr keys::Numbers kMeanValues("mean_values", {-1e6, 1e6, 3}, "", "Mean of each channel");
inline constexpr keys::Numbers kScaleValues("scale_values", {1e-6, 1e6, 3}, "", "Divisor of each channel");
inline constexpr keys::Text kAnchors("anchors", "", "Widths and heights in pixels, by stride");
inline constexpr keys::Number kCropFraction("crop_fraction", {0.1, 1}, "",
                                            "Share of the resized frame that resize_type crop keeps");
inline constexpr keys::Text kLabels(
    "labels", "--labels FILE",
    "Names of a network's classes, if its file has none: NAME,..., or a text file with a "
    "name on each line");
inline constexpr keys::Whole kTop("topk", {1, kMostClasses}, "--top K",
                                  "Classes to report of each picture, the best first, for networks that "
                                  "classify whole pictures (default: 1)",
                                  {.shows_range = true});
inline constexpr keys::Text kClasses("classes", "--classes NAME,...", "Classes to report (default: all)");
inline constexpr keys::Text kClassThresholds("class_thresholds", "--class-thresholds NAME=SCORE,...",
                                             "Minimum scores of classes that differ from --threshold");
inline constexpr keys::Number kConfidenceThreshold("confidence_threshold", {0, 1}, "", "Minimum score");
inline constexpr keys::Number kIouThreshold(
    "iou_threshold", {0, 1}, "--iou-threshold SHARE",
    "Overlap above which the lower score of two boxes falls, as intersection over union (0 to 1)",
    {.shows_range = true});
inline constexpr keys::Flag kClassAgnostic("class_agnostic", "--class-agnostic",
                                           "Suppress boxes that overlap one of another class, too");
inline constexpr keys::Whole kMaxCandidates("max_candidates", {1, kMostCandidates}, "", "Boxes per frame");

/// User's settings for a network; missing ones follow from the file.
struct Settings {
  std::filesystem::path file;
  std::uint64_t max_bytes = 0;                        ///< of the file
  std::int64_t memory_limit = std::int64_t{2} << 30;  ///< bytes of values, of all frames in flight
  std::string model_type;
  std::optional<Size> input_size;
  std::string resize_type;
  std::optional<double> pad_value;
  std::optional<bool> reverse_input_channels;  ///< true: RGB
  std::optional<std::vector<double>> mean_values, scale_values;
  std::optional<double> crop_fraction;
  std::vector<double> anchors;  ///< widths and heights in pixels, by rising stride, of YOLOv5's kind
  std::vector<std::string> labels;
  std::string classes;           ///< to report, separated by commas; empty: all
  std::string class_thresholds;  ///< scores of classes that differ: "person=0.5,car=0.3"
  std::optional<double> threshold;
  std::optional<double> iou_threshold;
  bool class_agnostic = false;
  std::optional<int> top;  ///< classes of a picture, of networks that classify whole pictures
  int max_candidates = 30'000;
};

/// Throws Error (usage).
Settings read_settings(const Config& config);

/// Content of an input.
enum class InputRole { picture, frame_size, input_size, scale, mask };

struct NetworkInput {
  std::string name;
  TensorType type;
  InputRole role = InputRole::picture;
};

struct NetworkOutput {
  std::string name;
  TensorType type;  ///< sides that each frame decides are kUnknown
};

/// Other facts of a network's file.
struct FileFacts {
  std::string producer;
  int opset = 0;
  std::size_t nodes = 0;
  std::map<std::string, int> operators;  ///< how many nodes have each, of those that the outputs need
  std::map<std::string, std::string> metadata;
  std::set<std::filesystem::path> data_files;  ///< that hold weights, beside the network's own file
};

/// Immutable once loaded.
struct Network {
  std::string name;  ///< of its file
  FileFacts file;
  std::shared_ptr<const nn::Graph> graph;  ///< whose inputs have sizes
  std::shared_ptr<const Parts> parts;      ///< null until the graph is planned
  std::vector<NetworkInput> inputs;
  std::vector<NetworkOutput> outputs;
  std::size_t picture = 0;    ///< number of the input that takes the picture
  bool takes_levels = false;  ///< its type is of whole numbers: pixels are given as they are, 0 to 255
  Scheme scheme;
  Preprocessing preprocessing;
  bool has_usual_size = false;        ///< whether its input takes any size, and nobody gave one
  std::vector<std::string> labels;    ///< one for each class
  std::vector<std::string> reported;  ///< labels that are reported; the number of one is a detection's label
  std::vector<int> numbers;           ///< by class: in `reported`; -1: it is not
  std::vector<double> thresholds;     ///< by class
  double threshold = 0;               ///< lowest of those that are reported
  double iou = 0;
  bool class_agnostic = false;
  int max_candidates = 0;
  std::size_t top = kMostCandidates;  ///< findings of a frame that are reported, the best ones
  std::int64_t memory_limit = 0;
  std::int64_t multiply_adds = 0;  ///< of a frame
  std::int64_t weight_bytes = 0;
};

/// Throws Error (model), and Error (usage) for settings that do not fit the file.
Network load_network(const Settings& settings);
/// The same of a model that is there already.
Network make_network(const nn::OnnxModel& model, const Settings& settings);

/// The network's parts, planned unless they have been; null where the network has too many nodes for a plan.
/// Throws Error (model).
std::shared_ptr<const Parts> parts_of(const Network& network);

/// Error (model) that says what is wrong with a network. @param name  of its file
Error network_error(const std::string& name, const Problem& problem);

/// Whether a name ends like that of an ONNX file.
bool looks_like_onnx(const std::string& file);

/// Whether findings are classes of whole pictures.
inline bool classifies_pictures(const Network& network) {
  return network.scheme.box == BoxForm::picture;
}

/// Whether a finding is one to report: its class is, and its score is high enough.
bool is_reported(const Network& network, const RawBox& box);

/// Fills the inputs other than the picture. A mask, as DETR has it, is of the whole picture.
void fill_sizes(const Network& network, Size frame, const std::function<Tensor&(std::size_t)>& input);

}  // namespace sightline::network
