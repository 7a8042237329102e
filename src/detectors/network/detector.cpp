#include "detectors/network/detector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "processing/frame_luma.hpp"

namespace sightline::network {
namespace {

constexpr std::string_view kPartNames[kMostParts] = {"network_1", "network_2", "network_3", "network_4"};
constexpr std::string_view kResultNames[kMostParts] = {"results_1", "results_2", "results_3", "results_4"};

// Left and right as they are in the picture.
constexpr const char* kPointNames[] = {"left_eye", "right_eye", "nose", "left_mouth", "right_mouth"};

constexpr float kLargestScore = 1.01F;  // with rounding

NetworkWorkspace& own(Workspace& workspace) {
  return static_cast<NetworkWorkspace&>(workspace);
}

// Bytes of one frame's tensors where a frame decides their sizes: as many as those of known sizes need, or a
// quarter of the limit of all frames.
std::int64_t limit_of_frame(std::int64_t known_bytes, std::int64_t memory_limit) {
  constexpr int kShares = 4;
  return std::max(known_bytes, memory_limit / kShares);
}

}  // namespace

MemoryShare::MemoryShare(const Network& network, std::shared_ptr<Taken> taken, std::int64_t bytes)
    : taken_(std::move(taken)) {
  if (taken_->fetch_add(bytes) + bytes > network.memory_limit) {
    *taken_ -= bytes;
    throw Error(
        ExitCode::model,
        fmt::format("the network '{}' needs {} MiB of memory for each frame, and all frames in flight "
                    "together more than the limit of {} MiB; its largest tensor is {}",
                    network.name, bytes >> 20, network.memory_limit >> 20, largest_tensor(*network.graph)),
        "take a smaller --input-size, or fewer frames with --in-flight"_message);
  }
  bytes_ = bytes;
}

NetworkDetector::NetworkDetector(Network network, bool plain)
    : network_(std::move(network)), limit_(network_.max_candidates) {
  network_.parts = plain ? nullptr : parts_of(network_);
  const Network& n = network_;
  info_.family = "network";
  info_.model = fmt::format("{}: {}, input {}x{}, {}, {:.3g} G multiply-adds", n.name, n.scheme.type,
                            n.preprocessing.size.width, n.preprocessing.size.height,
                            counted(static_cast<std::int64_t>(n.labels.size()), "class"),
                            1e-9 * static_cast<double>(n.multiply_adds));
  info_.labels = n.reported;
  info_.threshold = n.threshold;
  info_.classifies_frames = classifies_pictures(n);
  if (!parts()) info_.cpu_only = "the network has too many nodes for a plan";
  describe_stages();
}

void NetworkDetector::describe_stages() {
  resource_names_ = {"frame", "input"};
  stages_ = {{"letterbox", {kFrameResource}, {kInput}, !network_.preprocessing.antialias}};
  const std::size_t count = parts() ? parts()->parts.size() : 1;
  ResourceSet results;
  for (std::size_t i = 0; i < count; ++i) {
    StageInfo stage{count == 1 ? "network" : kPartNames[i], {}, {kFirstResults + i}};
    if (parts()) {
      stage.suits_device = parts()->parts[i].partition.on_device;
      for (const std::size_t pool : parts()->parts[i].reads) stage.reads.insert(resource_of(pool));
    } else {
      stage.reads.insert(kInput);
    }
    stages_.push_back(stage);
    resource_names_.push_back(kResultNames[i]);
  }
  if (parts()) {
    for (const std::size_t pool : parts()->result_pools) results.insert(resource_of(pool));
  }
  results.insert(kInput + count);  // the last part's
  const std::size_t candidates = kFirstResults + count;
  stages_.push_back({"read_boxes", results, {candidates}});
  stages_.push_back({"group", {candidates}, {candidates + 1}});
  resource_names_.insert(resource_names_.end(), {"candidates", "detections"});
}

std::unique_ptr<Workspace> NetworkDetector::make_workspace() const {
  // Tensors whose sizes a frame decides are not known yet; what runs their nodes counts them.
  const std::int64_t bytes = parts() ? parts()->frame_bytes() : 0;
  const std::int64_t frame_limit = limit_of_frame(bytes, network_.memory_limit);
  auto share = std::make_unique<MemoryShare>(network_, taken_, bytes);
  return std::make_unique<NetworkWorkspace>(
      std::move(share),
      parts() ? make_runner(*parts(), frame_limit) : make_reference_runner(*network_.graph, frame_limit));
}

bool NetworkDetector::prepare(Workspace& workspace, PictureView frame, Partition /*partition*/) const {
  NetworkWorkspace& w = own(workspace);
  if (frame.width() < 1 || frame.height() < 1) return false;
  w.frame = frame;
  w.boxes.clear();
  w.detections.clear();
  if (w.planned != frame.size()) {
    w.planned = {};
    w.letterbox = Letterbox(frame.size(), network_.preprocessing);
    w.planned = frame.size();
    fill_sizes(network_, w.planned, [&](std::size_t i) -> Tensor& { return w.runner->input(i); });
  }
  for (InterStageBuffer& memory : w.runner->pools()) memory.plan(static_cast<std::int64_t>(memory.bytes()));
  return true;
}

void NetworkDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  NetworkWorkspace& w = own(workspace);
  if (stage == kLetterbox) return fill_input(w);
  if (stage == stages_.size() - 2) return decode_outputs(w);
  if (stage == stages_.size() - 1) return group(w);
  w.runner->run(stage - kFirstPart, &w.work);
}

void NetworkDetector::fill_input(NetworkWorkspace& w) const {
  float* const tensor = w.runner->input(network_.picture).as<float>().data();
  constexpr int kRows = 8;
  for_each_rows(
      network_.preprocessing.size.height, w,
      [&](int begin, int end) { w.letterbox.fill(w.frame, tensor, begin, end); }, kRows);
}

void NetworkDetector::decode_outputs(NetworkWorkspace& w) const {
  std::vector<const Tensor*> outputs;
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) outputs.push_back(&w.runner->output(i));
  try {
    decode(network_.scheme, outputs, static_cast<float>(network_.threshold), w.boxes, &w.work);
    look_for_errors(outputs, w.boxes);
  } catch (const Problem& problem) {
    throw Error(ExitCode::failed, "the network '" + network_.name + "' " + problem.what());
  }
  std::erase_if(w.boxes, [&](const RawBox& box) { return !is_reported(network_, box); });
}

void NetworkDetector::look_for_errors(const std::vector<const Tensor*>& outputs,
                                      const std::vector<RawBox>& boxes) const {
  if (looks_left_.load(std::memory_order_relaxed) <= 0) return;
  const Message error = error_in(outputs, boxes);
  const int left = error.empty() ? looks_left_.fetch_sub(1) : looks_left_.exchange(0);
  if (error.empty() || left <= 0) return;  // another frame has warned
  logger().warn("{}: {} (`sightline network explain MODEL PICTURE` shows more)", network_.name,
                error.text(Words::command_line));
}

Message NetworkDetector::error_in(const std::vector<const Tensor*>& outputs,
                                  const std::vector<RawBox>& boxes) const {
  const Scheme& scheme = network_.scheme;
  for (const RawBox& box : boxes) {
    if (static_cast<std::size_t>(box.label) >= network_.labels.size())
      return fmt::format("it finds class {}, but has names of {}; give all with the key `labels`", box.label,
                         counted(static_cast<std::int64_t>(network_.labels.size()), "class"));
  }
  const auto score = boxes.empty() ? only_score(scheme, outputs) : std::nullopt;
  if (score && !scheme.heads.front().label.is_there())  // rows that are finished may be empty
    return fmt::format(
        "all places have the score {:g}; the network may be badly quantised, or its outputs not depend on "
        "the picture",
        *score);
  const Survey seen = survey(scheme, outputs, network_.preprocessing.size);
  std::string sign;
  if (seen.highest > kLargestScore) sign = fmt::format("scores up to {:.3g}", seen.highest);
  if (seen.highest_of_none >= network_.threshold) sign = "objects of class 0, which stands for none";
  if (boxes.empty() && seen.highest >= network_.threshold && seen.highest > 0) sign = "boxes without a size";
  if (sign.empty()) return {};
  return fmt::format("it gives {}, so it is probably not of the kind {}; ", sign, scheme.type) +
         "--model-type chooses another"_message;
}

void NetworkDetector::group(NetworkWorkspace& w) const {
  limit_.keep_top_k(w.boxes, has_higher_confidence);
  if (network_.scheme.suppresses) {
    suppress(w.boxes, network_.iou, network_.class_agnostic);
  } else {
    const std::size_t kept = std::min(w.boxes.size(), network_.top);
    std::ranges::partial_sort(w.boxes, w.boxes.begin() + static_cast<std::ptrdiff_t>(kept),
                              has_higher_confidence);
    w.boxes.resize(kept);
  }
  for (const RawBox& box : w.boxes) {
    Detection detection = detection_of(network_, box, w.letterbox.placement(), w.planned);
    if (detection.box.area() > 0) w.detections.push_back(std::move(detection));
  }
}

Message doubt_text(const Scheme& scheme) {
  Message text = fmt::format("read as {}, a test picture gives {}: probably the network is of another kind",
                             scheme.type, scheme.doubt);
  if (!scheme.others.empty())
    text = text + "; --model-type"_message + fmt::format(" also takes {}", fmt::join(scheme.others, ", "));
  return text;
}

Detection detection_of(const Network& network, const RawBox& box, const Placement& placement, Size frame) {
  const bool is_placed = network.scheme.in_picture;
  const auto x = [&](double at) { return is_placed ? at : placement.frame_x(at); };
  const auto y = [&](double at) { return is_placed ? at : placement.frame_y(at); };
  Detection detection;
  const double left = x(box.x1), top = y(box.y1);
  detection.box = clipped({left, top, x(box.x2) - left, y(box.y2) - top}, frame);
  if (classifies_pictures(network))
    detection.box = {0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
  detection.score = box.score;
  // A candidate that is not reported has no number.
  const auto label = static_cast<std::size_t>(box.label);
  detection.label = label < network.numbers.size() ? network.numbers[label] : -1;
  if (network.scheme.points == 5) {
    DetectionAttributes attributes;
    for (std::size_t i = 0; i < 5; ++i)
      attributes.landmarks.push_back({kPointNames[i], x(box.points[2 * i]), y(box.points[2 * i + 1])});
    detection.attributes = SharedAttributes(std::move(attributes));
  }
  return detection;
}

std::vector<Detection> NetworkDetector::take_detections(Workspace& workspace) const {
  return std::exchange(own(workspace).detections, {});
}

std::unique_ptr<NetworkDetector> make_network_detector(const Config& config) {
  const Settings settings = read_settings(config);
  config.note_file("detector", "model", settings.file);
  Network network = load_network(settings);
  for (int number = 1; const std::filesystem::path& file : network.file.data_files)
    config.note_file("detector", fmt::format("model's data {}", number++), file);
  const Size size = network.preprocessing.size;
  logger().info("{}: {}, {}, input {}x{}{}, scores from {:g}", network.name, network.scheme.type,
                counted(static_cast<std::int64_t>(network.labels.size()), "class"), size.width, size.height,
                network.has_usual_size ? " (it takes any; --input-size chooses another)" : "",
                network.threshold);
  logger().debug("{}: {}; input {}", network.name, network.scheme.reason, text_of(network.preprocessing));
  if (!network.scheme.doubt.empty())
    logger().warn("{}: {}", network.name, doubt_text(network.scheme).text(Words::command_line));
  return std::make_unique<NetworkDetector>(std::move(network));
}

}  // namespace sightline::network
