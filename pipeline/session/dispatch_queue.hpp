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
#include "pipeline/session/device_throughput.hpp"
#include "pipeline/session/slot.hpp"

namespace sightline::pipeline {

/// Hands frames to a device, as many at once as keep it busy, learns of their end, and gives the device up
/// where it fails or does not answer. Every frame handed over is answered once, through its part's gateway.
///
/// Frames go to the device in the order in which they come. If their schedule has batches, those that wait
/// for the same stages go together, of whatever stream, program and size: as soon as there are enough for a
/// batch, or once the device has nothing else to do. It never waits for frames while it is idle.
///
/// Thread-safety: any thread.
class DispatchQueue : public PendingSubmission::Receiver {
 public:
  struct Options {
    bool poll = false;        ///< ask for the end of work rather than be called back
    double stall_limit = 30;  ///< seconds without an answer after which the device counts as lost; many
                              ///< times longer while it compiles kernels
  };
  /// @param on_loss  called once, when the device is given up
  /// Everything passed must outlive the object.
  DispatchQueue(const ComputeDevice& device, std::string name, const Options& options, flow::graph& graph,
                std::function<void(const std::string& error)> on_loss);

  const ComputeDevice& device() const { return device_; }
  const std::string& name() const { return name_; }
  bool lost() const { return lost_; }

  /// Frames that have been dealt to the device and have not left it for good; and one more, or one less.
  int load() const { return load_; }
  void add_load(int change) { load_ += change; }
  /// Seconds that a frame keeps the device busy, lately; 0: not known yet.
  double seconds_a_frame() const { return seconds_; }
  /// A frame was dealt to another device; if this one has none, what is known of it grows old.
  void pass_over();

  /// Makes a part known to the watchdog. It must outlive the queue.
  void watch_part(DevicePart& part);
  /// Enqueues the part's segment, once it is the frame's turn, alone or with others; an answer follows.
  void submit(DevicePart& part);
  /// Handles the device's answer to the segment: takes over its results and admits the next frame. An error
  /// stays in the part, and the device is disabled.
  void complete(DevicePart& part);

  /// Disables the device; calls `on_loss` once.
  void disable(const std::string& error);
  /// Gives the device up where it has not answered in time. To be called now and then, by one thread.
  void watch();
  /// Whether the device's clock may have drifted against the host's, and the device answers.
  bool can_set_clock();
  /// Sets the device's clock against the host's: at the start of a run, and where it may have drifted. Waits
  /// for the device.
  void set_clock();

  void device_answered(DevicePart& part, bool failed) noexcept override;

 private:
  void submit_next();
  Batch* take_batch();
  Batch& free_batch();
  static std::size_t largest_batch(const DevicePart& part);
  static bool go_together(const DevicePart& a, const DevicePart& b);
  void enqueue(Batch& batch);
  void expect_answer(DevicePart& part);
  void leave(Batch& batch);
  std::uint64_t first_launches() const { return compiler_ ? compiler_->first_launches() : 0; }
  double limit_now();
  void log_spans(DevicePart& part);
  void poll(const std::stop_token& stop);

  const ComputeDevice& device_;
  const CompilingDevice* const compiler_;  ///< the device, if it compiles here
  const std::string name_;
  const std::string failure_;  ///< message for a failed device
  const Options options_;
  const std::function<void(const std::string&)> on_loss_;
  flow::function_node<Batch*> submissions_;
  std::atomic<bool> lost_{false};
  std::atomic<int> load_{0};
  std::atomic<double> seconds_{0};
  std::mutex mutex_;
  int at_work_ = 0;                              ///< submissions that are not wholly answered
  int limit_ = 1;                                ///< limit of `at_work_`
  std::vector<std::unique_ptr<Batch>> batches_;  ///< all there have been, to be used again
  DeviceThroughput throughput_;
  std::vector<DevicePart*> parts_;  ///< all there are, for the watchdog
  std::vector<DevicePart*> waiting_;
  std::vector<DeviceWork> frames_;   ///< of the submission that is being made
  std::vector<DevicePart*> polled_;  ///< the poller waits for
  std::shared_ptr<void> compiling_;  ///< while kernels are launched for the first time
  std::int64_t compiled_until_ = 0;  ///< when the device was last seen compiling
  std::condition_variable_any poll_;
  std::unique_ptr<DeviceQueue> clock_queue_;
  DeviceClock clock_;
  std::jthread poller_;  ///< last: it uses the others
};

}  // namespace sightline::pipeline
