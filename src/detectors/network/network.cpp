#include "detectors/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "detectors/network/network_labels.hpp"
#include "detectors/network/network_outputs.hpp"
#include "onnx/file.hpp"
#include "onnx/import.hpp"

namespace sightline::network {
namespace {

// --- inputs

InputRole role_of(const std::string& name, const TensorType& type) {
  const std::size_t rank = type.shape.size();
  const bool is_whole = type.data != DataType::f32;
  if (rank == 4) return InputRole::picture;
  if (rank == 2 && is_whole && name.find("size") != std::string::npos) return InputRole::frame_size;
  if (rank == 2 && name == "scale_factor") return InputRole::scale;
  if (rank == 2 && name == "im_shape") return InputRole::input_size;
  if (rank == 3 && name == "pixel_mask" && is_whole) return InputRole::mask;
  throw Problem("has the input '" + name + "' of " + text_of(type.shape) +
                (is_whole ? " whole numbers" : "") +
                "; supported are one picture (1x3xHxW or 1xHxWx3) and its size");
}

// The first two whole numbers of a text, "[640, 480]" as rows and columns; or one for both.
std::optional<Size> size_of_text(const std::string& text) {
  int numbers[2] = {};
  std::size_t count = 0;
  for (std::size_t at = 0; count < 2 && (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), numbers[count]);
    if (error != std::errc()) return {};
    ++count;
    at = static_cast<std::size_t>(end - text.data());
  }
  if (count == 0) return {};
  if (count == 1) numbers[1] = numbers[0];
  return Size{numbers[1], numbers[0]};
}

const std::string* metadata_of(const FileFacts& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? nullptr : &found->second;
}

// Sets the sizes that are free, and says where the channels are.
// @param usual  of sides that neither the user nor the file gives; none where they have to be given
void fix_picture(const FileFacts& file, NetworkInput& input, const Settings& settings,
                 std::optional<Size> usual, Preprocessing& p) {
  Shape& shape = input.type.shape;
  const std::string title = "has the input '" + input.name + "' of " + text_of(shape);
  if (shape[0] == kUnknown) shape[0] = 1;
  if (shape[0] != 1)
    throw Problem(title + ", a batch of " + std::to_string(shape[0]) +
                  " pictures; export it for one picture");
  const auto is_colour = [](std::int64_t side) { return side == 3 || side == 1; };
  p.channels_last = !is_colour(shape[1]) && is_colour(shape[3]);
  const std::size_t channels = p.channels_last ? 3 : 1, rows = p.channels_last ? 1 : 2;
  if (shape[channels] == kUnknown) shape[channels] = 3;
  if (!is_colour(shape[channels])) throw Problem(title + ", which is no picture of 1 or 3 channels");
  p.channels = static_cast<int>(shape[channels]);
  std::optional<Size> size = settings.input_size;
  if (const std::string* text = metadata_of(file, "imgsz"); text && !size) size = size_of_text(*text);
  if (!size) size = usual;
  const auto set = [&](std::int64_t& side, int wanted) {
    if (side == kUnknown && wanted > 0) side = wanted;
    if (settings.input_size && side != wanted)
      throw Error(ExitCode::usage,
                  "input_size does not fit the network '" + settings.file.string() + "', whose input is " +
                      text_of(shape),
                  "leave it out");
  };
  set(shape[rows], size ? size->height : 0);
  set(shape[rows + 1], size ? size->width : 0);
  if (shape[rows] == kUnknown || shape[rows + 1] == kUnknown)
    throw Problem(title + ", a picture of any size; choose one with --input-size=640x640"_message);
  constexpr std::int64_t kLargest = 8192;
  if (std::min(shape[rows], shape[rows + 1]) < 8 || std::max(shape[rows], shape[rows + 1]) > kLargest)
    throw Problem(title + ", a size that is not supported");
  p.size = {static_cast<int>(shape[rows + 1]), static_cast<int>(shape[rows])};
}

void fix_inputs(Network& network, const nn::OnnxGraph& graph, const Settings& settings,
                std::optional<Size> usual) {
  bool has_picture = false;
  for (const nn::OnnxInput& given : graph.inputs) {
    const std::string& name = graph.value(given.value).name;
    NetworkInput& input =
        network.inputs.emplace_back(NetworkInput{name, given.type, role_of(name, given.type)});
    if (input.role == InputRole::picture) {
      if (has_picture) throw Problem("takes several pictures");
      has_picture = true;
      network.picture = network.inputs.size() - 1;
      // Levels from 0 to 255, which a first Cast or arithmetic makes real: they are so from the start.
      network.takes_levels = input.type.data != DataType::f32;
      input.type.data = DataType::f32;
      fix_picture(network.file, input, settings, usual, network.preprocessing);
    } else if (input.role == InputRole::mask) {
      constexpr std::int64_t kSide = 64;  // where it is free; the network resizes it
      input.type.shape[0] = 1;
      for (std::int64_t& side : input.type.shape) side = side == kUnknown ? kSide : side;
    } else {
      input.type.shape = {1, 2};
    }
  }
  if (!has_picture) throw Problem("takes no picture");
}

// The engine's graph of a model whose inputs have these sizes.
void import_graph(Network& network, const nn::OnnxModel& model, nn::OnnxOrigins& origins) {
  nn::Types inputs;
  for (const NetworkInput& input : network.inputs) inputs.push_back(input.type);
  auto graph =
      std::make_shared<const nn::Graph>(nn::import_onnx(model, network.memory_limit, inputs, &origins));
  for (std::size_t i = 0; i < graph->outputs().size(); ++i)
    network.outputs.push_back(
        {model.graph.value(model.graph.outputs[i]).name, graph->type(graph->outputs()[i])});
  for (const nn::GraphNode& node : graph->nodes())
    network.multiply_adds += nn::multiply_adds_of(*graph, node);
  for (const nn::GraphTensor& tensor : graph->tensors())
    network.weight_bytes += tensor.constant ? nn::bytes_of(tensor.type) : 0;
  for (const nn::OnnxNode& node : origins.nodes) ++network.file.operators[node.op];
  network.graph = std::move(graph);
}

// --- classes

std::size_t class_named(const Network& network, std::string_view label, const Settings& settings) {
  const auto found = std::ranges::find(network.labels, label);
  if (found != network.labels.end()) return static_cast<std::size_t>(found - network.labels.begin());
  const std::string nearest = nearest_of(label, network.labels);
  throw Error(ExitCode::usage,
              fmt::format("the network '{}' has no class '{}'", settings.file.string(), label),
              nearest.empty() ? fmt::format("it has: {}", fmt::join(network.labels, ", "))
                              : fmt::format("did you mean '{}'?", nearest));
}

void set_reported(Network& network, const Settings& settings) {
  const auto classes = static_cast<int>(network.labels.size());
  if (settings.classes.empty()) {
    network.reported = network.labels;
    network.numbers.resize(network.labels.size());
    std::iota(network.numbers.begin(), network.numbers.end(), 0);
    return;
  }
  network.numbers.assign(static_cast<std::size_t>(classes), -1);
  for (const std::string_view one : split_at_commas(settings.classes)) {
    int& number = network.numbers[class_named(network, one, settings)];
    if (number >= 0) continue;
    number = static_cast<int>(network.reported.size());
    network.reported.emplace_back(one);
  }
}

void set_thresholds(Network& network, const Settings& settings) {
  network.thresholds.assign(network.labels.size(), network.threshold);
  std::set<std::size_t> seen;
  for (const std::string_view one : split_at_commas(settings.class_thresholds)) {
    if (settings.class_thresholds.empty()) break;
    const std::size_t sign = one.rfind('=');
    double score = 0;
    const char* const end = one.data() + one.size();
    const bool has_score = sign != std::string_view::npos &&
                           std::from_chars(one.data() + sign + 1, end, score).ptr == end &&
                           sign + 1 < one.size();
    // Scores are probabilities: nothing has one above 1.
    if (!has_score || !(score >= 0 && score <= 1))
      throw Error(ExitCode::usage, fmt::format("'{}' is not a class with a threshold from 0 to 1", one),
                  "write class_thresholds as \"person=0.5,car=0.3\"");
    const std::size_t number = class_named(network, one.substr(0, sign), settings);
    if (network.numbers[number] < 0)
      throw Error(ExitCode::usage,
                  fmt::format("the class '{}' has a threshold, but is not reported", network.labels[number]),
                  "add it to the classes, or leave its threshold out");
    if (!seen.insert(number).second)
      throw Error(ExitCode::usage, fmt::format("the class '{}' has two thresholds", network.labels[number]),
                  "give it one");
    network.thresholds[number] = score;
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < network.labels.size(); ++i) {
    if (network.numbers[i] >= 0) lowest = std::min(lowest, network.thresholds[i]);
  }
  network.threshold = lowest;
}

// --- what is said of the input: by the user, by the file, or usual for such networks

std::string said(const FileFacts& file, const std::string& by_user, const std::string& key) {
  if (!by_user.empty()) return by_user;
  const std::string* const text = metadata_of(file, "model_info " + key);
  return text ? *text : std::string();
}

std::optional<std::vector<double>> numbers_of(const std::string* text) {
  if (!text) return {};
  std::vector<double> numbers;
  for (std::size_t at = 0; (at = text->find_first_of("-.0123456789", at)) != std::string::npos;) {
    double number = 0;
    const auto [end, error] = std::from_chars(text->data() + at, text->data() + text->size(), number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    at = static_cast<std::size_t>(end - text->data());
  }
  if (numbers.size() == 1) numbers.assign(3, numbers[0]);
  if (numbers.size() != 3) return {};
  return numbers;
}

void set_preprocessing(Network& network, const Settings& settings) {
  const FileFacts& file = network.file;
  Preprocessing& p = network.preprocessing;
  const Preprocessing& usual = network.scheme.preprocessing;
  const std::string fit = said(file, settings.resize_type, "resize_type");
  p.fit = fit.empty() ? usual.fit : fit_named(fit, settings.file.string());
  p.crop_fraction = settings.crop_fraction.value_or(usual.crop_fraction);
  p.antialias = usual.antialias;
  p.pad = settings.pad_value.value_or(usual.pad);
  const std::string* const reversed = metadata_of(file, "model_info reverse_input_channels");
  p.rgb = settings.reverse_input_channels.value_or(
      reversed ? *reversed == "True" || *reversed == "YES" || *reversed == "true" : usual.rgb);
  const auto set = [&](std::array<double, 3>& values, const std::optional<std::vector<double>>& by_user,
                       const char* key, const std::array<double, 3>& otherwise) {
    const auto from = by_user ? by_user : numbers_of(metadata_of(file, std::string("model_info ") + key));
    for (std::size_t c = 0; c < 3; ++c) values[c] = from ? (*from)[c] : otherwise[c];
  };
  const Preprocessing levels{};  // as they are
  set(p.mean, settings.mean_values, "mean_values", network.takes_levels ? levels.mean : usual.mean);
  set(p.scale, settings.scale_values, "scale_values", network.takes_levels ? levels.scale : usual.scale);
  for (double& scale : p.scale) {
    if (!(std::abs(scale) >= 1e-6)) throw Problem("divides its input by " + std::to_string(scale));
  }
}

Network build(const nn::OnnxModel& model, const Settings& settings, std::optional<Size> usual_size = {}) {
  Network network;
  network.name = settings.file.filename().string();
  network.file = {model.producer, model.opset,     model.graph.nodes.size(), {},
                  model.metadata, model.data_files};
  network.memory_limit = settings.memory_limit;
  fix_inputs(network, model.graph, settings, usual_size);
  network.has_usual_size = usual_size.has_value();
  nn::OnnxOrigins origins;
  import_graph(network, model, origins);
  const OutputOrigins facts(std::move(origins));
  const GivenLabels labels = given_labels(network.file, settings);
  network.scheme =
      choose_scheme(facts.outputs(network, model.graph.columns, settings.anchors, labels.names.size()),
                    said(network.file, settings.model_type, "model_type"));
  const bool has_anchors = network.scheme.box == BoxForm::anchor || network.scheme.box == BoxForm::darknet ||
                           network.scheme.box == BoxForm::prior;
  if (!settings.anchors.empty() && !has_anchors)
    throw Error(ExitCode::usage,
                fmt::format("anchors are given for the network '{}', which is read as {} and has none",
                            settings.file.string(), network.scheme.type),
                "leave them out");
  if (settings.top && !classifies_pictures(network))
    throw Error(ExitCode::usage,
                fmt::format("the network '{}' is read as {}, and does not classify whole pictures",
                            settings.file.string(), network.scheme.type),
                "leave out --top"_message);
  set_labels(network, settings, labels, facts.classes_behind_labels(network.scheme));
  set_reported(network, settings);
  set_preprocessing(network, settings);
  const auto value = [&](const std::optional<double>& by_user, const char* key, double usual) {
    const auto by_file = numbers_of(metadata_of(network.file, std::string("model_info ") + key));
    return by_user ? *by_user : by_file ? by_file->front() : usual;
  };
  network.threshold = value(settings.threshold, "confidence_threshold", network.scheme.threshold);
  set_thresholds(network, settings);
  network.iou = value(settings.iou_threshold, "iou_threshold", network.scheme.iou);
  network.class_agnostic = settings.class_agnostic;
  network.max_candidates = settings.max_candidates;
  if (classifies_pictures(network))
    network.top =
        static_cast<std::size_t>(std::clamp<double>(value(settings.top, "topk", 1), 1, kMostClasses));
  return network;
}

}  // namespace

namespace {

// Whether neither the user nor the file gives the size of the picture.
bool has_free_size(const nn::OnnxModel& model, const Settings& settings) {
  if (settings.input_size || model.metadata.contains("imgsz")) return false;
  const auto is_colour = [](std::int64_t side) { return side == 3 || side == 1; };
  return std::ranges::any_of(model.graph.inputs, [&](const nn::OnnxInput& input) {
    const Shape& shape = input.type.shape;
    if (shape.size() != 4) return false;
    const std::size_t rows = !is_colour(shape[1]) && is_colour(shape[3]) ? 1 : 2;
    return shape[rows] == kUnknown || shape[rows + 1] == kUnknown;
  });
}

// Side of the input that networks of a kind usually have; 0: the most common one.
int usual_side(const Scheme& scheme) {
  if (scheme.type == "nanodet" || scheme.box == BoxForm::darknet) return 416;
  if (scheme.type == "centernet") return 512;
  if (scheme.box == BoxForm::picture) return 224;
  if (scheme.type == "fcos" || scheme.has_no_object) return 800;
  const bool is_p6 = scheme.type == "yolov5" && !scheme.heads.empty() && scheme.heads.back().stride == 64;
  return is_p6 ? 1280 : 0;
}

// The size that is usual for the kind of network, or the first one that the file can be read with.
Network build_with_usual_size(const nn::OnnxModel& model, const Settings& settings) {
  constexpr int kSides[] = {640, 320, 416, 300, 352, 512, 800, 1280, 224};
  std::optional<Problem> first;
  for (const int side : kSides) {
    try {
      Network network = build(model, settings, Size{side, side});
      const int usual = usual_side(network.scheme);
      if (side != kSides[0] || usual == 0) return network;
      try {
        return build(model, settings, Size{usual, usual});
      } catch (const Problem&) {
        return network;
      }
    } catch (const Problem& problem) {
      if (!first) first = problem;
    }
  }
  throw Problem(first->message() +
                "; its input takes any size, of which usual ones were tried: choose one with "
                "--input-size=WIDTHxHEIGHT"_message);
}

}  // namespace

Network make_network(const nn::OnnxModel& model, const Settings& settings) {
  const std::string file = settings.file.string();
  try {
    try {
      return has_free_size(model, settings) ? build_with_usual_size(model, settings) : build(model, settings);
    } catch (const nn::Problem& problem) {
      throw Problem(problem);
    }
  } catch (const Problem& problem) {
    if (!settings.input_size) throw network_error(file, problem);
    throw network_error(file, Problem(problem.message() +
                                      fmt::format("; it may be made for another size than {}x{}",
                                                  settings.input_size->width, settings.input_size->height)));
  }
}

Network load_network(const Settings& settings) {
  return make_network(nn::read_onnx(settings.file, settings.max_bytes), settings);
}

std::shared_ptr<const Parts> parts_of(const Network& network) {
  if (network.parts || network.graph->nodes().size() > nn::kMostPlannedNodes) return network.parts;
  try {
    return std::make_shared<const Parts>(plan_parts(*network.graph, network.picture, network.memory_limit));
  } catch (const nn::Problem& problem) {
    throw network_error(network.name, Problem(problem));
  }
}

Error network_error(const std::string& name, const Problem& problem) {
  return nn::onnx_error(name, problem.message());
}

bool looks_like_onnx(const std::string& file) {
  return file.ends_with(".onnx");
}

bool is_reported(const Network& network, const RawBox& box) {
  const auto label = static_cast<std::size_t>(box.label);
  return label < network.labels.size() && network.numbers[label] >= 0 &&
         box.score >= static_cast<float>(network.thresholds[label]);
}

void fill_sizes(const Network& network, Size frame, const std::function<Tensor&(std::size_t)>& input) {
  const Size size = network.preprocessing.size;
  for (std::size_t i = 0; i < network.inputs.size(); ++i) {
    const InputRole role = network.inputs[i].role;
    if (role == InputRole::picture) continue;
    // Frame sizes are width and height; the others, rows first.
    const double across =
        role == InputRole::scale ? static_cast<double>(size.width) / frame.width : size.width;
    const double down =
        role == InputRole::scale ? static_cast<double>(size.height) / frame.height : size.height;
    Tensor& tensor = input(i);
    nn::with_type(tensor.data(), [&]<typename T>() {
      const std::span<T> elements = tensor.as<T>();
      if (role == InputRole::mask) {
        std::ranges::fill(elements, T{1});
      } else {
        elements[0] = static_cast<T>(role == InputRole::frame_size ? frame.width : down);
        elements[1] = static_cast<T>(role == InputRole::frame_size ? frame.height : across);
      }
    });
  }
}

}  // namespace sightline::network
