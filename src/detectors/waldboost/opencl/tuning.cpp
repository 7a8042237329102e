#include "detectors/waldboost/opencl/tuning.hpp"

#include <algorithm>

#include "detectors/waldboost/opencl/stages.hpp"

namespace sightline::waldboost {
namespace {

using opencl::DeviceInfo;
using opencl::Follows;
using opencl::TuningValue;
using Devices = opencl::TuningSweep::Devices;

// Phases of a model that does not know its survivors end at this weak classifier.
constexpr int kLastWithoutSurvivors = 64;

KernelTable make_table() {
  // On a CPU, one thread runs a work-group's items one after the other.
  KernelTable table({
      {{"scan", "queue", "queue", {"naive", "progressive", "queue"}}, &KernelTuning::scan},
      {{"tile_rows", 32, 8, {}, 1, PixelWindowStages::kMostTileRows}, &KernelTuning::tile_rows},
      {{"group", 256, 16, {}, 1, 1024, Follows::work_group}, &KernelTuning::group},
      {{"at_once", 4, 1, {}, 1, 16}, &KernelTuning::at_once},
      {{"keep", 50, 50, {}, 1, 99}, &KernelTuning::keep},
      {{"late", 64, 1 << 20, {}, 1, 1 << 20}, &KernelTuning::late},
      {{"repeats", 2, 2, {}, 0, 8}, &KernelTuning::repeats},
      {{"responses", "buffer", "buffer", {"buffer", "image"}}, &KernelTuning::responses},
      {{"finish_group", 64, 8, {4, 8, 16, 32, 64, 128, 256}, 0, 0, Follows::work_group},
       &KernelTuning::finish_group},
      {{"code_rows", 4, 2, {1, 2, 4, 8, 16}}, &KernelTuning::code_rows},
  });
  const auto sweep = [](Devices devices, const char* scan, std::vector<TuningValue> rows,
                        std::vector<TuningValue> groups, std::vector<TuningValue> at_once,
                        std::vector<TuningValue> keep, std::vector<TuningValue> late) {
    return opencl::TuningSweep{{{"scan", {scan}},
                                {"tile_rows", std::move(rows)},
                                {"group", std::move(groups)},
                                {"at_once", std::move(at_once)},
                                {"keep", std::move(keep)},
                                {"late", std::move(late)}},
                               devices};
  };
  table.stages = {
      {"codes",
       "codes, {code_rows} rows",
       {{{{"code_rows", {1, 2, 4}}}, Devices::cpu}, {{{"code_rows", {2, 4, 8, 16}}}, Devices::others}}},
      {"scan",
       "scan {scan}, {tile_rows} rows, {group} work-items, {at_once} at once, {keep} % kept, 1/{late} "
       "finished, second step {repeats} times, responses in {responses}",
       {sweep(Devices::cpu, "naive", {4}, {64}, {1}, {50}, {256}),
        sweep(Devices::cpu, "queue", {4, 8}, {16}, {1}, {50, 75}, {1 << 20}),
        {{{"scan", {"progressive"}}, {"repeats", {1, 2}}, {"responses", {"buffer", "image"}}},
         Devices::others},
        sweep(Devices::others, "naive", {4}, {256}, {1, 4}, {50}, {256}),
        sweep(Devices::others, "queue", {8, 16, 32}, {128, 256, 512}, {4}, {50}, {256}),
        sweep(Devices::others, "queue", {16, 32}, {256}, {1, 2, 4, 8}, {30, 50, 70}, {64, 256, 1024}),
        {{{"scan", {"naive", "queue"}}, {"responses", {"image"}}}, Devices::others}}},
      {"finish",
       "finish, {finish_group} work-items",
       {{{{"finish_group", {8, 16}}}, Devices::cpu}, {{{"finish_group", {32, 64, 128}}}, Devices::others}}},
  };
  return table;
}

}  // namespace

const KernelTable& tuning_table() {
  static const KernelTable table = make_table();
  return table;
}

KernelTuning variant_tuning(std::string_view name, const DeviceInfo& device) {
  KernelTuning tuning = tuning_table().defaults(device);
  tuning.scan = name;
  return tuning;
}

std::vector<int> phase_ends(const Model& model, int keep, int late) {
  std::vector<int> ends{1};
  if (model.survivors.size() != model.features.size()) {
    while (ends.back() < std::min(model.size(), kLastWithoutSurvivors))
      ends.push_back(std::min(ends.back() * 2, model.size()));
    return ends;
  }
  double begun = static_cast<double>(model.survivors[0]);
  for (int t = 1; t < model.size() && begun * late > 1; ++t) {
    const double left = static_cast<double>(model.survivors[static_cast<std::size_t>(t)]);
    const bool last = left * late <= 1 || t + 1 == model.size();
    if (!last && left * 100 > begun * keep) continue;
    ends.push_back(t + 1);
    begun = left;
  }
  return ends;
}

std::string tuning_problem(const Model& model) {
  return "waldboost, " + model.name + ", " + std::to_string(model.size()) + " weak classifiers";
}

KernelTuning best_tuning(const DeviceInfo& device, const Model& model) {
  return tuning_table().best(device, tuning_problem(model));
}

TuningOutcome tune(const FrameProcessor& processor, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options) {
  const opencl::OpenedDevice& opened = opencl::opened_from(device);
  const auto& detector = static_cast<const WaldboostDetector&>(processor);
  return tune_kernels<OpenClStages>(detector, opened, &opened.cache, tuning_table(),
                                    tuning_problem(detector.model()), frame, options);
}

}  // namespace sightline::waldboost
