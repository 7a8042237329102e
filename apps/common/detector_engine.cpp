#include "apps/common/detector_engine.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "apps/common/quality_options.hpp"
#include "apps/common/run_text.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "characterisation/decisions.hpp"
#include "characterisation/record.hpp"
#include "opencl/context.hpp"
#include "pipeline/measurement/battery.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/measurement/measure_stages.hpp"
#include "pipeline/measurement/transfer_model.hpp"

namespace sightline::apps {
namespace {

// Stored advice on placing stages on a device, for people.
std::string text_of(const opencl::Context& context) {
  const auto known = characterisation::remembered(context.device());
  if (!known) return context.name() + ": not characterised; run `sightline devices --characterise`.\n";
  std::string text = context.name() + ", results of `sightline devices --characterise`:\n";
  for (const characterisation::Decision& decision : known->decisions) {
    if (decision.id == "transfer" || decision.id == "stage_place" || decision.id == "fill")
      text += "  - " + decision.text + "\n";
  }
  const pipeline::TransferModel model = pipeline::transfer_model(*known);
  if (model.empty()) return text;
  constexpr double kBytes = characterisation::kFrameBytes;
  return text +
         fmt::format("  - A copy of {:.1f} MB takes {:.3g} ms up and {:.3g} ms down{}.\n", 1e-6 * kBytes,
                     1e3 * model.upload.seconds(kBytes), 1e3 * model.download.seconds(kBytes),
                     context.maps_buffers() ? "; but its buffers are mapped, and nothing is copied" : "");
}

// How long copies take, by device; empty of one that was not characterised, or whose buffers are mapped.
std::vector<pipeline::TransferModel> known_transfers(
    const std::vector<std::unique_ptr<DeviceStages>>& devices) {
  std::vector<pipeline::TransferModel> models;
  for (const auto& stages : devices) {
    const opencl::Context& context = opencl::context_of(stages->device());
    const auto known = context.maps_buffers() ? std::nullopt : characterisation::remembered(context.device());
    models.push_back(known ? pipeline::transfer_model(*known) : pipeline::TransferModel());
  }
  return models;
}

pipeline::PlanHooks plan_hooks(const pipeline::Engine& engine) {
  const auto complete = [&engine](pipeline::PlanOptions& options, int threads) {
    options.transfers = [&engine] { return known_transfers(engine.device_stages); };
    pipeline::count_energy(options, *engine.processor, engine.devices(), threads);
  };
  const auto explain = [&engine](const pipeline::Planned& planned) {
    if (engine.explain) {
      std::string text = pipeline::explain(planned, *engine.processor);
      if (pipeline::is_limited_by_software_decoding(planned)) text += fmt::format("{}.\n", kDecoderHelps);
      text += pipeline::draw_graph(planned.schedule, *engine.processor, engine.devices());
      for (const auto& stages : engine.device_stages) text += text_of(opencl::context_of(stages->device()));
      std::fputs(printable(text, kLineEndsAndTabs).c_str(), stderr);
    } else if (planned.objective.energies && !planned.objective.energies->sees_all()) {
      std::string remark = pipeline::energy_remark(planned);
      remark.pop_back();
      spdlog::info("{}", remark);
    }
  };
  const auto explain_decoding = [](const std::vector<pipeline::DecoderCost>& decoders) {
    std::fputs(printable(pipeline::explain(decoders), kLineEndsAndTabs).c_str(), stderr);
  };
  return {complete, explain, explain_decoding};
}

pipeline::ControllerOptions controller_options(const pipeline::Engine& engine,
                                               const pipeline::QualityRequest& quality) {
  using enum pipeline::QualityObjective::Kind;
  pipeline::ControllerOptions options;
  options.quality = objective_of(quality);
  if (options.quality.kind != none && engine.processor->operating_points().size() < 2)
    throw Error(ExitCode::usage, "the detector has only one setting, so nothing can change",
                "list some with --settings");
  pipeline::MeterOptions meters;
  if (engine.is_auto() && pipeline::parse_goal(engine.schedule.goal) == pipeline::Goal::energy)
    options.plan_energy = std::make_shared<pipeline::Energy>(meters);
  meters.log = quality.power_log;
  meters.log_wait = 2;  // the run's end waits for it, too
  if (options.quality.kind == power || options.quality.kind == energy)
    options.quality_energy = std::make_shared<pipeline::Energy>(meters);
  options.battery = [folder = meters.power_supply] { return pipeline::battery_level(folder); };
  return options;
}

void check_goal(const pipeline::Engine& engine) {
  if (!engine.is_auto()) return;
  pipeline::PlanOptions options = engine.plan_options();
  pipeline::count_energy(options, *engine.processor, engine.devices(), engine.threads);
  pipeline::check_goal(options.goal, options.energy.get());
}

}  // namespace

pipeline::EnginePipeline make_pipeline(const pipeline::Engine& engine,
                                       const pipeline::QualityRequest& quality) {
  return make_pipeline(engine, quality, engine.resolve(), {});
}

pipeline::EnginePipeline make_pipeline(const pipeline::Engine& engine,
                                       const pipeline::QualityRequest& quality,
                                       const pipeline::Schedule& first, std::function<double()> source_rate) {
  pipeline::ControllerOptions options = controller_options(engine, quality);
  options.source_rate = std::move(source_rate);
  check_goal(engine);
  return pipeline::EnginePipeline(engine, first, std::move(options), plan_hooks(engine));
}

namespace {

// Objects searched for, with the height of the smallest: "people from 96 px on, faces from 24 px on". Many
// classes are only counted.
std::string sought(const DetectorInfo& info) {
  constexpr std::size_t kMostNamed = 5;
  if (info.labels.size() > kMostNamed) return counted(static_cast<std::int64_t>(info.labels.size()), "class");
  std::string text;
  for (std::size_t label = 0; label < info.labels.size(); ++label) {
    text += (text.empty() ? "" : ", ") + several_of(info.labels[label]);
    const double smallest = label < info.smallest_objects.size() ? info.smallest_objects[label] : 0;
    if (smallest > 0) text += fmt::format(" from {:.0f} px on", smallest);
  }
  return text;
}

void log_run(const pipeline::Engine& engine, const pipeline::Pipeline& pipeline, const std::string& subject) {
  const BuildInfo build = build_info();
  const pipeline::Schedule schedule = pipeline.schedule();
  spdlog::info("{}{}; schedule {}", subject, counted(pipeline.threads(), "thread"),
               engine.is_auto() ? "auto" : schedule.name);
  if (!build.optimised)
    spdlog::warn("this build is not optimised and runs at about a tenth of the usual speed");
  spdlog::debug("sightline {} ({} build), {}", build.version, build.build_type, instruction_set());
  if (engine.is_auto()) return;
  spdlog::debug("schedule {}: {}, {} in flight", schedule.name,
                pipeline::describe(schedule, *engine.processor), counted(schedule.in_flight, "frame"));
}

}  // namespace

void describe_engine(const pipeline::Engine& engine, const pipeline::Pipeline& pipeline) {
  log_run(engine, pipeline, "");
}

void describe_engine(const DetectorEngine& engine, const pipeline::Pipeline& pipeline) {
  const DetectorInfo& info = engine.detector().info();
  log_run(engine, pipeline, sought(info) + "; ");
  spdlog::debug("model: {}; scores from {:.3g}", info.model, info.threshold);
  if (!engine.explain) return;
  std::string text = settings_table(engine.detector());
  if (!engine.is_auto())
    text += pipeline::draw_graph(pipeline.schedule(), engine.detector(), engine.devices());
  std::fputs(printable(text, kLineEndsAndTabs).c_str(), stderr);
}

}  // namespace sightline::apps
