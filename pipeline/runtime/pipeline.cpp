#include "pipeline/runtime/pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "pipeline/runtime/pipeline_impl.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

namespace {

// A frame that was captured has its own times; else the source made it while it was asked for it.
void set_times(Slot& slot, std::int64_t asked) {
  const std::int64_t now = now_ns();
  const FrameTimes& times = slot.frame.times();
  const bool captured = times.captured != 0;
  slot.admitted = captured ? times.captured : asked;
  slot.decoded = captured && times.decoded != 0 ? std::max(times.decoded, times.captured) : now;
  slot.entered = captured ? now : 0;
}

}  // namespace

Pipeline::Impl::Impl(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
                     const PipelineOptions& options)
    : processor_(processor),
      devices_(devices),
      options_(options),
      setting_(processor.configured_setting()),
      arena_(options.threads > 0 ? options.threads : hardware_threads(), 0),
      workers_(oneapi::tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(std::max(arena_.max_concurrency(), hardware_threads())) + 1) {
  check_contract(processor.stages(), processor.resources());
  check_schedule(schedule, processor_, devices_);
  // The graph runs its tasks in the arena that it is made in.
  arena_.execute([&] {
    graph_ = std::make_unique<flow::graph>();
    step_ = std::make_unique<Step>(*graph_, flow::unlimited, [this](Token token) { step(token); });
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      dispatch_queues_.push_back(std::make_unique<DispatchQueue>(
          processor_, devices_[i], i, devices_.name(i),
          DispatchQueue::Options{options.poll_device, options.stall_limit}, *graph_, *step_,
          [this, i](const std::string& error) { lose_device(i, error); }));
    }
  });
  set_schedule(schedule);
}

bool Pipeline::Impl::device_lost() const {
  return std::ranges::any_of(dispatch_queues_, [](const auto& queue) { return queue->lost(); });
}

// The schedule without lost devices. Call it with the mutex held.
const Plan* Pipeline::Impl::plan_for(const Schedule& asked) {
  Schedule schedule = asked;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
    if (dispatch_queues_[i]->lost() && devices_of(schedule, dispatch_queues_.size())[i])
      schedule = without_device(schedule, processor_, devices_, i);
  }
  if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads(), devices_.size());
  const auto known = std::ranges::find(plans_, schedule, &Plan::schedule);
  if (known != plans_.end()) return &*known;
  Plan plan;
  plan.schedule = schedule;
  plan.segments = segments_of(schedule, processor_.stages().size());
  plan.dealt = dealt_devices(schedule, devices_.size());
  if (schedule.split > 0) plan.partitions = device_partitions(schedule, devices_.size());
  return &plans_.emplace_back(std::move(plan));
}

void Pipeline::Impl::set_schedule(Schedule schedule) {
  check_schedule(schedule, processor_, devices_);
  const std::lock_guard lock(mutex_);
  plan_ = plan_for(schedule);
  changed_.notify_all();
}

void Pipeline::Impl::set_setting(std::size_t setting) {
  const std::size_t count = std::max<std::size_t>(processor_.operating_points().size(), 1);
  if (setting >= count) {
    throw Error(ExitCode::usage,
                "there is no setting " + std::to_string(setting + 1) + ", but " + std::to_string(count));
  }
  setting_ = setting;
}

// Waits for a free slot; null if the run is ending. Several sources have their share of the slots each, at
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
    slot->parts = std::vector<DevicePart>(devices_.size());
    slot->spans.reserve(32);
    for (DevicePart& part : slot->parts) part.spans.reserve(32);
    slot->workspace = processor_.make_workspace();
    free_slots_.reserve(slots_.size() + 1);  // `release` must not need memory
    slots_.push_back(std::move(slot));
    free_slots_.push_back(slots_.back().get());
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
      const std::int64_t asked = now_ns();
      std::optional<Frame> frame;
      try {
        frame = stream.stream->source->read();
      } catch (...) {
        release(*slot);
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        source_failed_ = true;
        break;
      }
      if (!frame) {
        release(*slot);
        break;
      }
      slot->sequence = stream.admitted++;
      slot->frame = std::move(*frame);
      set_times(*slot, asked);
      step_->try_put({slot});
    }
  } catch (...) {
    end_with(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  --sources_open_;
  changed_.notify_all();
}

// If a thread cannot be created, the others finish their work.
void Pipeline::Impl::start_feeders(std::deque<StreamState>& states, const RunOptions& options) {
  std::size_t started = 0;
  try {
    for (StreamState& state : states) {
      state.feeder = std::thread([&] { feed(state, options); });
      ++started;
    }
  } catch (...) {
    end_with(std::current_exception());
    const std::lock_guard lock(mutex_);
    sources_open_ -= static_cast<int>(states.size() - started);
  }
}

void Pipeline::Impl::lose_device(std::size_t device, const std::string& error) {
  bool others = false;
  {
    const std::lock_guard lock(mutex_);
    if (plan_.load()) {
      plan_ = plan_for(plan_.load()->schedule);
      others = plan_.load()->schedule.uses_device();
    }
    changed_.notify_all();
  }
  if (others) {
    spdlog::warn("{}. The device '{}' is disabled: the others search this frame and all later ones", error,
                 devices_.name(device));
  } else {
    spdlog::warn("{}. The device is disabled: the CPU searches this frame and all later ones", error);
  }
}

// Now and then, while frames are in flight.
void Pipeline::Impl::watch() {
  for (const auto& line : dispatch_queues_) {
    bool drifts = false;
    {
      const std::lock_guard lock(mutex_);
      line->watch(slots_);
      drifts = line->can_set_clock(slots_);
    }
    if (drifts) line->set_clock();
  }
}

TraceInfo Pipeline::Impl::trace_info(std::span<Stream> streams) const {
  TraceInfo info;
  for (const StageInfo& stage : processor_.stages()) info.stages.emplace_back(stage.name);
  info.processors.push_back("CPU, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads"));
  for (const auto& line : dispatch_queues_) info.processors.push_back(line->name());
  for (const Stream& stream : streams) info.sources.push_back(stream.name);
  const auto settings = processor_.operating_points();
  info.settings.assign(settings.begin(), settings.end());
  info.slots = schedule().in_flight;
  info.start = now_ns();
  return info;
}

std::vector<RunReport> Pipeline::Impl::run(std::span<Stream> streams, const RunOptions& options) {
  const TraceInfo info = trace_info(streams);
  traces_ = options.traces;
  for (TraceSink* sink : options.traces) sink->begin(info);
  for (const auto& line : dispatch_queues_) line->set_clock();
  error_ = nullptr;
  failed_ = source_failed_ = false;
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
  start_feeders(states, options);
  {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return sources_open_ == 0 && free_slots_.size() == slots_.size(); };
    while (!changed_.wait_for(lock, 100ms, done)) {
      lock.unlock();
      try {
        watch();
      } catch (...) {
        end_with(
            std::current_exception());  // frames are still on their way: this goes on until they are here
      }
      lock.lock();
    }
  }
  for (StreamState& state : states)
    if (state.feeder.joinable()) state.feeder.join();
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

Pipeline::Pipeline(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule,
                   const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(processor, devices, schedule, options)) {}
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
std::size_t Pipeline::setting() const {
  return impl_->setting();
}
void Pipeline::set_setting(std::size_t setting) {
  impl_->set_setting(setting);
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
