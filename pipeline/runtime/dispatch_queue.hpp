#pragma once
/// Internal to the pipeline: one device, with the frames that are on it or wait for it.

#include <oneapi/tbb/flow_graph.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/compiling_device.hpp"
#include "pipeline/runtime/device_throughput.hpp"
#include "pipeline/runtime/slot.hpp"

namespace sightline::pipeline {

namespace flow = oneapi::tbb::flow;

/// Message of the flow graph: a frame that begins, or comes back from a device.
struct Token {
  static constexpr int kBegins = -1;
  Slot* slot = nullptr;
  int device = kBegins;  ///< device of the answer
};

using Step = flow::function_node<Token>;

/// Hands frames to a device, as many at once as keep it busy, learns of their end, and gives the device up
/// where it fails or does not answer. Every frame handed over is answered once, by a token to the graph's
/// step.
///
/// Frames go to the device in the order in which they come. If their schedule has batches, those that wait
/// for the same stages go together, of whatever source and size: as soon as there are enough for a batch, or
/// once the device has nothing else to do. It never waits for frames while it is idle.
///
/// Thread-safety: any thread.
class DispatchQueue : public Outstanding::Receiver {
 public:
  struct Options {
    bool poll = false;        ///< ask for the end of work rather than be called back
    double stall_limit = 30;  ///< seconds without an answer after which the device counts as lost; many
                              ///< times longer while it compiles kernels
  };
  /// @param number   of the device, from 0; processor `number` + 1 in traces
  /// @param on_loss  called once, when the device is given up
  /// Everything passed must outlive the object.
  DispatchQueue(const FrameProcessor& processor, const DeviceStages& stages, std::size_t number,
                std::string name, const Options& options, flow::graph& graph, Step& step,
                std::function<void(const std::string& error)> on_loss);

  const DeviceStages& stages() const { return stages_; }
  const std::string& name() const { return name_; }
  bool lost() const { return lost_; }

  /// Frames that have been dealt to the device and have not left it for good; and one more, or one less.
  int load() const { return load_; }
  void add_load(int change) { load_ += change; }
  /// Seconds that a frame keeps the device busy, lately; 0: not known yet.
  double seconds_a_frame() const { return seconds_; }

  /// Enqueues the frame's next segment, once it is the frame's turn, alone or with others; a token follows.
  void hand_over(Slot& slot);
  /// Handles the device's answer to the segment: takes over its results and admits the next frame. An error
  /// stays in the slot's part, and the device is disabled.
  void take_back(Slot& slot);

  /// Disables the device; calls `on_loss` once.
  void disable(const std::string& error);
  /// Gives the device up where it has not answered in time. To be called now and then, by one thread.
  void watch(const std::vector<std::unique_ptr<Slot>>& slots);
  /// Whether the device's clock may have drifted against the host's, and the device answers.
  bool can_set_clock(const std::vector<std::unique_ptr<Slot>>& slots) const;
  /// Sets the device's clock against the host's: at the start of a run, and where it may have drifted. Waits
  /// for the device.
  void set_clock();

  void device_answered(Slot& slot, bool failed) noexcept override;

 private:
  using Submit = flow::async_node<Batch*, Token>;

  void submit_next();
  Batch* take_batch();
  Batch& free_batch();
  std::size_t largest_batch(const Slot& slot) const;
  bool go_together(const Slot& a, const Slot& b) const;
  void submit(Batch& batch);
  void expect_answer(Slot& slot);
  void leave(Batch& batch);
  std::uint64_t first_launches() const { return compiler_ ? compiler_->first_launches() : 0; }
  double limit_now(const std::vector<std::unique_ptr<Slot>>& slots);
  void log_spans(Slot& slot);
  void poll(const std::stop_token& stop);

  const FrameProcessor& processor_;
  const DeviceStages& stages_;
  const CompilingDevice* const compiler_;  ///< the device, if it compiles here
  const std::size_t number_;
  const std::string name_;
  const std::string failure_;  ///< message for a failed device
  const Options options_;
  const std::size_t most_together_;  ///< DeviceStages::most_together
  const std::function<void(const std::string&)> on_loss_;
  std::unique_ptr<Submit> submit_;
  std::atomic<Submit::gateway_type*> gateway_{nullptr};
  std::atomic<bool> lost_{false};
  std::atomic<int> load_{0};
  std::atomic<double> seconds_{0};
  std::mutex mutex_;
  int at_work_ = 0;                              ///< submissions that are not wholly answered
  int limit_ = 1;                                ///< limit of `at_work_`
  std::vector<std::unique_ptr<Batch>> batches_;  ///< all there have been, to be used again
  DeviceThroughput throughput_;
  std::vector<Slot*> waiting_;
  std::vector<DeviceWork> frames_;   ///< of the submission that is being made
  std::vector<Slot*> polled_;        ///< slots that the poller waits for
  std::shared_ptr<void> compiling_;  ///< while kernels are launched for the first time
  std::int64_t compiled_until_ = 0;  ///< when the device was last seen compiling
  std::condition_variable_any poll_;
  std::unique_ptr<DeviceQueue> clock_queue_;
  DeviceClock clock_;
  std::jthread poller_;  ///< last: it uses the others
};

}  // namespace sightline::pipeline
