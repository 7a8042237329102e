#include "pipeline/runtime/searcher.hpp"

#include <oneapi/tbb/task_arena.h>

namespace sightline::pipeline {
namespace {

class ProcessorSearcher : public Searcher {
 public:
  ProcessorSearcher(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                    int threads)
      : processor_(processor),
        device_(schedule.on_device.any() ? device : nullptr),
        schedule_(schedule),
        arena_(threads),
        workspace_(processor.make_workspace()),
        slot_(device_ ? device_->make_slot() : nullptr) {}

  FrameResult search(GrayView picture) override {
    FrameResult result;
    arena_.execute([&] { search(picture, result); });
    return result;
  }

 private:
  void search(GrayView picture, FrameResult& result) {
    Workspace& w = *workspace_;
    w.tuned = schedule_.tuned;
    if (!processor_.prepare(w, picture)) {
      result.status = FrameStatus::skipped;
      return;
    }
    if (device_) device_->prepare(*slot_, w, schedule_.on_device);
    for (const Segment& segment : segments_of(schedule_, processor_.stages().size())) {
      if (segment.on_device) {
        device_->submit(*slot_, w, segment.first, segment.last);
        slot_->done.wait(device_->device().name());
        device_->complete(*slot_, w);
        continue;
      }
      for (std::size_t stage = segment.first; stage < segment.last; ++stage) processor_.run_stage(stage, w);
    }
    processor_.take_result(w, result);
  }

  const FrameProcessor& processor_;
  const DeviceStages* device_;
  Schedule schedule_;
  oneapi::tbb::task_arena arena_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<DeviceSlot> slot_;
};

}  // namespace

std::unique_ptr<Searcher> make_searcher(const FrameProcessor& processor, const DeviceStages* device,
                                        const Schedule& schedule, int threads) {
  return std::make_unique<ProcessorSearcher>(processor, device, schedule, threads);
}

}  // namespace sightline::pipeline
