#pragma once
/// Internal to the pipeline: what runs it. `pipeline.cpp` begins and ends runs and admits frames,
/// `frame_way.cpp` leads frames through their schedule, `device_work.cpp` deals with the device.

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "base/message.hpp"
#include "opencl/clock.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/run_report.hpp"
#include "pipeline/slot.hpp"

namespace sightline::pipeline {

namespace flow = oneapi::tbb::flow;

/// A source with its sinks while it runs: the end of the graph where its frames get their order back.
struct StreamState {
  StreamState(Stream& s, const TraceInfo& info) : stream(&s), accounts(info) {}

  Stream* stream;
  int index = 0;
  int in_use = 0;  ///< slots; guarded by the pipeline's mutex
  std::int64_t admitted = 0;
  RunAccounts accounts;
  std::unique_ptr<flow::sequencer_node<Slot*>> in_order;
  std::unique_ptr<flow::function_node<Slot*>> output;
  std::vector<Span> spans;  ///< of the frame being delivered
  std::thread feeder;
};

class Pipeline::Impl : public Outstanding::Receiver {
 public:
  Impl(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
       const PipelineOptions& options);
  ~Impl() override { graph_->wait_for_all(); }

  int threads() const { return arena_.max_concurrency(); }
  bool device_lost() const { return device_lost_; }
  Schedule schedule() const { return plan_.load()->schedule; }

  void set_schedule(Schedule schedule);
  std::vector<RunReport> run(std::span<Stream> streams, const RunOptions& options);

  void device_answered(Slot& slot, bool failed) noexcept override;

 private:
  using Step = flow::function_node<Token>;
  using Submit = flow::async_node<Token, Token>;

  // Admission, on the source's own thread.
  void start_feeders(std::deque<StreamState>& states, const RunOptions& options);
  void feed(StreamState& stream, const RunOptions& options);
  Slot* acquire(StreamState& stream, const RunOptions& options);
  void release(Slot& slot);
  bool ending(const RunOptions& options) const { return failed_ || (options.stop && options.stop->load()); }
  void end_with(std::exception_ptr error);

  // A frame's way, as tasks of the graph.
  void step(Token token);
  void begin(Slot& slot);
  void run_segments(Slot& slot);
  void run_on_cpu(Slot& slot, std::size_t first, std::size_t last);
  void hand_to_device(Slot& slot);
  void next_to_device();
  void submit(Slot& slot);
  void back_from_device(Slot& slot);
  void partition_done(Slot& slot);
  void retry_on_cpu(Slot& slot, const std::string& error);
  void finish(Slot& slot);
  void deliver(StreamState& stream, Slot& slot);

  void disable_device(const std::string& error);
  void log_device_spans(Slot& slot);
  void poll(const std::stop_token& stop);
  void watch();
  void keep_clock();
  TraceInfo trace_info(std::span<Stream> streams) const;

  const FrameProcessor& processor_;
  const DeviceStages* device_;
  PipelineOptions options_;
  std::string device_failure_;  ///< what is said of a device that has failed
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::global_control workers_;
  std::unique_ptr<flow::graph> graph_;
  std::unique_ptr<Step> step_;
  std::unique_ptr<Submit> submit_;
  std::atomic<Submit::gateway_type*> gateway_{nullptr};

  Plan cpu_plan_;
  std::list<Plan> plans_;  ///< all there have been, each once: frames in flight point to them
  std::atomic<const Plan*> plan_{&cpu_plan_};
  std::atomic<bool> device_lost_{false};
  std::mutex device_mutex_;
  int on_device_ = 0;     ///< frames handed over and not answered
  int device_limit_ = 1;  ///< of these
  std::vector<Slot*> waiting_for_device_;
  std::vector<Slot*> polled_;  ///< those whose end the poller looks out for
  std::condition_variable_any poll_;
  std::unique_ptr<opencl::Queue> clock_queue_;
  opencl::DeviceClock clock_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_slots_;
  int sources_open_ = 0;
  std::size_t streams_ = 1;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::mutex trace_mutex_;
  std::span<TraceSink* const> traces_;
  std::jthread poller_;  ///< last: it uses the others
};

}  // namespace sightline::pipeline
