#include "detectors/network/commands.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/npy.hpp"
#include "detectors/network/opencl/device_parts.hpp"
#include "detectors/network/published.hpp"
#include "drawing/canvas.hpp"
#include "network/plan/drawing.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::network {
namespace {

// What both commands take: the network, and what is said of it.
struct NetworkArguments {
  std::string model, config, model_type, input_size;

  void add_to(OptionSet& options) {
    options.add("model", &model, "Network (.onnx), or a name of `sightline network get`")
        .require()
        .suggest(network_choices);
    options.add("-c,--config FILE", &config,
                "Configuration whose section [detector] says how to read the network");
    options
        .add("--model-type TYPE", &model_type,
             "Kind of network, if it is inferred wrongly: yolox, yolov8, detr, ...")
        .free_text();
    options.add("--input-size WIDTHxHEIGHT", &input_size, "Size of the input, if the network takes any")
        .free_text();
  }
  Settings settings(const ShowContext& context) const {
    Config read = config.empty() ? Config::parse("[detector]\n", model) : Config::load(config);
    read.set("detector", "model", model);
    if (!model_type.empty()) read.set("detector", "model_type", model_type);
    if (!input_size.empty()) read.set("detector", "input_size", input_size);
    if (context.max_model_size)
      read.set("detector", "max_model_size", static_cast<double>(*context.max_model_size));
    return read_settings(read);
  }
};

class Explain : public FamilyCommand {
 public:
  std::string name() const override { return "explain"; }
  std::string description() const override {
    return "Show how a network is read, and why it finds what it finds in a picture";
  }
  OptionSet options() override {
    OptionSet options;
    network_.add_to(options);
    options.add("image", &image_,
                "Picture to search: shows the outputs, and what rejected the best candidates");
    options.add("--times", &times_, "Time each wave of the plan on all threads of the CPU");
    options
        .add("--device DEVICE", &device_,
             "OpenCL device that is timed instead of the CPU: gpu, cpu, an index or part of a name "
             "(`sightline devices` lists them)")
        .free_text()
        .needs("--times");
    options.add("--batch FRAMES", &batch_, "Frames that the device takes at once")
        .between(1, DeviceParts::kMostFrames)
        .show_default()
        .needs("--device");
    options.add("--picture FILE", &picture_, "Write the network's input as a picture (.png)").needs("image");
    options.add("--graph FILE", &graph_, "Draw the plan of the network engine (.svg)");
    return options;
  }
  void run(const ShowContext& context) override {
    const NetworkDetector detector(load_network(network_.settings(context)));
    if (!graph_.empty())
      write_whole(graph_, nn::drawing_of(nn::fuse_for_cpu(*detector.network().graph)), "drawing");
    context.print(network_text(detector.network()) + plan_text(detector));
    if (times_) print_times(detector, context);
    if (image_.empty()) return;
    context.pictures(image_, [&](PictureView picture) {
      const auto workspace = detector.make_workspace();
      auto& w = static_cast<NetworkWorkspace&>(*workspace);
      context.print(picture_text(detector, w, picture));
      if (!picture_.empty()) write_input(detector.network(), w);
    });
  }

 private:
  void print_times(const NetworkDetector& detector, const ShowContext& context) const {
    if (!device_.empty()) return print_times_on(context.device(device_), detector, context);
    const auto workspace = detector.make_workspace();
    auto& w = static_cast<NetworkWorkspace&>(*workspace);
    fill_fixed(detector.network(), *w.runner);
    context.print(
        times_text(wave_times(detector, w), "on all threads of the CPU", context.peak_multiply_adds()));
  }

  void print_times_on(const MeasuredDevice& measured, const NetworkDetector& detector,
                      const ShowContext& context) const {
    const opencl::OpenedDevice& device = opencl::opened_from(*measured.device);
    if (!device.device().fused_multiply_add)
      throw Error(ExitCode::device,
                  "networks cannot run on '" + device.device().name + "', which has no fused multiply-adds");
    const std::string frames = batch_ == 1 ? "" : fmt::format(", {} frames at once", batch_);
    // A CPU can do more than the device's own test of its peak shows.
    const bool is_cpu = device.device().type == opencl::DeviceType::cpu;
    context.print(times_text(launch_times(detector, device, batch_),
                             "on '" + device.device().name + "'" + frames,
                             is_cpu ? context.peak_multiply_adds() : measured.multiply_adds));
  }

  void write_input(const Network& network, NetworkWorkspace& workspace) const {
    const Size size = network.preprocessing.size;
    const std::vector<std::uint8_t> rgb = input_picture(network, workspace.runner->input(network.picture));
    Canvas canvas(size.width, size.height, {});
    canvas.draw_rgb(rgb.data(), size, 0, 0, size.width, size.height);
    canvas.write_png(picture_);
  }

  NetworkArguments network_;
  std::string image_, picture_, graph_;
  bool times_ = false;
  std::string device_;
  int batch_ = 1;
};

// Signs of an output's name that a file that ends in ".NAME.npy" repeats; others may stand for those that are
// no letters and digits, such as '/'. None where it is the name of another one.
std::optional<std::size_t> signs_repeated(std::string_view file, const std::string& name) {
  constexpr std::string_view kEnding = ".npy";
  if (!file.ends_with(kEnding) || file.size() < name.size() + kEnding.size() + 1) return {};
  const std::string_view there = file.substr(file.size() - kEnding.size() - name.size(), name.size());
  if (file[file.size() - kEnding.size() - name.size() - 1] != '.') return {};
  std::size_t same = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    same += name[i] == there[i];
    const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (name[i] != there[i] && (is_plain(name[i]) || is_plain(there[i]))) return {};
  }
  return same;
}

// The output that a file has the values of: the name that it repeats most of, or the only one.
std::size_t output_named(const std::vector<NetworkOutput>& outputs, const std::string& file) {
  const std::size_t count = outputs.size();
  std::size_t chosen = count, most = 0;
  bool is_clear = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto signs = signs_repeated(file, outputs[i].name);
    if (!signs || *signs < most) continue;
    is_clear = *signs > most || chosen == count;
    chosen = i;
    most = *signs;
  }
  if (count == 1) return 0;
  if (chosen == count || !is_clear)
    throw Error(ExitCode::usage, "the name of '" + file + "' does not identify one output of the network",
                "rename it to FILE.OUTPUT.npy; other punctuation may replace '/' and ':' in OUTPUT");
  return chosen;
}

class Compare : public FamilyCommand {
 public:
  std::string name() const override { return "compare"; }
  std::string description() const override {
    return "Compare a network's outputs with another engine's (NumPy .npy files)";
  }
  OptionSet options() override {
    OptionSet options;
    network_.add_to(options);
    options
        .add("--reference FILE", &references_,
             "Another engine's values of an output; with several outputs, name it FILE.OUTPUT.npy. May "
             "hold every n-th value only")
        .one_at_a_time()
        .require();
    options.add("--input FILE", &input_,
                "Input as .npy file (default: fixed bytes, normalised as pictures are)");
    options
        .add("--tolerance SHARE", &tolerance_,
             "Largest difference, in parts of the reference's largest value")
        .not_negative()
        .show_default();
    return options;
  }
  void run(const ShowContext& context) override {
    const NetworkDetector detector(load_network(network_.settings(context)));
    const Network& network = detector.network();
    const auto workspace = detector.make_workspace();
    Runner& runner = *static_cast<NetworkWorkspace&>(*workspace).runner;
    fill_fixed(network, runner);
    if (!input_.empty()) read_input(runner.input(network.picture));
    runner.run_all(&workspace->work);
    bool differs = false;
    for (const std::string& file : references_) differs |= !compare(network, runner, file, context);
    if (differs)
      throw Error(ExitCode::failed,
                  fmt::format("outputs differ by more than {:g} of their largest value", tolerance_),
                  network.scheme.suppresses ? ""
                                            : "this network sorts its rows: those of nearly equal scores may "
                                              "have changed places, so compare the scores");
    context.print("the outputs agree\n");
  }

 private:
  void read_input(Tensor& input) const {
    const Tensor given = read_npy(input_);
    if (given.size() != input.size() || given.data() != DataType::f32)
      throw Error(ExitCode::input, fmt::format("'{}' has {} values, but the input is {}", input_,
                                               given.size(), text_of(input.shape())));
    std::ranges::copy(given.as<float>(), input.as<float>().begin());
  }

  // Returns whether the output is near enough.
  bool compare(const Network& network, Runner& runner, const std::string& file,
               const ShowContext& context) const {
    const std::size_t chosen = output_named(network.outputs, file);
    const std::string& name = network.outputs[chosen].name;
    const OutputDifference difference = difference_to(name, runner.output(chosen), read_npy(file));
    // Engines round functions such as the sigmoid differently: off by so much near 0.
    constexpr double kRounding = 2e-7;
    const bool fits =
        difference.largest <= std::max(tolerance_ * std::max(difference.largest_value, 1e-30), kRounding);
    context.print(fmt::format("{:24} {} values, largest difference {:.3g}, largest value {:.6g}: {}\n", name,
                              difference.values, difference.largest, difference.largest_value,
                              fits ? "agrees" : "differs"));
    return fits;
  }

  NetworkArguments network_;
  std::vector<std::string> references_;
  std::string input_;
  double tolerance_ = 1e-4;
};

class NetworkShow : public ModelShow {
 public:
  void show(const std::string& model, const ShowContext& context) override {
    NetworkArguments arguments;
    arguments.model = model;
    context.print(network_text(load_network(arguments.settings(context))));
  }
};

}  // namespace

std::vector<std::unique_ptr<FamilyCommand>> make_commands() {
  std::vector<std::unique_ptr<FamilyCommand>> commands;
  commands.push_back(make_get_command());
  commands.push_back(std::make_unique<Explain>());
  commands.push_back(std::make_unique<Compare>());
  return commands;
}

std::unique_ptr<ModelShow> make_model_show() {
  return std::make_unique<NetworkShow>();
}

}  // namespace sightline::network
