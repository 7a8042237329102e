#include "pipeline/measurement/stage_alone.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "processing/frame_runner.hpp"

namespace sightline::pipeline {
namespace {

// Pieces of work that a device has before it at any time: more than it can finish before the host hands over
// the next.
constexpr std::size_t kAhead = 32;

class CpuStage : public StageAlone {
 public:
  CpuStage(const FrameProcessor& processor, PictureView frame, std::size_t stage, int threads, bool fresh)
      : stages_(processor.stages().size()),
        frame_(frame),
        stage_(stage),
        fresh_(fresh),
        arena_(threads),
        runner_(processor) {
    arena_.execute([&] { begin(); });
  }

  double run(std::int64_t count) override {
    arena_.execute([&] {
      for (std::int64_t i = 0; i < count; ++i) {
        if (fresh_) begin();
        runner_.run(stage_, stage_ + 1);
      }
    });
    return runner_.workspace().work.take();
  }
  bool needs_making_ready() const override { return fresh_; }
  double make_ready(std::int64_t count) override {
    arena_.execute([&] {
      for (std::int64_t i = 0; i < count; ++i) begin();
    });
    return runner_.workspace().work.take();
  }
  FrameResult finish() override {
    return arena_.execute([&] {
      runner_.run(stage_ + 1, stages_);
      return runner_.take_result();
    });
  }

 private:
  void begin() {
    if (runner_.prepare(frame_)) runner_.run(0, stage_);
  }

  const std::size_t stages_;
  const PictureView frame_;
  const std::size_t stage_;
  const bool fresh_;
  oneapi::tbb::task_arena arena_;
  FrameRunner runner_;
};

// A frame on its way over CPU and device, stopped at the stage that is wanted.
class DeviceAlone : public StageAlone {
 public:
  DeviceAlone(const FrameProcessor& processor, const DeviceStages& device, PictureView frame,
              const StageSet& on_device, std::size_t stage)
      : stages_(processor.stages().size()),
        device_(device),
        frame_(frame),
        runner_(processor, &device, on_device),
        segment_(*std::ranges::find_if(runner_.segments(), [&](const DeviceSegment& one) {
          return stage >= one.first && stage < one.last;
        })) {}
  ~DeviceAlone() override {
    try {
      wait();                          // the device must not write into what is about to go
    } catch (const std::exception&) {  // nor does one that has failed
    }
  }

 protected:
  const DeviceSegment& segment() const { return segment_; }

  // All that comes before the segment.
  bool begin() {
    wait();
    if (!runner_.prepare(frame_)) return false;
    runner_.prepare_slot();
    runner_.run(0, segment_.first);
    return true;
  }
  void prepare_slot() { runner_.prepare_slot(); }
  void submit(std::size_t first, std::size_t last, SubmitParts parts) {
    device_.submit(slot(), runner_.workspace(), first, last, parts);
  }
  void bring_in() { submit(segment_.first, segment_.last, SubmitParts::inputs); }
  // One turn of a stage; its spans are the slot's until the next.
  void enqueue(std::size_t stage) {
    slot().spans.clear();
    submit(stage, stage + 1, SubmitParts::stages);
    if (!slot().spans.empty()) ends_[stage] = slot().spans.back().end();
  }
  void take_out() { submit(segment_.first, segment_.last, SubmitParts::outputs); }

  // What follows the segment, whose stages have all run.
  FrameResult finish_segment() {
    take_out();
    wait();
    device_.complete(slot(), runner_.workspace());
    runner_.run(segment_.last, stages_);
    return runner_.take_result();
  }

  std::vector<DeviceSpan> take_spans() { return std::exchange(slot().spans, {}); }
  double seconds_of(const std::vector<DeviceSpan>& spans) const {
    double sum = 0;
    for (const DeviceSpan& span : spans) sum += span.seconds(device_.device().name());
    return sum;
  }
  // Until all that was enqueued is done.
  void wait() {
    wait_for(slot().spans);
    if (slot().done) slot().done.wait(device_.device().name());
    for (DeviceEvent& end : ends_) {
      if (end) std::exchange(end, {}).wait(device_.device().name());
    }
  }
  void wait_for(const std::vector<DeviceSpan>& spans) const {
    if (!spans.empty()) spans.back().end().wait(device_.device().name());
  }

 private:
  DeviceSlot& slot() { return runner_.slot(); }

  const std::size_t stages_;
  const DeviceStages& device_;
  const PictureView frame_;
  FrameRunner runner_;
  const DeviceSegment segment_;
  std::array<DeviceEvent, kMostStages> ends_;  ///< of each stage's last turn: they may be in several queues
};

class DeviceStage : public DeviceAlone {
 public:
  DeviceStage(const FrameProcessor& processor, const DeviceStages& device, PictureView frame,
              const StageSet& on_device, std::size_t stage, bool fresh)
      : DeviceAlone(processor, device, frame, on_device, stage), stage_(stage), fresh_(fresh) {
    ready();
  }

  double run(std::int64_t count) override {
    double busy = 0;
    std::deque<std::vector<DeviceSpan>> ahead;
    const auto take_oldest = [&] {
      wait_for(ahead.front());
      busy += seconds_of(ahead.front());
      ahead.pop_front();
    };
    for (std::int64_t i = 0; i < count; ++i) {
      if (fresh_) ready();
      enqueue(stage_);
      ahead.push_back(take_spans());
      if (ahead.size() > (fresh_ ? 0 : kAhead)) take_oldest();
    }
    while (!ahead.empty()) take_oldest();
    return busy;
  }
  bool needs_making_ready() const override { return fresh_; }
  double make_ready(std::int64_t count) override {
    for (std::int64_t i = 0; i < count; ++i) {
      ready();
      wait();
    }
    return 0;
  }
  FrameResult finish() override {
    for (std::size_t i = stage_ + 1; i < segment().last; ++i) enqueue(i);
    return finish_segment();
  }

 private:
  void ready() {
    if (!begin()) return;
    bring_in();
    for (std::size_t i = segment().first; i < stage_; ++i) enqueue(i);
  }

  const std::size_t stage_;
  const bool fresh_;
};

class DeviceCopy : public DeviceAlone {
 public:
  DeviceCopy(const FrameProcessor& processor, const DeviceStages& device, PictureView frame,
             const StageSet& on_device, Copy copy)
      : DeviceAlone(processor, device, frame, on_device, 0), copy_(copy) {
    is_ready_ = begin();
    if (!is_ready_) return;
    bring_in();
    for (std::size_t i = segment().first; i < segment().last; ++i) enqueue(i);
    wait();
  }
  bool is_ready() const { return is_ready_; }

  // The host's memory is in use until a copy is complete: one after the other.
  double run(std::int64_t count) override {
    double busy = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      prepare_slot();
      if (copy_ == Copy::upload) {
        bring_in();
      } else {
        take_spans();
        take_out();
      }
      wait();
      busy += seconds_of(take_spans());
    }
    return busy;
  }
  bool needs_making_ready() const override { return false; }
  double make_ready(std::int64_t) override { return 0; }
  FrameResult finish() override {
    prepare_slot();
    bring_in();
    for (std::size_t i = segment().first; i < segment().last; ++i) enqueue(i);
    return finish_segment();
  }

 private:
  const Copy copy_;
  bool is_ready_ = false;
};

// Two turns more than a run gives it. A stage may say by an error that it has nothing left to work on.
template <typename Make>
bool leaves_the_same(const Make& make, const FrameResult& expected) {
  try {
    const auto trial = make();
    trial->run(3);
    return difference(trial->finish(), expected).empty();
  } catch (const std::logic_error&) {
    return false;
  }
}

// Repeats the stage by itself if that changes nothing, else with all stages before it each time. Results of
// stages that are not exact cannot be compared.
template <typename Make>
std::unique_ptr<StageAlone> repeatable(const FrameProcessor& processor, PictureView frame, std::size_t stage,
                                       const Make& make) {
  const FrameResult expected = FrameRunner(processor).process(frame);
  if (expected.status == FrameStatus::skipped) return nullptr;
  if (!all_exact(processor.stages())) return make(true);
  for (const bool fresh : {false, true}) {
    if (leaves_the_same([&] { return make(fresh); }, expected)) return make(fresh);
  }
  throw Error(ExitCode::failed,
              "stage '" + std::string(processor.stages()[stage].name) +
                  "' in isolation gives another result than in a run",
              "report this defect of a driver or of Sightline");
}

// Stages that the device takes together with this one: as many as there are, so that what it reads is made
// there; none where it takes none.
StageSet company_of(const DeviceStages& device, std::size_t stage) {
  const StageSet supported = device.supported();
  if (!supported[stage]) return {};
  StageSet only, up_to;
  only.set(stage);
  for (std::size_t i = 0; i <= stage; ++i) up_to[i] = supported[i];
  for (const StageSet& mapping : {supported, up_to, (supported & ~up_to) | only, only}) {
    if (!device.check(mapping)) return mapping;
  }
  return {};
}

}  // namespace

std::unique_ptr<StageAlone> stage_on_cpu(const FrameProcessor& processor, PictureView frame,
                                         std::size_t stage, int threads) {
  return repeatable(processor, frame, stage, [&](bool fresh) {
    return std::make_unique<CpuStage>(processor, frame, stage, threads, fresh);
  });
}

std::unique_ptr<StageAlone> stage_on_device(const FrameProcessor& processor, const DeviceStages& device,
                                            PictureView frame, std::size_t stage) {
  const StageSet mapping = company_of(device, stage);
  if (!device.divisible() || mapping.none()) return nullptr;
  return repeatable(processor, frame, stage, [&](bool fresh) {
    return std::make_unique<DeviceStage>(processor, device, frame, mapping, stage, fresh);
  });
}

std::unique_ptr<StageAlone> copy_alone(const FrameProcessor& processor, const DeviceStages& device,
                                       PictureView frame, Copy copy) {
  const StageSet mapping = company_of(device, 0);
  if (!device.divisible() || mapping.none()) return nullptr;
  auto alone = std::make_unique<DeviceCopy>(processor, device, frame, mapping, copy);
  return alone->is_ready() ? std::move(alone) : nullptr;
}

}  // namespace sightline::pipeline
