#include "detectors/filterbank/opencl/tuning.hpp"

#include "detectors/filterbank/opencl/stages.hpp"

namespace sightline::filterbank {
namespace {

using opencl::DeviceInfo;
using opencl::Follows;
using opencl::kNativeWidth;
using opencl::TuningTable;
using opencl::TuningValues;
using Devices = opencl::TuningSweep::Devices;

bool is_nvidia(const DeviceInfo& device) {
  return device.is_nvidia();
}
bool has_dot_products(const DeviceInfo& device) {
  return device.integer_dot_product;
}

// The instructions for dot products take one window.
bool fit_together(const TuningValues& values) {
  const std::string dot = opencl::to_string(values.at("dot"));
  return (dot != "ptx" && dot != "khr") || opencl::to_string(values.at("classify_width")) == "1";
}

// Adds the sweeps of `classify` for one way to sum up products.
void add_classify(std::vector<opencl::TuningSweep>& sweeps, const std::string& dot,
                  bool (*needs)(const DeviceInfo&), bool on_cpu) {
  const auto add = [&](Devices devices, std::vector<opencl::TuningValue> variants, int width,
                       std::vector<opencl::TuningValue> rows, std::vector<opencl::TuningValue> groups) {
    sweeps.push_back({{{"classify", std::move(variants)},
                       {"dot", {dot}},
                       {"classify_width", {width}},
                       {"classify_rows", std::move(rows)},
                       {"classify_group", std::move(groups)}},
                      devices,
                      true,
                      needs});
  };
  if (on_cpu) {
    add(Devices::cpu, {"plain", "unrolled"}, 1, {1}, {16});
    add(Devices::cpu, {"vector"}, kNativeWidth, {4, 8, 16}, {1});
    add(Devices::cpu, {"local"}, kNativeWidth, {8}, {2});
  }
  add(Devices::others, {"plain", "unrolled"}, 1, {1}, {64});
  add(Devices::others, {"vector"}, 1, {4, 8, 16}, {32, 64});
  add(Devices::others, {"local"}, 1, {8, 16}, {64});
}

// The same for the network.
opencl::TunedStage tuned_network() {
  opencl::TunedStage stage{
      "verify",
      "network {network_dot}, {network_pixels}x{network_outputs} a work-item, {network_group} a window",
      {}};
  const auto add = [&](Devices devices, const std::string& dot, std::vector<opencl::TuningValue> pixels,
                       std::vector<opencl::TuningValue> outputs, std::vector<opencl::TuningValue> groups,
                       bool (*needs)(const DeviceInfo&) = nullptr) {
    stage.sweeps.push_back({{{"network_dot", {dot}},
                             {"network_pixels", std::move(pixels)},
                             {"network_outputs", std::move(outputs)},
                             {"network_group", std::move(groups)}},
                            devices,
                            true,
                            needs});
  };
  add(Devices::cpu, "integer", {4}, {8, 16}, {1});
  add(Devices::others, "ptx", {4, 8}, {4, 8}, {64, 128, 256}, is_nvidia);
  add(Devices::others, "khr", {4, 8}, {4, 8}, {64, 128, 256}, has_dot_products);
  add(Devices::others, "integer", {4, 8}, {4}, {64, 128, 256});
  return stage;
}

KernelTable make_table() {
  // On GPUs, the best variants on an NVIDIA H200. A CPU driver makes vectors of explicit vector types; local
  // memory is main memory there.
  KernelTable table({
      {{"filter", "local", "vector", {"plain", "unrolled", "vector", "local"}}, &KernelTuning::filter},
      {{"filter_width", 4, kNativeWidth, {1, 2, 4, 8, 16}, 0, 0, Follows::vector_width},
       &KernelTuning::filter_width},
      {{"filter_rows", 4, 3, {}, 1, 8}, &KernelTuning::filter_rows},
      {{"filter_group", 32, 8, {}, 1, 1024, Follows::work_group}, &KernelTuning::filter_group},
      {{"filter_group_rows", 4, 4, {}, 1, 1024}, &KernelTuning::filter_group_rows},
      {{"histogram", "atomic", "owner", {"owner", "atomic"}}, &KernelTuning::histogram},
      {{"histogram_cells", 32, 16, {16, 32}}, &KernelTuning::histogram_cells},
      {{"normalise", "cells", "cells", {"blocks", "cells"}}, &KernelTuning::normalise},
      {{"normalise_width", 1, kNativeWidth, {1, 2, 4, 8, 16}, 0, 0, Follows::vector_width},
       &KernelTuning::normalise_width},
      {{"classify", "vector", "vector", {"plain", "unrolled", "vector", "local"}}, &KernelTuning::classify},
      {{"dot", "auto", "float", {"auto", "ptx", "khr", "float", "integer"}}, &KernelTuning::dot},
      {{"classify_width", 1, kNativeWidth, {1, 2, 4, 8, 16}, 0, 0, Follows::vector_width},
       &KernelTuning::classify_width},
      {{"classify_rows", 16, 8, {}, 1, 16}, &KernelTuning::classify_rows},
      {{"classify_group", 32, 1, {}, 1, 1024, Follows::work_group}, &KernelTuning::classify_group},
      {{"network_dot", "auto", "integer", {"auto", "ptx", "khr", "integer"}}, &KernelTuning::network_dot},
      {{"network_pixels", 8, 4, {4, 8}}, &KernelTuning::network_pixels},
      {{"network_outputs", 4, 16, {4, 8, 16}}, &KernelTuning::network_outputs},
      {{"network_group", 128, 1, {}, 1, 1024, Follows::work_group}, &KernelTuning::network_group},
  });
  table.fit_together = fit_together;

  const auto filters = [](Devices devices, std::vector<opencl::TuningValue> variants, int width,
                          std::vector<opencl::TuningValue> rows, int group, int group_rows) {
    return opencl::TuningSweep{{{"filter", std::move(variants)},
                                {"filter_width", {width}},
                                {"filter_rows", std::move(rows)},
                                {"filter_group", {group}},
                                {"filter_group_rows", {group_rows}}},
                               devices};
  };
  table.stages.push_back({"filter",
                          "filter {filter}, {filter_width}x{filter_rows} a work-item, "
                          "{filter_group}x{filter_group_rows} a group",
                          {filters(Devices::cpu, {"plain", "unrolled"}, 1, {1}, 64, 1),
                           filters(Devices::cpu, {"vector"}, kNativeWidth, {1, 2, 3, 4}, 8, 4),
                           filters(Devices::cpu, {"vector"}, kNativeWidth, {4}, 1, 8),
                           filters(Devices::cpu, {"local"}, kNativeWidth, {4}, 8, 4),
                           filters(Devices::others, {"plain", "unrolled"}, 1, {1}, 32, 4),
                           filters(Devices::others, {"vector", "local"}, 1, {4, 8}, 32, 4),
                           filters(Devices::others, {"vector", "local"}, 2, {2, 4}, 32, 4),
                           filters(Devices::others, {"vector", "local"}, 4, {1, 2, 4}, 32, 4),
                           filters(Devices::others, {"vector", "local"}, 4, {2}, 32, 8)}});
  table.stages.push_back({"histogram",
                          "histogram {histogram}, {histogram_cells} cells a group",
                          {{{{"histogram", {"owner", "atomic"}}, {"histogram_cells", {16, 32}}}},
                           {{{"histogram", {"racy"}}, {"histogram_cells", {16, 32}}}, Devices::all, false}}});
  table.stages.push_back({"normalise",
                          "normalise by {normalise}, {normalise_width} a work-item",
                          {{{{"normalise", {"blocks", "cells"}}, {"normalise_width", {1, 2, 4, 8, 16}}}}}});
  opencl::TunedStage classify{
      "classify",
      "classify {classify}, {dot}, {classify_width}x{classify_rows} a work-item, {classify_group}x1 a group",
      {}};
  add_classify(classify.sweeps, "integer", nullptr, true);
  add_classify(classify.sweeps, "float", nullptr, true);
  add_classify(classify.sweeps, "ptx", is_nvidia, false);
  add_classify(classify.sweeps, "khr", has_dot_products, false);
  table.stages.push_back(std::move(classify));
  table.stages.push_back(tuned_network());
  return table;
}

}  // namespace

const KernelTable& tuning_table() {
  static const KernelTable table = make_table();
  return table;
}

std::string tuning_problem(int filters) {
  return "filterbank, " + std::to_string(filters) + " filters";
}

KernelTuning best_tuning(const DeviceInfo& device, int filters) {
  return tuning_table().best(device, tuning_problem(filters));
}

TuningOutcome tune(const FrameProcessor& processor, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options) {
  const opencl::OpenedDevice& opened = opencl::opened_from(device);
  const auto& detector = static_cast<const FilterbankDetector&>(processor);
  const Model& model = detector.model();
  TuningTable table = tuning_table();
  TuningProblem problem{processor, opened, table, start_values(table, opened.device(), options.hints),
                        [&](const TuningValues& values) {
                          return std::make_unique<OpenClStages>(detector, opened, &opened.cache,
                                                                tuning_table().settings(values));
                        }};
  if (!problem.make_stages(problem.start)->supported()[kVerify]) table.stages.pop_back();  // the network's
  const std::unique_ptr<Workspace> workspace = detector.make_workspace();
  if (detector.prepare(*workspace, frame)) {
    auto& w = static_cast<FilterbankWorkspace&>(*workspace);
    for (const Level& level : w.levels) {
      problem.multiply_adds["filter"] +=
          9.0 * model.dictionary.size() * level.plan.size.width * level.plan.size.height;
      problem.multiply_adds["classify"] +=
          static_cast<double>(model.weights.size()) * level.windows_x * level.windows_y;
    }
    if (detector.verifies()) {
      detector.score_windows(w);
      problem.multiply_adds["verify"] =
          model.network.multiply_adds() * static_cast<double>(detector.choose_windows(w));
    }
  }
  TuningValues best = tune(problem, frame, options);
  const std::unique_ptr<OpenClStageBase> stages = problem.make_stages(best);
  return {tuning_problem(model.dictionary.size()), std::move(best), time_frame(*stages, frame)};
}

}  // namespace sightline::filterbank
