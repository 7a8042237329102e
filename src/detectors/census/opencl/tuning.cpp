#include "detectors/census/opencl/tuning.hpp"

#include "detectors/census/opencl/stages.hpp"

namespace sightline::census {
namespace {

using opencl::DeviceInfo;
using opencl::Follows;
using opencl::TuningValue;
using Devices = opencl::TuningSweep::Devices;

KernelTable make_table() {
  // On a CPU, one thread runs a work-group's items one after the other.
  KernelTable table({
      {{"scan", "queue", "queue", {"naive", "queue"}}, &KernelTuning::scan},
      {{"tile_rows", 16, 8, {}, 1, PixelWindowStages::kMostTileRows}, &KernelTuning::tile_rows},
      {{"group", 256, 16, {}, 1, 1024, Follows::work_group}, &KernelTuning::group},
      {{"early_stages", 3, 4, {}, 1, kMaxStages}, &KernelTuning::early_stages},
      {{"finish_group", 32, 8, {4, 8, 16, 32, 64, 128, 256}, 0, 0, Follows::work_group},
       &KernelTuning::finish_group},
      {{"code_rows", 4, 4, {1, 2, 4, 8, 16}}, &KernelTuning::code_rows},
  });
  // Not `early_stages`: the fastest scan would be the one that leaves most work to `finish`. Schedule `auto`
  // tries them with the whole frame.
  const auto sweep = [](Devices devices, const char* scan, std::vector<TuningValue> rows,
                        std::vector<TuningValue> groups) {
    return opencl::TuningSweep{
        {{"scan", {scan}}, {"tile_rows", std::move(rows)}, {"group", std::move(groups)}}, devices};
  };
  table.stages = {
      {"codes",
       "codes, {code_rows} rows",
       {{{{"code_rows", {1, 2, 4}}}, Devices::cpu}, {{{"code_rows", {2, 4, 8}}}, Devices::others}}},
      {"scan",
       "scan {scan}, {tile_rows} rows, {group} work-items, {early_stages} stages",
       {sweep(Devices::cpu, "naive", {4}, {16}), sweep(Devices::cpu, "queue", {4, 8}, {16}),
        sweep(Devices::others, "naive", {4, 16}, {256}),
        sweep(Devices::others, "queue", {8, 16, 32}, {128, 256, 512})}},
      {"finish",
       "finish, {finish_group} work-items",
       {{{{"finish_group", {8, 16}}}, Devices::cpu}, {{{"finish_group", {16, 32, 64}}}, Devices::others}}},
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

std::string tuning_problem(const Model& model) {
  return "census, " + model.name + ", " + std::to_string(model.weak.size()) + " weak classifiers";
}

KernelTuning best_tuning(const DeviceInfo& device, const Model& model) {
  return tuning_table().best(device, tuning_problem(model));
}

TuningOutcome tune(const FrameProcessor& processor, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options) {
  const opencl::OpenedDevice& opened = opencl::opened_from(device);
  const auto& detector = static_cast<const CensusDetector&>(processor);
  return tune_kernels<OpenClStages>(detector, opened, &opened.cache, tuning_table(),
                                    tuning_problem(detector.model()), frame, options);
}

}  // namespace sightline::census
