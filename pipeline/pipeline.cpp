#include "pipeline/pipeline.hpp"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "base/hardware.hpp"

namespace sightline::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

// One frame in flight: the token that flows through the pipeline.
struct Slot {
  std::unique_ptr<Workspace> workspace;
  media::Frame frame;
  FrameResult result;
  std::vector<double> stage_seconds;
  double decode_seconds = 0;
};

struct Pipeline::Impl {
  Impl(const Detector& d, const Schedule& schedule)
      : detector(d), arena(schedule.threads > 0 ? schedule.threads : hardware_threads()) {
    // One frame a thread keeps the threads busy where a stage has fewer bands than threads, one more covers
    // decoding.
    const int in_flight = schedule.frames_in_flight > 0 ? schedule.frames_in_flight
                                                        : std::clamp(arena.max_concurrency() + 1, 2, 8);
    slots.resize(in_flight);
    for (Slot& slot : slots) {
      slot.workspace = detector.make_workspace();
      slot.stage_seconds.resize(detector.stages().size());
    }
  }

  // A slot with the source's next frame, or null at its end.
  Slot* admit(media::Reader& reader, const RunOptions& options) {
    if (options.stop && options.stop->load()) return nullptr;
    const Clock::time_point start = Clock::now();
    std::optional<media::Frame> frame = reader.read();
    if (!frame) return nullptr;
    Slot* slot = nullptr;
    free_slots.try_pop(slot);  // there is one: the pipeline has as many tokens as there are slots
    slot->decode_seconds = seconds_since(start);
    slot->frame = std::move(*frame);
    FrameResult& result = slot->result;
    result.source = options.source;
    result.picture = slot->frame.name();
    result.frame = slot->frame.number();
    result.time = slot->frame.time();
    result.width = slot->frame.size().width;
    result.height = slot->frame.size().height;
    result.status = FrameStatus::ok;
    result.objects.clear();
    result.message.clear();
    std::fill(slot->stage_seconds.begin(), slot->stage_seconds.end(), 0.0);
    return slot;
  }

  void detect_in(Slot& slot) const {
    try {
      if (!detector.prepare(*slot.workspace, slot.frame.gray())) {
        slot.result.status = FrameStatus::skipped;
        slot.result.message = "the frame is smaller than the smallest object that is searched for";
        return;
      }
      for (std::size_t stage = 0; stage < slot.stage_seconds.size(); ++stage) {
        const Clock::time_point start = Clock::now();
        detector.run_stage(stage, *slot.workspace);
        slot.stage_seconds[stage] = seconds_since(start);
      }
      for (std::size_t stage = 0; stage < slot.stage_seconds.size(); ++stage) {
        slot.stage_seconds[stage] =
            detector.busy_seconds(*slot.workspace, stage).value_or(slot.stage_seconds[stage]);
      }
      slot.result.objects = detector.take_detections(*slot.workspace);
    } catch (const std::exception& e) {
      slot.result.status = FrameStatus::failed;
      slot.result.message = e.what();
      slot.result.objects.clear();
    }
  }

  void deliver(Slot& slot, std::span<Sink* const> sinks, RunReport& report, double& output_seconds) {
    const Clock::time_point start = Clock::now();
    for (Sink* sink : sinks) sink->accept(slot.frame, slot.result);
    output_seconds += seconds_since(start);
    ++report.frames;
    report.skipped += slot.result.status == FrameStatus::skipped;
    if (slot.result.status == FrameStatus::failed) {
      if (report.failed++ == 0) {
        report.first_failure = slot.result.message;
        spdlog::warn("frame {} could not be searched: {}", slot.result.frame, slot.result.message);
      }
    }
    report.objects += static_cast<std::int64_t>(slot.result.objects.size());
    report.stages.front().seconds += slot.decode_seconds;
    for (std::size_t i = 0; i < slot.stage_seconds.size(); ++i)
      report.stages[i + 1].seconds += slot.stage_seconds[i];
    slot.frame = media::Frame();  // back to the decoder's pool
    free_slots.push(&slot);
  }

  const Detector& detector;
  oneapi::tbb::task_arena arena;
  std::vector<Slot> slots;
  oneapi::tbb::concurrent_queue<Slot*> free_slots;
};

Pipeline::Pipeline(const Detector& detector, const Schedule& schedule)
    : impl_(std::make_unique<Impl>(detector, schedule)) {}
Pipeline::~Pipeline() = default;

int Pipeline::threads() const {
  return impl_->arena.max_concurrency();
}
int Pipeline::frames_in_flight() const {
  return static_cast<int>(impl_->slots.size());
}

RunReport Pipeline::run(media::Reader& reader, std::span<Sink* const> sinks, const RunOptions& options) {
  namespace tbb = oneapi::tbb;
  Impl& impl = *impl_;
  RunReport report;
  report.stages.push_back({"decode", 0});
  for (const StageInfo& stage : impl.detector.stages()) report.stages.push_back({std::string(stage.name), 0});
  double output_seconds = 0;

  impl.free_slots.clear();  // an earlier run may have ended in an error
  for (Slot& slot : impl.slots) impl.free_slots.push(&slot);
  const std::optional<std::int64_t> total = reader.info().frames;
  const Clock::time_point start = Clock::now();
  impl.arena.execute([&] {
    tbb::parallel_pipeline(
        impl.slots.size(),
        tbb::make_filter<void, Slot*>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) {
          Slot* slot = impl.admit(reader, options);
          if (!slot) control.stop();
          return slot;
        }) & tbb::make_filter<Slot*, Slot*>(tbb::filter_mode::parallel, [&](Slot* slot) {
          impl.detect_in(*slot);
          return slot;
        }) & tbb::make_filter<Slot*, void>(tbb::filter_mode::serial_in_order, [&](Slot* slot) {
          impl.deliver(*slot, sinks, report, output_seconds);
          if (options.on_progress) options.on_progress({report.frames, seconds_since(start), total});
        }));
  });
  report.seconds = seconds_since(start);
  report.stages.push_back({"output", output_seconds});
  report.decode_errors = reader.decode_errors();
  report.stopped = options.stop && options.stop->load();
  return report;
}

void RunReport::add(const RunReport& other) {
  frames += other.frames;
  skipped += other.skipped;
  failed += other.failed;
  objects += other.objects;
  decode_errors += other.decode_errors;
  seconds += other.seconds;
  stopped |= other.stopped;
  if (stages.empty()) {
    stages = other.stages;
  } else {
    for (std::size_t i = 0; i < stages.size() && i < other.stages.size(); ++i)
      stages[i].seconds += other.stages[i].seconds;
  }
  if (first_failure.empty()) first_failure = other.first_failure;
}

}  // namespace sightline::pipeline
