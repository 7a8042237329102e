#include "detectors/network/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "base/error.hpp"
#include "base/text.hpp"
#include "network/opencl/device_runner.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::network {
namespace {

constexpr std::size_t kBest = 10, kMostLabels = 100;
constexpr double kMebi = 1.0 / (1 << 20);

std::string type_text(const TensorType& type) {
  if (!is_known(type.shape)) return "size varies";
  return text_of(type.shape) + (type.data == DataType::f32 ? "" : " whole numbers");
}

std::string operators_text(const FileFacts& file) {
  std::string text;
  for (const auto& [op, count] : file.operators)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
  return text;
}

struct Range {
  float smallest = std::numeric_limits<float>::infinity();
  float largest = -std::numeric_limits<float>::infinity();
  std::int64_t nans = 0;
};

Range range_of(const Tensor& tensor) {
  Range range;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const float value = number_at(tensor, i);
    if (value != value) ++range.nans;
    if (value < range.smallest) range.smallest = value;
    if (value > range.largest) range.largest = value;
  }
  return range;
}

std::string range_text(const std::string& name, const Tensor& output) {
  const Range range = range_of(output);
  if (output.size() == 0) return fmt::format("  output         '{}' is empty\n", name);
  if (range.nans == output.size())
    return fmt::format("  output         '{}' {}: none of its values is a number\n", name,
                       text_of(output.shape()));
  std::string text = fmt::format("  output         '{}' {}: {:g} to {:g}\n", name, text_of(output.shape()),
                                 range.smallest, range.largest);
  if (range.nans > 0) text += fmt::format("                 {} of its values are not a number\n", range.nans);
  if (range.smallest == range.largest)
    text += "                 all values are equal: the network may be badly quantised, or its input wrong\n";
  return text;
}

// The best candidate of an object, with how many more there are.
struct Listed {
  RawBox box;
  std::int64_t others = 0;
};

// The best candidates, each with those that it would suppress. `all` is sorted.
std::vector<Listed> best_of_each(const Network& network, const std::vector<RawBox>& all) {
  std::vector<Listed> listed;
  for (const RawBox& box : all) {
    const auto found = std::ranges::find_if(listed, [&](const Listed& one) {
      return (network.class_agnostic || one.box.label == box.label) && overlap(one.box, box) > network.iou;
    });
    if (found != listed.end()) {
      ++found->others;
    } else if (listed.size() < kBest) {
      listed.push_back({box});
    }
  }
  return listed;
}

// Reason why a candidate is reported or rejected. `kept` are those that suppression left.
std::string fate_of(const Network& network, const RawBox& box, const Detection& object,
                    const std::vector<RawBox>& kept) {
  const auto label = static_cast<std::size_t>(box.label);
  if (label >= network.labels.size())
    return fmt::format("rejected: class {} is not one of {}", box.label, network.labels.size());
  if (network.numbers[label] < 0) return "rejected: its class is not asked for";
  if (!is_reported(network, box)) return fmt::format("rejected: score below {:g}", network.thresholds[label]);
  if (std::ranges::find(kept, box.place, &RawBox::place) == kept.end())
    return classifies_pictures(network) ? fmt::format("rejected: not among the best {}", network.top)
                                        : "rejected: there are more candidates than max_candidates";
  return object.box.area() > 0 ? "reported" : "rejected: lies outside of the picture";
}

// Reasons to look at where a picture has no boxes.
Message hint_of(const Network& network, const std::vector<RawBox>& all,
                const std::vector<const Tensor*>& outputs) {
  if (!network.scheme.doubt.empty()) return doubt_text(network.scheme);
  if (all.empty() && !network.scheme.suppresses)
    return "the network itself keeps no box; its own threshold and its input (--picture) decide"_message;
  if (all.empty())
    return "no place has a score that is a number and a box with a size: the network is of another kind "
           "(--model-type), or the file is damaged"_message;
  if (const auto score = only_score(network.scheme, outputs); score && network.scheme.suppresses)
    return fmt::format("all places have the score {:g}: the network may be badly quantised", *score);
  if (std::ranges::any_of(all, [&](const RawBox& box) {
        return static_cast<std::size_t>(box.label) >= network.labels.size() && box.score >= network.threshold;
      }))
    return "it finds classes without a name: give all names with the key `labels`";
  Message others = fmt::format("{}", fmt::join(network.scheme.others, ", "));
  if (!others.empty()) others = "; --model-type (its outputs also fit "_message + others + ")";
  return "if there should be some: try a lower --threshold; look at the input (--picture) for channels in "
         "the wrong order (reverse_input_channels); compare mean_values and scale_values with the network's "
         "training"_message +
         others;
}

std::string candidates_text(const NetworkDetector& detector, NetworkWorkspace& w,
                            const std::vector<const Tensor*>& outputs) {
  const Network& network = detector.network();
  for (std::size_t stage = detector.stages().size() - 2; stage < detector.stages().size(); ++stage)
    detector.run_stage(stage, w);
  std::vector<RawBox> all;
  decode(network.scheme, outputs, -std::numeric_limits<float>::infinity(), all);
  std::ranges::sort(all, has_higher_confidence);
  std::string text = fmt::format("\nThe best {} of {} without threshold, one for each {}\n",
                                 classifies_pictures(network) ? "scores" : "boxes",
                                 counted(static_cast<std::int64_t>(all.size()), "candidate"),
                                 classifies_pictures(network) ? "class" : "object");
  text += "       score  class                left     top   width  height  overlapping\n";
  std::size_t number = 0;
  for (const auto& [box, others] : best_of_each(network, all)) {
    const Detection one = detection_of(network, box, w.letterbox.placement(), w.planned);
    const auto label = static_cast<std::size_t>(box.label);
    text += fmt::format(
        "  {:2}  {:.4f}  {:16}  {:7.1f} {:7.1f} {:7.1f} {:7.1f}  {:11}  {}\n", ++number, box.score,
        label < network.labels.size() ? network.labels[label] : "class " + std::to_string(box.label),
        one.box.x, one.box.y, one.box.width, one.box.height, others, fate_of(network, box, one, w.boxes));
  }
  text +=
      fmt::format("  reported       {}\n", counted(static_cast<std::int64_t>(w.detections.size()), "object"));
  if (w.detections.empty())
    text += fmt::format("  hint           {}\n", hint_of(network, all, outputs).text(Words::command_line));
  return text;
}

// Runs something several times; `run` returns the seconds of each of its steps.
template <typename Run>
void take_fastest(std::vector<StepTime>& steps, const Run& run) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kLong{1};
  constexpr int kLeast = 3;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kLeast || Clock::now() - start < kLong; ++i) {
    const std::vector<double> seconds = run();
    for (std::size_t s = 0; s < steps.size(); ++s) steps[s].seconds = std::min(steps[s].seconds, seconds[s]);
  }
}

}  // namespace

std::string network_text(const Network& n) {
  std::string text = fmt::format("Network {}\n", n.name);
  text += fmt::format("  made by        {}, opset {}\n",
                      n.file.producer.empty() ? "unknown" : n.file.producer, n.file.opset);
  for (const NetworkInput& input : n.inputs)
    text += fmt::format("  input          '{}' {}\n", input.name, type_text(input.type));
  for (const NetworkOutput& output : n.outputs)
    text += fmt::format("  output         '{}' {}\n", output.name, type_text(output.type));
  text += fmt::format("  operators      {}\n", operators_text(n.file));
  text += fmt::format("  nodes          {} in the file, {} of primitives after import\n", n.file.nodes,
                      n.graph->nodes().size());
  text += fmt::format("  multiply-adds  {:.4g} G per frame\n", 1e-9 * static_cast<double>(n.multiply_adds));
  text += fmt::format("  weights        {:.1f} MiB\n", kMebi * static_cast<double>(n.weight_bytes));
  text += "\nHow it is read (a configuration may say otherwise)\n";
  text += fmt::format("  model_type     {}: {}\n", n.scheme.type, n.scheme.reason);
  if (!n.scheme.others.empty())
    text += fmt::format("                 its outputs also fit: {}\n", fmt::join(n.scheme.others, ", "));
  if (!n.scheme.doubt.empty())
    text += fmt::format("  doubt          {}\n", doubt_text(n.scheme).text(Words::command_line));
  text += fmt::format("  input          {}{}\n", text_of(n.preprocessing),
                      n.has_usual_size ? "; the network takes any size" : "");
  text += fmt::format(
      "  labels         {}: {}{}\n", counted(static_cast<std::int64_t>(n.labels.size()), "class"),
      fmt::join(n.labels.begin(),
                n.labels.begin() + static_cast<std::ptrdiff_t>(std::min(n.labels.size(), kMostLabels)), ", "),
      n.labels.size() > kMostLabels ? ", ..." : "");
  text += fmt::format("  threshold      scores from {:g}\n", n.threshold);
  if (classifies_pictures(n))
    return text + fmt::format("  classes        the best {} of each picture\n", n.top);
  text += fmt::format("  suppression    {}\n",
                      n.scheme.suppresses ? fmt::format("boxes that overlap a better one {}by more than {:g} "
                                                        "(intersection over union)",
                                                        n.class_agnostic ? "" : "of their class ", n.iou)
                                          : "none: the network's boxes are final");
  return text;
}

namespace {

std::size_t groups_of(const nn::CpuPlan& plan) {
  std::size_t groups = 0;
  for (const auto& wave : plan.waves) groups += wave.size();
  return groups;
}

std::string part_text(const Parts& parts, std::size_t number, std::string_view name) {
  const nn::CpuPlan& plan = parts.parts[number].plan;
  std::int64_t multiply_adds = 0;
  for (const std::int64_t count : plan.multiply_adds) multiply_adds += count;
  std::string text =
      fmt::format("  {:15}{} groups in {} waves, {:.3g} G multiply-adds, {:.2f} MiB of results; {}\n", name,
                  groups_of(plan), plan.waves.size(), 1e-9 * static_cast<double>(multiply_adds),
                  kMebi * static_cast<double>(parts.pool_bytes[kFirstResultPool + number]),
                  parts.parts[number].partition.on_device ? "CPU or devices" : "CPU only");
  if (!plan.last_nodes.empty())
    text += fmt::format(
        "  dynamic nodes  {}, from {} on: each frame decides the sizes of their results, so the CPU runs "
        "them one by one, slowly\n",
        plan.last_nodes.size(), plan.graph.node(plan.last_nodes.front()).name);
  return text;
}

void add_names(std::string& text, const std::vector<std::unique_ptr<nn::Work>>& works) {
  for (const auto& work : works) text += (text.empty() ? "" : "; ") + work->name();
}

// The waves of a plan, and the copies of outputs behind them where there are some.
void add_waves(std::vector<StepTime>& waves, const nn::CpuPlan& plan) {
  for (std::size_t w = 0; w < plan.waves.size(); ++w) {
    waves.push_back({"", plan.multiply_adds[w]});
    add_names(waves.back().parts, plan.waves[w]);
  }
  if (plan.copies.empty()) return;
  waves.emplace_back();
  add_names(waves.back().parts, plan.copies);
}

}  // namespace

std::string plan_text(const NetworkDetector& detector) {
  if (!detector.parts()) return "\nHow it runs\n  plan           none: node by node, slowly\n";
  const Parts& parts = *detector.parts();
  std::string text = fmt::format("\nHow it runs\n  memory         {:.1f} MiB per frame in flight\n",
                                 kMebi * static_cast<double>(parts.frame_bytes()));
  for (std::size_t i = 0; i < parts.parts.size(); ++i)
    text += part_text(parts, i, detector.stages()[kFirstPart + i].name);
  return text;
}

std::vector<StepTime> wave_times(const NetworkDetector& detector, NetworkWorkspace& w) {
  std::vector<StepTime> waves;
  if (!detector.parts()) return waves;
  for (const Part& part : detector.parts()->parts) add_waves(waves, part.plan);
  take_fastest(waves, [&] { return w.runner->time_waves(); });
  return waves;
}

std::vector<StepTime> launch_times(const NetworkDetector& detector, const opencl::OpenedDevice& device,
                                   int frames) {
  if (!detector.parts() || detector.parts()->parts.empty()) return {};
  const nn::Partition& first = detector.parts()->parts.front().partition;
  if (!first.on_device) return {};
  try {
    const nn::DevicePlan plan = nn::plan_for_device(first.graph, nn::shape_for(device.device(), frames));
    const nn::DeviceKernelsOf kernels(plan, device, &device.cache);
    nn::DeviceRunner runner(first.graph, kernels, frames);
    std::vector<StepTime> launches;
    for (const nn::DeviceLaunch& launch : plan.launches)
      launches.push_back({launch.name, launch.multiply_adds * frames});
    take_fastest(launches, [&] { return runner.launch_seconds(frames); });
    return launches;
  } catch (const nn::Problem& problem) {
    throw Error(ExitCode::failed, "the network '" + detector.network().name + "' " + problem.what());
  }
}

std::string times_text(const std::vector<StepTime>& steps, const std::string& where, double peak) {
  if (steps.empty()) return "\nThere is nothing to time " + where + ".\n";
  StepTime all{"", 0, 0};
  for (const StepTime& step : steps) {
    all.multiply_adds += step.multiply_adds;
    all.seconds += step.seconds;
  }
  std::string text = fmt::format(
      "\nTimes {}: each the fastest of several runs. The peak is {:.0f} G multiply-adds/s\n"
      "   step        ms   share  M multiply-adds    G/s  of peak  what it computes\n",
      where, 1e-9 * peak);
  const auto add = [&](const std::string& number, const StepTime& step) {
    const auto count = static_cast<double>(step.multiply_adds);
    const double rate = count / step.seconds;
    text += fmt::format("  {:>5}  {:8.3f}  {:5.1f}%", number, 1e3 * step.seconds,
                        100 * step.seconds / all.seconds);
    text += count > 0 && step.seconds > 0
                ? fmt::format("  {:15.2f}  {:5.1f}  {:6.1f}%", 1e-6 * count, 1e-9 * rate, 100 * rate / peak)
                : fmt::format("  {:>15}  {:>5}  {:>7}", "-", "-", "-");
    text += "  " + step.parts + "\n";
  };
  for (std::size_t i = 0; i < steps.size(); ++i) add(std::to_string(i + 1), steps[i]);
  add("all", all);
  return text;
}

std::string picture_text(const NetworkDetector& detector, NetworkWorkspace& w, PictureView picture) {
  const Network& network = detector.network();
  if (!detector.prepare(w, picture)) return "";
  detector.run_stage(kLetterbox, w);
  const Range range = range_of(w.runner->input(network.picture));
  const Placement& place = w.letterbox.placement();
  std::string text = fmt::format(
      "\nThe picture\n  size           {}x{}; becomes {}x{} at {},{} of the input\n  values         {:g} to "
      "{:g} in the "
      "input\n",
      picture.width(), picture.height(), place.width, place.height, place.left, place.top, range.smallest,
      range.largest);
  w.runner->run_all(&w.work);
  std::vector<const Tensor*> outputs;
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    outputs.push_back(&w.runner->output(i));
    text += range_text(network.outputs[i].name, *outputs.back());
  }
  return text + candidates_text(detector, w, outputs);
}

std::vector<std::uint8_t> input_picture(const Network& network, const Tensor& input) {
  const Preprocessing& p = network.preprocessing;
  const std::int64_t plane = static_cast<std::int64_t>(p.size.width) * p.size.height;
  const std::span<const float> values = input.as<float>();
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(3 * plane));
  for (std::int64_t i = 0; i < plane; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      const std::int64_t channel = p.channels == 1 ? 0 : p.rgb ? c : 2 - c;
      const float value =
          values[static_cast<std::size_t>(p.channels_last ? i * p.channels + channel : channel * plane + i)];
      const auto k = static_cast<std::size_t>(channel);
      rgb[static_cast<std::size_t>(3 * i + c)] =
          static_cast<std::uint8_t>(std::clamp(value * p.scale[k] + p.mean[k] + 0.5, 0.0, 255.0));
    }
  }
  return rgb;
}

void fill_fixed(const Network& network, Runner& runner) {
  const std::span<float> input = runner.input(network.picture).as<float>();
  const Preprocessing& p = network.preprocessing;
  const std::int64_t plane = static_cast<std::int64_t>(p.size.width) * p.size.height;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::uint32_t byte = static_cast<std::uint32_t>(i) * 2654435761U >> 24;
    const auto at = static_cast<std::int64_t>(i);
    const auto c = static_cast<std::size_t>(p.channels_last ? at % p.channels : at / plane % p.channels);
    input[i] = static_cast<float>((byte - p.mean[c]) / p.scale[c]);
  }
  fill_sizes(network, {640, 480}, [&](std::size_t k) -> Tensor& { return runner.input(k); });
}

OutputDifference difference_to(const std::string& name, const Tensor& output, const Tensor& reference) {
  if (reference.size() < 1 || reference.size() > output.size())
    throw Error(ExitCode::input,
                fmt::format("the reference of output '{}' has {} values, but the output has {}", name,
                            reference.size(), output.size()));
  const std::int64_t count = reference.size();
  std::int64_t every = 1;
  while (every < output.size() && (output.size() + every - 1) / every > count) ++every;
  if ((output.size() + every - 1) / every != count)
    throw Error(ExitCode::input,
                fmt::format("the reference of output '{}' has {} values, which do not fit {}", name, count,
                            text_of(output.shape())));
  OutputDifference difference{name, 0, 0, static_cast<std::size_t>(count)};
  for (std::int64_t i = 0; i < count; ++i) {
    const double expected = number_at<double>(reference, i), got = number_at<double>(output, i * every);
    const double off = got == expected ? 0 : std::fabs(got - expected);
    if (off > difference.largest || off != off) difference.largest = off;  // once NaN, it stays
    difference.largest_value = std::max(difference.largest_value, std::fabs(expected));
  }
  return difference;
}

}  // namespace sightline::network
