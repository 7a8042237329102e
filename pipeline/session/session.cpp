#include "pipeline/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "pipeline/session/session_impl.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

namespace {

constexpr auto kKeeperInterval = 50ms;  // flags are set without a notice, devices fall silent
constexpr std::size_t kMostEvents = 1000;

void check(const Stream& stream) {
  if (stream.importance > 0 && stream.rate >= 0) return;
  throw Error(ExitCode::usage, fmt::format("stream '{}' has importance {:g} and rate {:g}", stream.name,
                                           stream.importance, stream.rate));
}

}  // namespace

Session::Impl::Impl(const SessionOptions& options)
    : options_(options),
      arena_(options.threads > 0 ? options.threads : hardware_threads(),
             process_policy().raises_tbb_limit ? 0 : 1) {
  if (process_policy().raises_tbb_limit) {
    workers_.emplace(oneapi::tbb::global_control::max_allowed_parallelism,
                     static_cast<std::size_t>(std::max(arena_->max_concurrency(), hardware_threads())) + 1);
  }
  // The graph runs its tasks in the arena that it is made in.
  arena_->execute([&] { graph_ = std::make_unique<flow::graph>(); });
  admissions_ =
      std::make_unique<flow::function_node<Program*>>(*graph_, flow::unlimited, [this](Program* program) {
        admit_waiting(*program);
        return flow::continue_msg();
      });
  pool_ = std::make_unique<DecoderPool>([this](StreamState& s) { read_all(s); },
                                        static_cast<std::size_t>(hardware_threads()));
  // TBB has one worker less than there are processors.
  if (!workers_) {
    graph_->reserve_wait();
    helper_ = std::thread([this] { arena_->execute([this] { graph_->wait_for_all(); }); });
  }
  keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

Session::Impl::~Impl() {
  end_all();
  {
    Lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
  }
  for (const auto& [id, s] : streams_) s->stream.source->on_announcement(nullptr);
  keeper_ = {};
  pool_.reset();
  if (helper_.joinable()) {
    graph_->release_wait();
    helper_.join();
  }
  graph_->wait_for_all();
}

// --- programs ----------------------------------------------------------------------------------------------

ProgramId Session::Impl::add(const FrameProcessor& processor, const Devices& devices,
                             const Schedule& schedule) {
  check_contract(processor.stages(), processor.resources());
  check_schedule(schedule, processor, devices);
  const std::lock_guard adding(add_mutex_);
  std::vector<DispatchQueue*> queues;
  for (std::size_t i = 0; i < devices.size(); ++i) queues.push_back(&queue_for(devices[i], devices.name(i)));
  const std::lock_guard lock(mutex_);
  Program& program = programs_.emplace_back(processor, devices);
  program.queues = std::move(queues);
  try {
    program.plan = plan_for(program, schedule);
  } catch (...) {
    programs_.pop_back();
    throw;
  }
  return ProgramId{programs_.size() - 1};
}

// A device's queue, whatever programs use it. Without the mutex: a device may be lost at once.
DispatchQueue& Session::Impl::queue_for(const DeviceStages& stages, const std::string& name) {
  const ComputeDevice& device = stages.device();
  const auto known =
      std::ranges::find_if(queues_, [&](const auto& queue) { return &queue->device() == &device; });
  if (known != queues_.end()) return **known;
  auto queue = std::make_unique<DispatchQueue>(
      device, name, DispatchQueue::Options{options_.poll_device, options_.stall_limit}, *graph_,
      [this, &device](const std::string& error) { lose_device(device, error); });
  const std::lock_guard lock(mutex_);
  return *queues_.emplace_back(std::move(queue));
}

Program& Session::Impl::program(ProgramId id) {
  const std::lock_guard lock(mutex_);
  return programs_.at(static_cast<std::size_t>(id));
}

// The schedule without lost devices, and without those in `others`.
Plan* Session::Impl::plan_for(Program& program, const Schedule& asked, const DeviceSet& others) {
  Schedule schedule = asked;
  const std::size_t devices = program.devices.size();
  for (std::size_t i = 0; i < devices; ++i) {
    if ((program.queues[i]->lost() || others[i]) && devices_of(schedule, devices)[i])
      schedule = without_device(schedule, program.processor, program.devices, i);
  }
  if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads(), devices);
  const auto known = std::ranges::find(program.plans, schedule, &Plan::schedule);
  if (known != program.plans.end()) return &*known;
  Plan& plan = program.plans.emplace_back();
  try {
    plan.schedule = schedule;
    plan.segments = segments_of(schedule, program.processor.stages().size());
    plan.dealt = dealt_devices(schedule, devices);
    if (schedule.split > 0) plan.partitions = device_partitions(schedule, devices);
    build_nodes(program, plan);
  } catch (...) {
    program.plans.pop_back();
    throw;
  }
  return &plan;
}

void Session::Impl::set_schedule(Program& program, const Schedule& schedule) {
  check_schedule(schedule, program.processor, program.devices);
  {
    const std::lock_guard lock(mutex_);
    program.plan = plan_for(program, schedule);
  }
  admit_waiting(program);
}

void Session::Impl::wait_until_ready(Program& program) {
  const Schedule schedule = program.plan.load()->schedule;
  const DeviceSet used = devices_of(schedule, program.devices.size());
  for (std::size_t i = 0; i < program.queues.size(); ++i) {
    if (!used[i] || program.queues[i]->lost()) continue;
    try {
      program.devices[i].wait_until_ready(static_cast<std::size_t>(std::max(schedule.batch, 1)));
    } catch (const std::exception& e) {
      program.queues[i]->disable(e.what());
    }
  }
}

void Session::Impl::lose_device(const ComputeDevice& device, const std::string& error) {
  bool others = false;
  std::string name = device.name();
  {
    const std::lock_guard lock(mutex_);
    for (Program& program : programs_) {
      const auto queue =
          std::ranges::find_if(program.queues, [&](const auto* one) { return &one->device() == &device; });
      if (queue == program.queues.end() || !program.plan.load()) continue;
      name = (*queue)->name();
      program.plan = plan_for(program, program.plan.load()->schedule);
      others = others || program.plan.load()->schedule.uses_device();
    }
    note({Event::Kind::device_lost, {}, error}, nullptr);
  }
  if (others) {
    logger().warn("{}. The device '{}' is disabled: the others search this frame and all later ones", error,
                  name);
  } else {
    logger().warn("{}. The device is disabled: the CPU searches this frame and all later ones", error);
  }
}

TraceInfo Session::Impl::trace_info(const Program& program) const {
  TraceInfo info;
  for (const StageInfo& stage : program.processor.stages()) info.stages.emplace_back(stage.name);
  info.processors.push_back("CPU, " + std::to_string(threads()) + (threads() == 1 ? " thread" : " threads"));
  for (const DispatchQueue* queue : program.queues) info.processors.push_back(queue->name());
  const auto settings = program.processor.operating_points();
  info.settings.assign(settings.begin(), settings.end());
  info.slots = program.plan.load()->schedule.in_flight;
  info.start = now_ns();
  return info;
}

// --- streams -----------------------------------------------------------------------------------------------

// A state for a stream that nothing uses. Call it with the mutex held.
StreamState& Session::Impl::free_state() {
  if (free_states_.empty()) {
    free_states_.reserve(states_.size() + 1);  // to give it back must not need memory
    StreamState& made = states_.emplace_back();
    try {
      build_nodes(made);
    } catch (...) {
      states_.pop_back();
      throw;
    }
    free_states_.push_back(&made);
  }
  StreamState& s = *free_states_.back();
  free_states_.pop_back();
  return s;
}

std::vector<StreamId> Session::Impl::add(Program& program, std::span<const Stream> streams) {
  std::ranges::for_each(streams, check);
  Lock lock(mutex_);
  if (running_ == 0) {
    lock.unlock();
    for (DispatchQueue* queue : program.queues) queue->set_clock();
    lock.lock();
  }
  std::vector<StreamId> ids;
  std::vector<StreamState*> added;
  try {
    added.reserve(streams.size());
    program.streams.reserve(program.streams.size() + streams.size());
    for (const Stream& stream : streams) {
      StreamState& s = *added.emplace_back(&free_state());
      s.id = ids.emplace_back(StreamId{next_stream_++});
      s.stream = stream;
      s.program = &program;
      s.share = program.share;
      s.due = 0;
      s.is_parked = true;
      s.is_ending = s.has_ended = s.is_done = s.was_stopped = s.is_starved = s.discards = false;
      s.error = nullptr;
      s.info = trace_info(program);
      s.accounts.emplace(s.info).total = stream.source->frames();
      s.reading = stream.source->reading();
      s.tiled.reset();
      if (stream.tiles) s.tiled.emplace(*stream.tiles);
      streams_.emplace(s.id, &s);
    }
  } catch (...) {
    for (const StreamId id : ids) streams_.erase(id);
    free_states_.insert(free_states_.end(), added.begin(), added.end());
    throw;
  }
  program.streams.insert(program.streams.end(), added.begin(), added.end());
  running_ += added.size();
  changed_.notify_all();
  lock.unlock();
  for (StreamState* s : added) s->stream.source->on_announcement([this, s] { announced(*s); });
  admit_waiting(program);
  return ids;
}

StreamState& Session::Impl::state(StreamId id) const {
  const auto known = streams_.find(id);
  if (known != streams_.end()) return *known->second;
  throw Error(ExitCode::usage, fmt::format("the session has no stream {}", static_cast<std::uint64_t>(id)));
}

void Session::Impl::set_rate(StreamId id, double rate) {
  const std::lock_guard lock(mutex_);
  StreamState& s = state(id);
  Stream changed;
  changed.name = s.stream.name;
  changed.rate = rate;
  check(changed);
  s.stream.rate = rate;
  s.due = 0;
  changed_.notify_all();
}

RunReport Session::Impl::report(StreamId id) const {
  const std::lock_guard lock(mutex_);
  return report_of(state(id));
}

bool Session::Impl::is_done(StreamId id) const {
  const std::lock_guard lock(mutex_);
  return state(id).is_done;
}

RunReport Session::Impl::report_of(StreamState& s) {
  const std::lock_guard lock(s.accounts_mutex);
  return s.accounts->report();
}

RunReport Session::Impl::wait(StreamId id, bool ends_it) {
  Lock lock(mutex_);
  StreamState& s = state(id);
  if (ends_it) {
    s.is_ending = s.was_stopped = true;
    lock.unlock();
    admit_waiting(*s.program);
    lock.lock();
  }
  changed_.wait(lock, [&] { return s.is_done; });
  lock.unlock();
  s.stream.source->on_announcement(nullptr);
  lock.lock();
  const std::exception_ptr error = s.stream.fails_alone ? nullptr : s.error;
  RunReport report = report_of(s);
  report.error = s.error;
  report.decode_errors = s.stream.source->decode_errors();
  report.stopped = s.was_stopped || (s.stream.stop && s.stream.stop->load());
  s.stream = {};
  streams_.erase(id);
  free_states_.push_back(&s);
  lock.unlock();
  if (error) std::rethrow_exception(error);
  return report;
}

// An error of a source or a sink. Call it with the mutex held.
void Session::Impl::end_with(StreamState& s, std::exception_ptr error, bool delivers) noexcept {
  if (!s.error) s.error = std::move(error);
  for (const auto& [id, other] : streams_) {
    if (other != &s && s.stream.fails_alone) continue;
    other->is_ending = true;
    if (!delivers) other->discards = true;
  }
}

void Session::Impl::end_all() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, s] : streams_) s->is_ending = s->was_stopped = true;
  changed_.notify_all();
}

// --- while it runs -----------------------------------------------------------------------------------------

// Call it with the mutex held.
void Session::Impl::note(Event event, const std::exception_ptr& error) noexcept try {
  if (events_.size() >= kMostEvents) events_.pop_front();
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& e) {
    set_message(event.message, e.what());
  } catch (...) {
    event.message = "an unknown error";
  }
  events_.push_back(std::move(event));
  changed_.notify_all();
} catch (const std::bad_alloc&) {  // reports and `wait` tell it, too
}

std::optional<Event> Session::Impl::next_event(std::chrono::milliseconds timeout) {
  Lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [&] { return !events_.empty(); })) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

// The session's own thread, for what nobody else notices.
void Session::Impl::keep(const std::stop_token& stop) {
  Lock lock(mutex_);
  std::int64_t looked = 0;
  while (!stop.stop_requested()) {
    if (!changed_.wait(lock, stop, [&] { return running_ > 0; })) return;
    std::int64_t due = now_ns() + std::chrono::nanoseconds(kKeeperInterval).count();
    for (const auto& [id, s] : streams_) {
      if (s->is_parked && s->due > looked) due = std::min(due, s->due);  // else it waits for a slot
    }
    changed_.wait_for(lock, stop, std::chrono::nanoseconds(due - now_ns()), [] { return false; });
    lock.unlock();
    looked = now_ns();
    look_after_all();
    lock.lock();
  }
}

void Session::Impl::look_after_all() noexcept {
  try {
    const std::lock_guard adding(add_mutex_);
    for (const auto& queue : queues_) {
      queue->watch();
      if (queue->can_set_clock()) queue->set_clock();
    }
  } catch (...) {  // frames are still on their way: this goes on until they are here
    const std::lock_guard lock(mutex_);
    for (const auto& [id, s] : streams_) end_with(*s, std::current_exception(), false);
  }
  pool_->relieve();
  for (std::size_t i = 0;; ++i) {
    Program* program = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (i >= programs_.size()) return;
      program = &programs_[i];
      for (StreamState* s : program->streams) end_starvation(*s);  // flags that end a source make no noise
    }
    admit_waiting(*program);
  }
}

// --- the interface -----------------------------------------------------------------------------------------

Session::Session(const SessionOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Session::~Session() = default;
int Session::threads() const {
  return impl_->threads();
}
ProgramId Session::add(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule) {
  return impl_->add(processor, devices, schedule);
}
Schedule Session::schedule(ProgramId program) const {
  return impl_->program(program).plan.load()->schedule;
}
void Session::set_schedule(ProgramId program, const Schedule& schedule) {
  impl_->set_schedule(impl_->program(program), schedule);
}
std::size_t Session::setting(ProgramId program) const {
  return impl_->program(program).setting;
}
void Session::set_setting(ProgramId program, std::size_t setting) {
  Program& one = impl_->program(program);
  const std::size_t count = std::max<std::size_t>(one.processor.operating_points().size(), 1);
  if (setting >= count) {
    throw Error(ExitCode::usage,
                "there is no setting " + std::to_string(setting + 1) + ", but " + std::to_string(count));
  }
  one.setting = setting;
}
void Session::wait_until_ready(ProgramId program) {
  impl_->wait_until_ready(impl_->program(program));
}

bool Session::device_lost(ProgramId program) const {
  return std::ranges::any_of(impl_->program(program).queues,
                             [](const DispatchQueue* queue) { return queue->lost(); });
}
TraceInfo Session::trace_info(ProgramId program) const {
  return impl_->trace_info(impl_->program(program));
}
std::vector<StreamId> Session::add(ProgramId program, std::span<const Stream> streams) {
  return impl_->add(impl_->program(program), streams);
}
void Session::set_rate(StreamId stream, double rate) {
  impl_->set_rate(stream, rate);
}
RunReport Session::report(StreamId stream) const {
  return impl_->report(stream);
}
bool Session::is_done(StreamId stream) const {
  return impl_->is_done(stream);
}
RunReport Session::wait(StreamId stream) {
  return impl_->wait(stream, false);
}
RunReport Session::remove(StreamId stream) {
  return impl_->wait(stream, true);
}
std::optional<Event> Session::next_event(std::chrono::milliseconds timeout) {
  return impl_->next_event(timeout);
}

}  // namespace sightline::pipeline
