#include "pipeline/runtime/searcher.hpp"

#include <oneapi/tbb/task_arena.h>

#include "processing/frame_runner.hpp"

namespace sightline::pipeline {
namespace {

class ProcessorSearcher : public Searcher {
 public:
  ProcessorSearcher(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                    int threads)
      : arena_(threads), runner_(processor, schedule.on_device.any() ? device : nullptr, schedule.on_device) {
    runner_.workspace().tuned = schedule.tuned;
  }

  FrameResult search(GrayView picture) override {
    return arena_.execute([&] { return runner_.process(picture); });
  }

 private:
  oneapi::tbb::task_arena arena_;
  FrameRunner runner_;
};

}  // namespace

std::unique_ptr<Searcher> make_searcher(const FrameProcessor& processor, const DeviceStages* device,
                                        const Schedule& schedule, int threads) {
  return std::make_unique<ProcessorSearcher>(processor, device, schedule, threads);
}

}  // namespace sightline::pipeline
