#include "pipeline/session/dispatch_queue.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/message.hpp"
#include "pipeline/session/now.hpp"
#include "pipeline/session/session_impl.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

namespace {

// A compiler on a busy machine needs minutes, and a GPU's driver compiles most when programs are built.
constexpr double kLongerOnCpus = 40, kLongerElsewhere = 4;

}  // namespace

void leak_deliberately(const void* object) noexcept try {
  static std::mutex mutex;
  static auto* const kept = new std::vector<const void*>;
  const std::lock_guard lock(mutex);
  kept->push_back(object);
} catch (const std::bad_alloc&) {  // no longer found, but still alive
}

DispatchQueue::DispatchQueue(const ComputeDevice& device, std::string name, const Options& options,
                             flow::graph& graph, std::function<void(const std::string& error)> on_loss)
    : device_(device),
      compiler_(dynamic_cast<const CompilingDevice*>(&device)),
      name_(std::move(name)),
      failure_("'" + name_ + "' failed during a frame"),
      options_(options),
      on_loss_(std::move(on_loss)),
      submissions_(graph, flow::serial, [this](Batch* batch) {
        enqueue(*batch);
        return flow::continue_msg();
      }) {
  const bool unified = device_.info().unified_memory;
  // If copies are needed, those of one frame overlap with the kernels of another.
  limit_ = unified ? 1 : 6;
  waiting_.reserve(64);
  polled_.reserve(64);
  try {
    clock_queue_ = device_.make_queue();
  } catch (const std::exception& e) {
    disable(e.what());
  }
  if (options_.poll || !unified) poller_ = std::jthread([this](const std::stop_token& stop) { poll(stop); });
}

void DispatchQueue::device_answered(DevicePart& part, bool failed) noexcept {
  if (failed && part.error.empty()) part.failed = true;
  DeviceNode::gateway_type& gateway = *part.gateway;
  gateway.try_put(&part);
  gateway.release_wait();
}

void DispatchQueue::watch_part(DevicePart& part) {
  const std::lock_guard lock(mutex_);
  parts_.push_back(&part);
}

void DispatchQueue::submit(DevicePart& part) {
  part.ready = now_ns();
  part.gateway->reserve_wait();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&part);
  }
  submit_next();
}

void DispatchQueue::submit_next() {
  while (Batch* const batch = take_batch()) submissions_.try_put(batch);
}

// Frames that are submitted now; null if none should be. Only as many are at work as keep the device busy;
// more would only compete. The frame that waits longest decides: no later one overtakes it.
Batch* DispatchQueue::take_batch() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  const DevicePart& first = *waiting_.front();
  const std::size_t largest = largest_batch(first);
  // One batch is at work, and one follows it.
  if (at_work_ >= (largest > 1 ? std::min(limit_, 2) : limit_)) return nullptr;
  if (largest > 1 && at_work_ > 0) {
    const auto count =
        std::ranges::count_if(waiting_, [&](DevicePart* part) { return go_together(first, *part); });
    if (static_cast<std::size_t>(count) < largest) return nullptr;
  }
  Batch& batch = free_batch();
  std::erase_if(waiting_, [&](DevicePart* part) {
    const bool joins = batch.parts.empty() || (batch.parts.size() < largest && go_together(first, *part));
    if (joins) batch.parts.push_back(part);
    return joins;
  });
  batch.size = batch.unanswered = batch.parts.size();
  batch.users = batch.size + 1;
  for (DevicePart* const part : batch.parts) part->batch = &batch;
  ++at_work_;
  return &batch;
}

// Call it with the mutex held.
Batch& DispatchQueue::free_batch() {
  const auto known = std::ranges::find_if(batches_, [](const auto& batch) { return batch->users == 0; });
  Batch& batch = known != batches_.end() ? **known : *batches_.emplace_back(std::make_unique<Batch>());
  batch.parts.clear();
  batch.seconds = 0;
  return batch;
}

std::size_t DispatchQueue::largest_batch(const DevicePart& part) {
  if (part.frame->is_split()) return 1;
  return std::min(static_cast<std::size_t>(part.frame->plan->schedule.batch), part.stages().most_together());
}

// Whether the device does the same for both frames.
bool DispatchQueue::go_together(const DevicePart& a, const DevicePart& b) {
  return &a.stages() == &b.stages() && a.segment.first == b.segment.first &&
         a.segment.last == b.segment.last && a.mapping == b.mapping && a.frame->setting == b.frame->setting &&
         !b.frame->is_split();
}

// Whatever happens, exactly one answer to each frame follows.
void DispatchQueue::enqueue(Batch& batch) {
  std::string error;
  for (DevicePart* const part : batch.parts) {
    part->pending->open(*this, *part);
    part->slot->done = {};
  }
  const std::uint64_t launches = first_launches();
  try {
    if (lost_) throw Error(ExitCode::failed, "'" + name_ + "' was disabled");
    frames_.clear();
    for (DevicePart* const part : batch.parts) frames_.push_back({part->slot.get(), &part->workspace()});
    const DevicePart& first = *batch.parts.front();
    first.stages().submit(frames_, first.segment.first, first.segment.last, SubmitParts::all);
  } catch (const std::exception& e) {
    set_message(error, e.what());
  }
  const bool is_first = first_launches() != launches;
  for (DevicePart* const part : batch.parts) {
    part->is_first = is_first;
    // The device may have got some of the frames before the error: it answers those.
    if (error.empty() || (batch.size > 1 && part->slot->done)) {
      expect_answer(*part);
    } else {
      set_message(part->error, error);
      part->pending->complete(true);
    }
  }
  leave(batch);
}

void DispatchQueue::expect_answer(DevicePart& part) {
  PendingSubmission& pending = *part.pending;
  try {
    if (poller_.joinable()) {
      const std::lock_guard lock(mutex_);
      polled_.push_back(&part);
      poll_.notify_one();
    } else {
      part.slot->done.on_complete(pending, name_);
    }
    pending.start_clock();  // not before: the watchdog must not find the slot half submitted
  } catch (const std::exception& e) {
    set_message(part.error, e.what());
    pending.complete(true);
  }
}

void DispatchQueue::complete(DevicePart& part) {
  Batch& batch = *part.batch;
  if (part.failed) set_message(part.error, failure_);
  if (!part.error.empty()) disable(part.error);  // before it gets the next one
  {
    const std::lock_guard lock(mutex_);
    if (--batch.unanswered == 0) --at_work_;
    compiling_.reset();
  }
  submit_next();
  try {
    if (part.error.empty()) {
      if (part.is_first) compiler_->launches_succeeded();
      part.stages().complete(*part.slot, part.workspace());
      log_spans(part);
    }
  } catch (const std::exception& e) {
    set_message(part.error, e.what());
    disable(part.error);
  }
  leave(batch);
}

// The last to leave has the batch's time on the device.
void DispatchQueue::leave(Batch& batch) {
  const std::lock_guard lock(mutex_);
  if (--batch.users > 0) return;
  throughput_.add(batch.seconds, batch.size);
  seconds_ = throughput_.seconds_a_frame();
}

void DispatchQueue::pass_over() {
  if (load_ > 0) return;
  const std::lock_guard lock(mutex_);
  throughput_.pass_over();
  seconds_ = throughput_.seconds_a_frame();
}

void DispatchQueue::disable(const std::string& error) {
  if (!lost_.exchange(true)) on_loss_(error);
}

void DispatchQueue::log_spans(DevicePart& part) {
  const bool split = part.frame->is_split();
  const auto processor = static_cast<std::uint8_t>(part.device + 1);
  const std::uint8_t partition = split ? processor : 0;
  const std::size_t before = part.spans.size();
  for (const DeviceSpan& one : part.slot->spans) {
    const auto host = [&](std::uint64_t device_ns) {
      return clock_.to_host(device_ns).time_since_epoch().count();
    };
    const std::int64_t start = host(one.first.times(name_).started);
    const std::int64_t end = host(one.end().times(name_).ended);
    const auto stage = static_cast<std::uint8_t>(one.stage);
    const Activity activity = one.kind == DeviceSpan::Kind::upload     ? Activity::upload
                              : one.kind == DeviceSpan::Kind::download ? Activity::download
                                                                       : Activity::run;
    part.spans.push_back({activity, stage, processor, partition, start, end, 0, one.frames});
  }
  const std::span<const Span> added = std::span(part.spans).subspan(before);
  if (added.empty()) return;
  if (!split) {
    const std::lock_guard lock(mutex_);
    part.batch->seconds += throughput_.busy(added);
  }
  // Several queues list their spans one after the other: the first of all need not be the first listed.
  const Span first = *std::ranges::min_element(added, {}, &Span::start);
  part.spans.push_back(
      {Activity::wait, first.stage, processor, partition, part.ready, std::max(part.ready, first.start), 0});
}

// Drivers of devices with memory of their own were seen to call back twenty milliseconds after the end of a
// large copy (NVIDIA 580). Asking costs nothing there, so a thread asks while frames are on the device. It
// never waits for it.
void DispatchQueue::poll(const std::stop_token& stop) {
  constexpr auto kInterval = 25us;
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds: sleeps are as short as asked for
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!poll_.wait(lock, stop, [&] { return !polled_.empty(); })) return;
      for (std::size_t i = 0; i < polled_.size();) {
        DevicePart& part = *polled_[i];
        const DeviceEvent::State state = part.slot->done.state();
        if (state == DeviceEvent::State::running) {
          ++i;
          continue;
        }
        polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
        part.pending->complete(state == DeviceEvent::State::failed);
      }
    }
    std::this_thread::sleep_for(kInterval);
  }
}

// Seconds that frames have on the device. They wait for compilers as well: for kernels that are launched for
// the first time, and for programs that are built meanwhile. Call it with the mutex held.
double DispatchQueue::limit_now() {
  if (!compiler_) return options_.stall_limit;
  const bool launches_first = std::ranges::any_of(
      parts_, [](const DevicePart* part) { return part->pending->open_since() && part->is_first; });
  if (!launches_first) compiling_.reset();
  if (launches_first && !compiling_) compiling_ = compiler_->compiling();
  if (!compiler_->is_compiling()) return options_.stall_limit;
  compiled_until_ = now_ns();
  const bool is_cpu = device_.info().type == DeviceType::cpu;
  return options_.stall_limit * (is_cpu ? kLongerOnCpus : kLongerElsewhere);
}

// A device that does not answer must not stall the run. One that is disabled may still have frames.
void DispatchQueue::watch() {
  const std::lock_guard lock(mutex_);
  const double seconds = limit_now();
  const bool compiles = seconds != options_.stall_limit;
  const auto limit = static_cast<std::int64_t>(1e9 * seconds);
  for (DevicePart* const part : parts_) {
    const auto since = part->pending->open_since();
    if (!since) continue;
    const std::int64_t start = compiles ? *since : std::max(*since, compiled_until_);
    if (now_ns() - start < limit) continue;
    auto next = std::make_unique<PendingSubmission>();
    std::string stage = "a copy";
    for (const DeviceSpan& span : part->slot->spans) {
      if (span.end().state() == DeviceEvent::State::complete) continue;
      if (span.kind == DeviceSpan::Kind::stage) {
        const auto stages = part->frame->program.processor.stages();
        stage = "stage '" + std::string(stages[span.stage].name) + "'";
      }
      break;
    }
    std::string error = fmt::format("{} on '{}' has not finished within {:g} s", stage, name_, seconds);
    if (!part->pending->close()) continue;  // only now: once closed, it must be answered here
    part->error = std::move(error);
    part->abandoned = true;
    std::erase(polled_, part);
    leak_deliberately(part->pending.release());  // a late answer may still come
    part->pending = std::move(next);
    device_answered(*part, true);
  }
}

void DispatchQueue::set_clock() {
  if (lost_) return;
  try {
    clock_.synchronise(*clock_queue_);
  } catch (const std::exception& e) {
    disable(e.what());
  }
}

bool DispatchQueue::can_set_clock() {
  if (lost_ || !clock_.stale()) return false;
  const std::lock_guard lock(mutex_);
  return std::ranges::none_of(parts_, [](const DevicePart* part) {
    const auto since = part->pending->open_since();
    return since && now_ns() - *since > 500'000'000;
  });
}

}  // namespace sightline::pipeline
