#include "pipeline/pipeline.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "opencl/clock.hpp"
#include "pipeline/run_report.hpp"
#include "pipeline/slot.hpp"

namespace sightline::pipeline {

namespace flow = oneapi::tbb::flow;
using namespace std::chrono_literals;

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
  Impl(const Detector& detector, const DeviceStages* device, const Schedule& schedule,
       const PipelineOptions& options)
      : detector_(detector),
        device_(device),
        options_(options),
        arena_(options.threads > 0 ? options.threads : hardware_threads(), 0),
        workers_(oneapi::tbb::global_control::max_allowed_parallelism,
                 static_cast<std::size_t>(std::max(arena_.max_concurrency(), hardware_threads())) + 1) {
    cpu_plan_.schedule.in_flight = default_in_flight(cpu_plan_.schedule, threads());
    cpu_plan_.segments = segments_of(cpu_plan_.schedule, detector.stages().size());
    set_schedule(schedule);
    // The graph runs its tasks in the arena that it is made in.
    arena_.execute([&] {
      graph_ = std::make_unique<flow::graph>();
      step_ = std::make_unique<Step>(*graph_, flow::unlimited, [this](Token token) { step(token); });
      submit_ =
          std::make_unique<Submit>(*graph_, flow::serial, [this](Token token, Submit::gateway_type& gateway) {
            gateway_ = &gateway;
            gateway.reserve_wait();
            submit(*token.slot);
          });
      flow::make_edge(*submit_, *step_);
    });
    if (device_) {
      try {
        clock_queue_ = std::make_unique<opencl::Queue>(device_->context());
      } catch (const std::exception& e) {
        take_out(e.what());
      }
      // Where copies are needed, those of one frame overlap with the kernels of another.
      device_limit_ = device_->context().device().unified_memory ? 1 : 6;
      waiting_for_device_.reserve(64);
      polled_.reserve(64);
      if (!device_->context().device().unified_memory)
        poller_ = std::jthread([this](const std::stop_token& stop) { poll(stop); });
    }
  }

  ~Impl() override { graph_->wait_for_all(); }

  int threads() const { return arena_.max_concurrency(); }
  bool device_lost() const { return device_lost_; }
  Schedule schedule() const { return plan_.load()->schedule; }

  void set_schedule(Schedule schedule) {
    check_schedule(schedule, detector_, device_);
    if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads());
    const std::lock_guard lock(mutex_);
    auto plan = std::find_if(plans_.begin(), plans_.end(),
                             [&](const Plan& known) { return known.schedule == schedule; });
    if (plan == plans_.end())
      plan = plans_.insert(plans_.end(), {schedule, segments_of(schedule, detector_.stages().size())});
    plan_ = device_lost_ && schedule.uses_device() ? &cpu_plan_ : &*plan;
    changed_.notify_all();
  }

  std::vector<RunReport> run(std::span<Stream> streams, const RunOptions& options);

  void device_answered(Slot& slot, bool failed) noexcept override {
    if (failed && slot.device_error.empty()) slot.device_failed = true;
    gateway_.load()->try_put(Token{&slot, true});
    gateway_.load()->release_wait();
  }

 private:
  using Step = flow::function_node<Token>;
  using Submit = flow::async_node<Token, Token>;

  // Admission, on the source's own thread.
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
  void share_done(Slot& slot);
  void redo_on_cpu(Slot& slot, const std::string& error);
  void finish(Slot& slot);
  void deliver(StreamState& stream, Slot& slot);

  void take_out(const std::string& error);
  void log_device_spans(Slot& slot);
  void poll(const std::stop_token& stop);
  void watch();
  void keep_clock();
  TraceInfo trace_info(std::span<Stream> streams) const;

  const Detector& detector_;
  const DeviceStages* device_;
  PipelineOptions options_;
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

// --- admission
// -------------------------------------------------------------------------------------------------------

// Waits for a free slot; null where the run is ending. Several sources have their share of the slots each, at
// least one, so that none starves another.
Slot* Pipeline::Impl::acquire(StreamState& stream, const RunOptions& options) {
  std::unique_lock lock(mutex_);
  const auto may_enter = [&] {
    const int limit = std::max(1, plan_.load()->schedule.in_flight / static_cast<int>(streams_));
    return stream.in_use < limit;
  };
  while (!may_enter()) {
    if (ending(options)) return nullptr;
    changed_.wait_for(lock, 100ms);  // `stop` is set without a notice
  }
  if (ending(options)) return nullptr;
  if (free_slots_.empty()) {
    auto slot = std::make_unique<Slot>();
    slot->index = static_cast<int>(slots_.size());
    for (std::vector<Span>& spans : slot->spans) spans.reserve(32);
    slot->workspace = detector_.make_workspace();
    free_slots_.push_back(slot.get());
    slots_.push_back(std::move(slot));
  }
  Slot* const slot = free_slots_.back();
  free_slots_.pop_back();
  slot->stream = &stream;
  slot->slots_in_use = static_cast<int>(slots_.size() - free_slots_.size());
  ++stream.in_use;
  return slot;
}

void Pipeline::Impl::release(Slot& slot) {
  const std::lock_guard lock(mutex_);
  --slot.stream->in_use;
  free_slots_.push_back(&slot);
  changed_.notify_all();
}

void Pipeline::Impl::end_with(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  failed_ = true;
  changed_.notify_all();
}

void Pipeline::Impl::feed(StreamState& stream, const RunOptions& options) {
  try {
    while (Slot* const slot = acquire(stream, options)) {
      slot->admitted = now_ns();
      std::optional<media::Frame> frame;
      try {
        frame = stream.stream->source->read();
      } catch (...) {
        release(*slot);
        throw;
      }
      if (!frame) {
        release(*slot);
        break;
      }
      slot->decoded = now_ns();
      slot->sequence = stream.admitted++;
      slot->frame = std::move(*frame);
      step_->try_put({slot, false});
    }
  } catch (...) {
    end_with(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  --sources_open_;
  changed_.notify_all();
}

// --- a frame's way
// ---------------------------------------------------------------------------------------------------

void Pipeline::Impl::step(Token token) {
  Slot& slot = *token.slot;
  try {
    token.from_device ? back_from_device(slot) : begin(slot);
  } catch (const std::exception& e) {
    slot.cpu_error = e.what();
    finish(slot);
  } catch (...) {
    slot.cpu_error = "an unknown error";
    finish(slot);
  }
}

void Pipeline::Impl::begin(Slot& slot) {
  FrameResult& result = slot.result;
  result.source = slot.stream->stream->name;
  result.picture = slot.frame.name();
  result.frame = slot.frame.number();
  result.time = slot.frame.time();
  result.width = slot.frame.size().width;
  result.height = slot.frame.size().height;
  result.status = FrameStatus::ok;
  result.objects.clear();
  result.message.clear();
  slot.cpu_error.clear();
  slot.device_error.clear();
  slot.device_failed = false;
  slot.segment = 0;
  slot.ready.fill(slot.decoded);
  for (std::vector<Span>& spans : slot.spans) spans.clear();
  slot.spans[0].push_back({Activity::decode, 0, 0, 0, slot.admitted, slot.decoded, 0});
  slot.plan = plan_;
  const Schedule& schedule = slot.plan->schedule;

  if (!detector_.prepare(*slot.workspace, slot.frame.view(), {schedule.split, 1})) {
    result.status = FrameStatus::skipped;
    result.message = "the frame is smaller than the smallest object that is searched for";
    finish(slot);
    return;
  }
  if (schedule.uses_device()) {
    try {
      if (schedule.split > 0) {
        if (!slot.device_share) slot.device_share = detector_.make_workspace();
        detector_.prepare(*slot.device_share, slot.frame.view(), {0, schedule.split});
      }
      if (!slot.device) slot.device = device_->make_slot();
      StageSet on_device = schedule.on_device;
      for (std::size_t i = 0; schedule.split > 0 && i < detector_.divisible_stages(); ++i) on_device.set(i);
      device_->prepare(*slot.device, slot.device_workspace(), on_device);
    } catch (const std::exception& e) {
      redo_on_cpu(slot, e.what());
      return;
    }
  }
  if (schedule.split == 0) {
    run_segments(slot);
    return;
  }
  slot.shares_left = 2;
  hand_to_device(slot);
  try {
    run_on_cpu(slot, 0, detector_.divisible_stages());
  } catch (const std::exception& e) {
    slot.cpu_error = e.what();
  } catch (...) {
    slot.cpu_error = "an unknown error";
  }
  share_done(slot);
}

void Pipeline::Impl::run_segments(Slot& slot) {
  const std::vector<Segment>& segments = slot.plan->segments;
  for (; slot.segment < segments.size(); ++slot.segment) {
    const Segment& segment = segments[slot.segment];
    if (segment.on_device) {
      hand_to_device(slot);
      return;  // back_from_device goes on
    }
    run_on_cpu(slot, segment.first, segment.last);
  }
  finish(slot);
}

void Pipeline::Impl::run_on_cpu(Slot& slot, std::size_t first, std::size_t last) {
  for (std::size_t stage = first; stage < last; ++stage) {
    const auto index = static_cast<std::uint8_t>(stage);
    const std::int64_t start = now_ns();
    slot.workspace->work.take();
    detector_.run_stage(stage, *slot.workspace);
    const std::int64_t end = now_ns();
    if (stage == first) slot.spans[0].push_back({Activity::wait, index, 0, 0, slot.ready[0], start, 0});
    const auto work = static_cast<std::int64_t>(1e9 * slot.workspace->work.take());
    slot.spans[0].push_back({Activity::run, index, 0, 0, start, end, work > 0 ? work : end - start});
    slot.ready[0] = end;
  }
}

// The device gets its frames one after the other. As many are handed over at once as keep it busy; more would
// only compete for it.
void Pipeline::Impl::hand_to_device(Slot& slot) {
  slot.ready[slot.plan->schedule.split > 0] = now_ns();
  {
    const std::lock_guard lock(device_mutex_);
    if (on_device_ >= device_limit_) {
      waiting_for_device_.push_back(&slot);
      return;
    }
    ++on_device_;
  }
  submit_->try_put({&slot, false});
}

void Pipeline::Impl::next_to_device() {
  Slot* next = nullptr;
  {
    const std::lock_guard lock(device_mutex_);
    if (waiting_for_device_.empty()) {
      --on_device_;
      return;
    }
    next = waiting_for_device_.front();
    waiting_for_device_.erase(waiting_for_device_.begin());
  }
  submit_->try_put({next, false});
}

// The body of the graph's asynchronous node: whatever happens, exactly one answer follows.
void Pipeline::Impl::submit(Slot& slot) {
  Outstanding& outstanding = *slot.outstanding;
  outstanding.open(*this, slot);
  try {
    if (device_lost_) throw Error(ExitCode::failed, "the device was taken out");
    const bool split = slot.plan->schedule.split > 0;
    const Segment segment =
        split ? Segment{true, 0, detector_.divisible_stages()} : slot.plan->segments[slot.segment];
    device_->submit(*slot.device, slot.device_workspace(), segment.first, segment.last);
    if (poller_.joinable()) {
      const std::lock_guard lock(device_mutex_);
      polled_.push_back(&slot);
      poll_.notify_one();
    } else {
      slot.device->done.on_complete(outstanding, device_->context().name());
    }
    outstanding.start_clock();  // not before: the watchdog must not find the slot half submitted
  } catch (const std::exception& e) {
    slot.device_error = e.what();
    outstanding.complete(true);
  }
}

void Pipeline::Impl::back_from_device(Slot& slot) {
  if (slot.device_failed)
    slot.device_error = "'" + device_->context().name() + "' failed while it worked on a frame";
  if (!slot.device_error.empty()) take_out(slot.device_error);  // before it gets the next one
  next_to_device();
  if (slot.device_error.empty()) {
    try {
      device_->complete(*slot.device, slot.device_workspace());
      log_device_spans(slot);
    } catch (const std::exception& e) {
      slot.device_error = e.what();
    }
  }
  if (slot.plan->schedule.split > 0) {
    share_done(slot);
  } else if (!slot.device_error.empty()) {
    redo_on_cpu(slot, slot.device_error);
  } else {
    slot.ready[0] = now_ns();
    ++slot.segment;
    run_segments(slot);
  }
}

// The second of a split frame's shares to be done goes on with the whole.
void Pipeline::Impl::share_done(Slot& slot) {
  if (slot.shares_left.fetch_sub(1) > 1) return;
  if (!slot.device_error.empty()) {
    redo_on_cpu(slot, slot.device_error);
    return;
  }
  if (slot.cpu_error.empty()) {
    detector_.join(*slot.workspace, *slot.device_share);
    slot.ready[0] = now_ns();
    run_on_cpu(slot, detector_.divisible_stages(), detector_.stages().size());
  }
  finish(slot);
}

void Pipeline::Impl::redo_on_cpu(Slot& slot, const std::string& error) {
  take_out(error);
  if (slot.abandoned) {  // the device may still write to them, for ever
    static_cast<void>(slot.device.release());
    static_cast<void>(slot.device_share.release());
    slot.abandoned = false;
  }
  ++slot.stream->accounts.redone;
  slot.plan = &cpu_plan_;
  slot.segment = 0;
  slot.ready[0] = now_ns();
  slot.cpu_error.clear();
  for (Span& span : slot.spans[0]) span.work = 0;
  detector_.prepare(*slot.workspace, slot.frame.view());
  run_segments(slot);
}

void Pipeline::Impl::finish(Slot& slot) {
  if (!slot.cpu_error.empty()) {
    slot.result.status = FrameStatus::failed;
    slot.result.message = slot.cpu_error;
  } else if (slot.result.status == FrameStatus::ok) {
    slot.result.objects = detector_.take_detections(*slot.workspace);
  }
  slot.stream->in_order->try_put(&slot);
}

void Pipeline::Impl::deliver(StreamState& stream, Slot& slot) {
  const std::int64_t start = now_ns();
  try {
    if (!failed_) {
      for (Sink* sink : stream.stream->sinks) sink->accept(slot.frame, slot.result);
    }
    const std::int64_t end = now_ns();
    slot.spans[0].push_back({Activity::output, 0, 0, 0, start, end, end - start});
    stream.spans.clear();
    for (const std::vector<Span>& spans : slot.spans)
      stream.spans.insert(stream.spans.end(), spans.begin(), spans.end());
    std::sort(stream.spans.begin(), stream.spans.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    FrameTrace trace;
    trace.frame = slot.result.frame;
    trace.source = stream.index;
    trace.slot = slot.index;
    trace.slots_in_use = slot.slots_in_use;
    trace.admitted = slot.admitted;
    trace.delivered = end;
    trace.status = slot.result.status;
    trace.spans = stream.spans;
    stream.accounts.add(slot.result, trace);
    {
      const std::lock_guard lock(trace_mutex_);  // several streams deliver at once
      for (TraceSink* sink : traces_) sink->accept(trace);
    }
    if (stream.stream->on_progress && !failed_) stream.stream->on_progress(stream.accounts.progress());
  } catch (...) {
    end_with(std::current_exception());
  }
  slot.frame = media::Frame();  // back to the decoder's pool
  release(slot);
}

// --- the device
// ------------------------------------------------------------------------------------------------------

void Pipeline::Impl::take_out(const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    if (device_lost_.exchange(true)) return;
    plan_ = &cpu_plan_;
    changed_.notify_all();
  }
  spdlog::warn("{}. The device is taken out: this frame and all that follow are searched on the CPU", error);
}

void Pipeline::Impl::log_device_spans(Slot& slot) {
  const std::string& name = device_->context().name();
  const std::uint8_t share = slot.plan->schedule.split > 0;
  std::vector<Span>& spans = slot.spans[share];
  std::int64_t ready = slot.ready[share];
  bool first = true;
  for (const DeviceSpan& part : slot.device->spans) {
    const auto host = [&](std::uint64_t device_ns) {
      return clock_.to_host(device_ns).time_since_epoch().count();
    };
    const std::int64_t start = host(part.first.times(name).started);
    const std::int64_t end = host(part.end().times(name).ended);
    const auto stage = static_cast<std::uint8_t>(part.stage);
    if (std::exchange(first, false))
      spans.push_back({Activity::wait, stage, 1, share, ready, std::max(ready, start), 0});
    const Activity activity = part.kind == DeviceSpan::Kind::upload     ? Activity::upload
                              : part.kind == DeviceSpan::Kind::download ? Activity::download
                                                                        : Activity::run;
    spans.push_back({activity, stage, 1, share, start, end, 0});
  }
}

// Drivers of devices with memory of their own were seen to call back twenty milliseconds after the end of a
// large copy (NVIDIA 580). Asking costs nothing there, so a thread asks while frames are on the device. It
// never waits for it.
void Pipeline::Impl::poll(const std::stop_token& stop) {
  constexpr auto kInterval = 25us;
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds: sleeps are as short as asked for
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(device_mutex_);
      if (!poll_.wait(lock, stop, [&] { return !polled_.empty(); })) return;
      for (std::size_t i = 0; i < polled_.size();) {
        Slot& slot = *polled_[i];
        const opencl::Event::State state = slot.device->done.state();
        if (state == opencl::Event::State::running) {
          ++i;
          continue;
        }
        polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
        slot.outstanding->complete(state == opencl::Event::State::failed);
      }
    }
    std::this_thread::sleep_for(kInterval);
  }
}

// Now and then, while frames are in flight: a device that does not answer must not stall the run.
void Pipeline::Impl::watch() {
  if (!device_) return;  // one that is taken out may still have frames
  const auto limit = static_cast<std::int64_t>(1e9 * options_.stall_limit);
  const std::scoped_lock lock(mutex_, device_mutex_);
  for (const std::unique_ptr<Slot>& slot : slots_) {
    const auto since = slot->outstanding->open_since();
    if (!since) continue;
    if (slot->device->done.state() == opencl::Event::State::failed) {  // some drivers do not call back then
      slot->outstanding->complete(true);
      continue;
    }
    if (now_ns() - *since < limit || !slot->outstanding->close()) continue;
    std::string stage = "a copy";
    for (const DeviceSpan& span : slot->device->spans) {
      if (span.end().state() == opencl::Event::State::complete) continue;
      if (span.kind == DeviceSpan::Kind::stage)
        stage = "stage '" + std::string(detector_.stages()[span.stage].name) + "'";
      break;
    }
    slot->device_error = fmt::format("{} on '{}' has not finished within {:g} s", stage,
                                     device_->context().name(), options_.stall_limit);
    slot->abandoned = true;
    polled_.erase(std::remove(polled_.begin(), polled_.end(), slot.get()), polled_.end());
    static_cast<void>(slot->outstanding.release());  // a late answer may still come
    slot->outstanding = std::make_unique<Outstanding>();
    device_answered(*slot, true);
  }
}

// --- a run
// -----------------------------------------------------------------------------------------------------------

// The device's clock drifts against the host's. Only while the device answers: this waits for it.
void Pipeline::Impl::keep_clock() {
  if (!device_ || device_lost_ || !clock_.stale()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<Slot>& slot : slots_) {
      const auto since = slot->outstanding->open_since();
      if (since && now_ns() - *since > 500'000'000) return;
    }
  }
  try {
    clock_.synchronise(*clock_queue_);
  } catch (const std::exception& e) {
    take_out(e.what());
  }
}

TraceInfo Pipeline::Impl::trace_info(std::span<Stream> streams) const {
  TraceInfo info;
  for (const StageInfo& stage : detector_.stages()) info.stages.emplace_back(stage.name);
  info.processors.push_back("CPU, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads"));
  if (device_) info.processors.push_back(device_->context().name());
  for (const Stream& stream : streams) info.sources.push_back(stream.name);
  info.slots = schedule().in_flight;
  info.start = now_ns();
  return info;
}

std::vector<RunReport> Pipeline::Impl::run(std::span<Stream> streams, const RunOptions& options) {
  const TraceInfo info = trace_info(streams);
  traces_ = options.traces;
  for (TraceSink* sink : options.traces) sink->begin(info);
  if (device_ && !device_lost_) {
    try {
      clock_.synchronise(*clock_queue_);
    } catch (const std::exception& e) {
      take_out(e.what());
    }
  }
  error_ = nullptr;
  failed_ = false;
  streams_ = streams.size();
  sources_open_ = static_cast<int>(streams.size());
  std::deque<StreamState> states;
  for (Stream& stream : streams) {
    StreamState& state = states.emplace_back(stream, info);
    state.index = static_cast<int>(states.size()) - 1;
    state.accounts.total = stream.source->frames();
    arena_.execute([&] {
      state.in_order = std::make_unique<flow::sequencer_node<Slot*>>(
          *graph_, [](Slot* slot) { return static_cast<std::size_t>(slot->sequence); });
      state.output =
          std::make_unique<flow::function_node<Slot*>>(*graph_, flow::serial, [this, &state](Slot* slot) {
            deliver(state, *slot);
            return flow::continue_msg();
          });
      flow::make_edge(*state.in_order, *state.output);
    });
  }
  for (StreamState& state : states) state.feeder = std::thread([&] { feed(state, options); });
  {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return sources_open_ == 0 && free_slots_.size() == slots_.size(); };
    while (!changed_.wait_for(lock, 100ms, done)) {
      lock.unlock();
      watch();
      keep_clock();
      lock.lock();
    }
  }
  for (StreamState& state : states) state.feeder.join();
  graph_->wait_for_all();
  traces_ = {};
  if (error_) std::rethrow_exception(error_);

  std::vector<RunReport> reports;
  for (StreamState& state : states) {
    RunReport report = state.accounts.report();
    report.decode_errors = state.stream->source->decode_errors();
    report.stopped = options.stop && options.stop->load();
    reports.push_back(std::move(report));
  }
  return reports;
}

Pipeline::Pipeline(const Detector& detector, const DeviceStages* device, const Schedule& schedule,
                   const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(detector, device, schedule, options)) {}
Pipeline::~Pipeline() = default;
int Pipeline::threads() const {
  return impl_->threads();
}
Schedule Pipeline::schedule() const {
  return impl_->schedule();
}
void Pipeline::set_schedule(const Schedule& schedule) {
  impl_->set_schedule(schedule);
}
bool Pipeline::device_lost() const {
  return impl_->device_lost();
}
std::vector<RunReport> Pipeline::run(std::span<Stream> streams, const RunOptions& options) {
  return impl_->run(streams, options);
}
RunReport Pipeline::run(Stream stream, const RunOptions& options) {
  return std::move(impl_->run({&stream, 1}, options).front());
}

}  // namespace sightline::pipeline
