#include "apps/measure/measure_stages.hpp"

#include <spdlog/spdlog.h>

#include "apps/measure/measure_variants.hpp"
#include "apps/measure/measured_schedules.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "pipeline/planning/planner.hpp"

namespace sightline::apps {
namespace {

Frame first_frame(const StagesRequest& request, const FrameProcessor& processor) {
  media::ReadOptions reading = request.reading;
  reading.keep_colour = reads_colour(processor);
  media::Reader reader(request.input, reading);
  std::optional<Frame> frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + request.input + "' has no frame");
  return std::move(*frame);
}

// The planner does without where the folder cannot be written.
void remember_energies(const DetectorEngine& engine, const pipeline::StageMeasurement& measurement,
                       const Frame& frame, int threads) {
  if (measurement.meter.empty()) return;
  try {
    const std::string key = pipeline::plan_key(engine.detector(), engine.devices(), frame, threads);
    pipeline::store_energies(pipeline::default_energy_file(), key, pipeline::energies_of(measurement));
  } catch (const Error& e) {
    spdlog::debug("{}", e.what());
  }
}

}  // namespace

pipeline::StageMeasurement measure_stages(const DetectorOptions& detector, const StagesRequest& request) {
  const DetectorEngine engine = detector.make();
  const Frame frame = first_frame(request, engine.detector());
  pipeline::MeasureStagesOptions options = request.options;
  options.threads = engine.threads;
  options.schedules = measured_schedules(request.schedules, engine, MeasuredOf::stages);
  options.mapping_seconds = options.seconds / 2;  // there are many of them
  pipeline::StageMeasurement measurement =
      pipeline::measure_stages(engine.detector(), engine.devices(), frame, options);
  measurement.input = request.input;
  measurement.program = program_text();
  measurement.machine = machine_text(engine);
  measurement.variant = engine.detector().info().variant;
  remember_energies(engine, measurement, frame, engine.threads > 0 ? engine.threads : hardware_threads());
  return measurement;
}

}  // namespace sightline::apps
