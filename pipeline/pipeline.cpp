#include "pipeline/pipeline.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "pipeline/pipeline_impl.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

namespace {

// A frame that was captured has its own times; else the source made it while it was asked for it.
void set_times(Slot& slot, std::int64_t asked) {
  const std::int64_t now = now_ns();
  const media::FrameTimes& times = slot.frame.times();
  const bool captured = times.captured != 0;
  slot.admitted = captured ? times.captured : asked;
  slot.decoded = captured && times.decoded != 0 ? std::max(times.decoded, times.captured) : now;
  slot.entered = captured ? now : 0;
}

}  // namespace

Pipeline::Impl::Impl(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                     const PipelineOptions& options)
    : processor_(processor),
      device_(device),
      options_(options),
      arena_(options.threads > 0 ? options.threads : hardware_threads(), 0),
      workers_(oneapi::tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(std::max(arena_.max_concurrency(), hardware_threads())) + 1) {
  check_contract(processor.stages(), processor.resources());
  cpu_plan_.schedule.in_flight = default_in_flight(cpu_plan_.schedule, threads());
  cpu_plan_.segments = segments_of(cpu_plan_.schedule, processor.stages().size());
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
    device_failure_ = "'" + device_->context().name() + "' failed while it worked on a frame";
    try {
      clock_queue_ = std::make_unique<opencl::Queue>(device_->context());
    } catch (const std::exception& e) {
      disable_device(e.what());
    }
    // Where copies are needed, those of one frame overlap with the kernels of another.
    device_limit_ = device_->context().device().unified_memory ? 1 : 6;
    waiting_for_device_.reserve(64);
    polled_.reserve(64);
    if (options.poll_device || !device_->context().device().unified_memory)
      poller_ = std::jthread([this](const std::stop_token& stop) { poll(stop); });
  }
}

void Pipeline::Impl::set_schedule(Schedule schedule) {
  check_schedule(schedule, processor_, device_);
  if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads());
  const std::lock_guard lock(mutex_);
  auto plan = std::find_if(plans_.begin(), plans_.end(),
                           [&](const Plan& known) { return known.schedule == schedule; });
  if (plan == plans_.end())
    plan = plans_.insert(plans_.end(), {schedule, segments_of(schedule, processor_.stages().size())});
  plan_ = device_lost_ && schedule.uses_device() ? &cpu_plan_ : &*plan;
  changed_.notify_all();
}

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
      slot->sequence = stream.admitted++;
      slot->frame = std::move(*frame);
      set_times(*slot, asked);
      step_->try_put({slot, false});
    }
  } catch (...) {
    end_with(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  --sources_open_;
  changed_.notify_all();
}

// Where a thread cannot be had, the others end what they have begun.
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

TraceInfo Pipeline::Impl::trace_info(std::span<Stream> streams) const {
  TraceInfo info;
  for (const StageInfo& stage : processor_.stages()) info.stages.emplace_back(stage.name);
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
      disable_device(e.what());
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
  start_feeders(states, options);
  {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return sources_open_ == 0 && free_slots_.size() == slots_.size(); };
    while (!changed_.wait_for(lock, 100ms, done)) {
      lock.unlock();
      try {
        watch();
        keep_clock();
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

Pipeline::Pipeline(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                   const PipelineOptions& options)
    : impl_(std::make_unique<Impl>(processor, device, schedule, options)) {}
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
