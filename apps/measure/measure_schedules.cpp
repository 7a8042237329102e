#include "apps/measure/measure_schedules.hpp"

#include <algorithm>
#include <optional>

#include "apps/cli/stop.hpp"
#include "apps/common/media_options.hpp"
#include "apps/measure/measure_variants.hpp"
#include "apps/measure/measured_schedules.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "opencl/context.hpp"
#include "pipeline/runs/input_decoding.hpp"
#include "pipeline/runs/parted_run.hpp"
#include "pipeline/runs/reader_source.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::apps {
namespace {

// A file read again and again, from its first frame.
class LoopedFile : public FrameSource {
 public:
  LoopedFile(const std::string& input, media::ReadOptions options, std::int64_t count)
      : reader_(input, looped(options)), left_(count) {}
  std::optional<Frame> read() override { return left_-- > 0 ? reader_.read() : std::nullopt; }

 private:
  static media::ReadOptions looped(media::ReadOptions options) {
    options.loop = -1;
    options.stop = &stop_requested();
    return options;
  }
  media::Reader reader_;
  std::int64_t left_;
};

// How `detect` reads a video file.
void add_decoding(pipeline::MeasureOptions& options, const std::string& input, media::ReadOptions reading,
                  const DetectorEngine& engine) {
  if (!media::is_regular_file(input)) return;
  const StreamInfo info = media::Reader(input, reading).info();
  const double rate = info.frame_rate.value();
  if (info.is_pictures || rate <= 0) return;
  const int threads = engine.threads > 0 ? engine.threads : hardware_threads();
  const int in_flight = engine.schedule.in_flight;
  if (engine.threads > 0) reading.threads = engine.threads;
  options.decoding = pipeline::decoding_of({input, reading, info, threads, in_flight});
  options.run_decoding = [=](pipeline::Pipeline& pipeline, std::int64_t frames) {
    media::ReadOptions limited = reading;
    limited.duration = static_cast<double>(frames) / rate;
    limited.stop = &stop_requested();
    media::Reader reader(input, limited);
    pipeline::ReaderSource source(reader);
    pipeline::RunOptions run;
    run.stop = &stop_requested();
    const pipeline::Stream stream{&source, input, {}, {}};
    auto decoders = static_cast<std::size_t>(threads);
    return pipeline::run_in_parts(pipeline, stream, {limited, reader, in_flight}, run, decoders).run;
  };
}

std::vector<pipeline::DeviceKernels> launched_kernels(const pipeline::Devices& devices) {
  std::vector<pipeline::DeviceKernels> all;
  for (std::size_t i = 0; i < devices.size(); ++i)
    all.push_back({devices.name(i), opencl::context_of(devices[i].device()).kernel_resources()});
  return all;
}

}  // namespace

std::vector<Frame> first_frames(const std::string& input, const media::ReadOptions& options, int count) {
  media::Reader reader(input, options);
  std::vector<Frame> frames;
  while (static_cast<int>(frames.size()) < count) {
    auto frame = reader.read();
    if (!frame || (!frames.empty() && frame->size() != frames.front().size())) break;
    frames.push_back(std::move(*frame));
  }
  if (frames.empty()) throw Error(ExitCode::input, "'" + input + "' has no frame");
  return frames;
}

pipeline::Measurement measure_schedules(const DetectorOptions& detector, const SchedulesRequest& request,
                                        const std::string& kernels, const std::vector<WorkCount>* work) {
  const DetectorEngine engine = detector.make();
  media::ReadOptions reading = request.reading;
  reading.keep_colour = reads_colour(engine.detector());
  const std::vector<Frame> frames =
      first_frames(request.input, reading, request.preload > 0 ? request.preload : 4);
  pipeline::MeasureOptions options = request.options;
  options.schedules = measured_schedules(request.schedules, engine, MeasuredOf::frames);
  if (!detector.goal().empty() && std::ranges::find(options.schedules, "auto") == options.schedules.end()) {
    throw Error(ExitCode::usage,
                "the goal " + detector.goal() +
                    " does nothing: only schedule auto has a goal, and it is not among those measured",
                "leave the goal out, or name auto in --schedules");
  }
  options.threads = engine.threads;
  options.in_flight = engine.schedule.in_flight;
  options.batch = engine.schedule.batch;
  if (options.batch > 1) pipeline::check_batch(options.batch, engine.devices(), engine.devices().all());
  options.split = engine.schedule.split;
  options.plan.goal = pipeline::parse_goal(engine.schedule.goal);
  const pipeline::SourceMaker source = [&](std::int64_t count) -> std::unique_ptr<FrameSource> {
    if (request.preload > 0) return std::make_unique<pipeline::MemorySource>(frames, count);
    return std::make_unique<LoopedFile>(request.input, reading, count);
  };
  add_decoding(options, request.input, reading, engine);
  pipeline::Measurement measurement =
      pipeline::measure(engine.detector(), engine.devices(), frames, source, request.preload == 0, options);
  measurement.input = request.input;
  measurement.program = program_text();
  measurement.machine = machine_text(engine);
  const DetectorInfo& info = engine.detector().info();
  measurement.variant = info.variant;
  measurement.kernels = kernels;
  if (work) {
    measurement.work = *work;
  } else {
    measurement.work = engine.detector().count_work(frames.front().view());
  }
  measurement.accuracy = info.accuracy;
  if (request.kernel_resources) measurement.kernel_resources = launched_kernels(engine.devices());
  return measurement;
}

}  // namespace sightline::apps
