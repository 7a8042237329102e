#pragma once
/// Internal to the pipeline. `pipeline.cpp` begins and ends runs and admits frames, `frame_dispatch.cpp`
/// leads frames through their schedule, and each device has a queue (dispatch_queue.hpp).

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "base/message.hpp"
#include "pipeline/runtime/dispatch_queue.hpp"
#include "pipeline/runtime/pipeline.hpp"
#include "pipeline/runtime/run_report.hpp"
#include "pipeline/runtime/slot.hpp"

namespace sightline::pipeline {

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
  std::vector<Span> spans;  ///< spans of the frame being delivered
  std::thread feeder;
};

class Pipeline::Impl {
 public:
  Impl(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
       const PipelineOptions& options);
  ~Impl() { graph_->wait_for_all(); }

  int threads() const { return arena_.max_concurrency(); }
  bool device_lost() const;
  Schedule schedule() const { return plan_.load()->schedule; }
  std::size_t setting() const { return setting_; }

  void set_schedule(Schedule schedule);
  void set_setting(std::size_t setting);
  std::vector<RunReport> run(std::span<Stream> streams, const RunOptions& options);

 private:
  // Admission, on the source's own thread.
  void start_feeders(std::deque<StreamState>& states, const RunOptions& options);
  void feed(StreamState& stream, const RunOptions& options);
  Slot* acquire(StreamState& stream, const RunOptions& options);
  void release(Slot& slot);
  bool ending(const RunOptions& options) const {
    return failed_ || source_failed_ || (options.stop && options.stop->load());
  }
  void end_with(std::exception_ptr error);

  // A frame's way, as tasks of the graph.
  void step(Token token);
  void begin(Slot& slot);
  void search(Slot& slot);
  bool deal(Slot& slot);
  void leave_device(Slot& slot);
  bool takes_part(const Slot& slot, std::size_t device) const;
  bool prepare_devices(Slot& slot);
  void run_segments(Slot& slot);
  void run_split(Slot& slot);
  void run_on_cpu(Slot& slot, std::size_t first, std::size_t last);
  void back_from_device(Slot& slot, std::size_t device);
  void partition_done(Slot& slot);
  void retry(Slot& slot);
  void replan(Slot& slot);
  void finish(Slot& slot);
  void deliver(StreamState& stream, Slot& slot);

  const Plan* plan_for(const Schedule& schedule);
  void lose_device(std::size_t device, const std::string& error);
  void watch();
  TraceInfo trace_info(std::span<Stream> streams) const;

  const FrameProcessor& processor_;
  Devices devices_;
  PipelineOptions options_;
  std::atomic<std::size_t> setting_;  ///< operating point of the frames that enter from now on
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::global_control workers_;
  std::unique_ptr<flow::graph> graph_;
  std::unique_ptr<Step> step_;

  std::list<Plan> plans_;  ///< all there have been, each once: frames in flight point to them
  std::atomic<const Plan*> plan_{nullptr};
  std::mutex deal_mutex_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_slots_;
  int sources_open_ = 0;
  std::size_t streams_ = 1;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};         ///< frames in flight go to no sink any more
  std::atomic<bool> source_failed_{false};  ///< no more frames enter; those in flight are delivered
  std::mutex trace_mutex_;
  std::span<TraceSink* const> traces_;
  std::vector<std::unique_ptr<DispatchQueue>> dispatch_queues_;  ///< by device; last member, since their
                                                                 ///< threads use the others
};

}  // namespace sightline::pipeline
