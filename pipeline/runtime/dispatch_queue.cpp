#include "pipeline/runtime/dispatch_queue.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/message.hpp"
#include "pipeline/runtime/now.hpp"

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

DispatchQueue::DispatchQueue(const FrameProcessor& processor, const DeviceStages& stages, std::size_t number,
                             std::string name, const Options& options, flow::graph& graph, Step& step,
                             std::function<void(const std::string& error)> on_loss)
    : processor_(processor),
      stages_(stages),
      compiler_(dynamic_cast<const CompilingDevice*>(&stages.device())),
      number_(number),
      name_(std::move(name)),
      failure_("'" + name_ + "' failed during a frame"),
      options_(options),
      most_together_(stages.most_together()),
      on_loss_(std::move(on_loss)) {
  submit_ =
      std::make_unique<Submit>(graph, flow::serial, [this](Batch* batch, Submit::gateway_type& gateway) {
        gateway_ = &gateway;
        for (std::size_t i = 0; i < batch->size; ++i) gateway.reserve_wait();
        submit(*batch);
      });
  flow::make_edge(*submit_, step);
  const bool unified = stages_.device().info().unified_memory;
  // If copies are needed, those of one frame overlap with the kernels of another.
  limit_ = unified ? 1 : 6;
  waiting_.reserve(64);
  polled_.reserve(64);
  try {
    clock_queue_ = stages_.device().make_queue();
  } catch (const std::exception& e) {
    disable(e.what());
  }
  if (options_.poll || !unified) poller_ = std::jthread([this](const std::stop_token& stop) { poll(stop); });
}

void DispatchQueue::device_answered(Slot& slot, bool failed) noexcept {
  DevicePart& part = slot.parts[number_];
  if (failed && part.error.empty()) part.failed = true;
  gateway_.load()->try_put(Token{&slot, static_cast<int>(number_)});
  gateway_.load()->release_wait();
}

void DispatchQueue::hand_over(Slot& slot) {
  slot.parts[number_].ready = now_ns();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&slot);
  }
  submit_next();
}

void DispatchQueue::submit_next() {
  while (Batch* const batch = take_batch()) submit_->try_put(batch);
}

// Frames that are submitted now; null if none should be. Only as many are at work as keep the device busy;
// more would only compete. The frame that waits longest decides: no later one overtakes it.
Batch* DispatchQueue::take_batch() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return nullptr;
  const Slot& first = *waiting_.front();
  const std::size_t largest = largest_batch(first);
  // One batch is at work, and one follows it.
  if (at_work_ >= (largest > 1 ? std::min(limit_, 2) : limit_)) return nullptr;
  if (largest > 1 && at_work_ > 0) {
    const auto count = std::ranges::count_if(waiting_, [&](Slot* slot) { return go_together(first, *slot); });
    if (static_cast<std::size_t>(count) < largest) return nullptr;
  }
  Batch& batch = free_batch();
  std::erase_if(waiting_, [&](Slot* slot) {
    const bool joins = batch.slots.empty() || (batch.slots.size() < largest && go_together(first, *slot));
    if (joins) batch.slots.push_back(slot);
    return joins;
  });
  batch.size = batch.unanswered = batch.slots.size();
  batch.users = batch.size + 1;
  for (Slot* const slot : batch.slots) slot->parts[number_].batch = &batch;
  ++at_work_;
  return &batch;
}

// Call it with the mutex held.
Batch& DispatchQueue::free_batch() {
  const auto known = std::ranges::find_if(batches_, [](const auto& batch) { return batch->users == 0; });
  Batch& batch = known != batches_.end() ? **known : *batches_.emplace_back(std::make_unique<Batch>());
  batch.slots.clear();
  batch.seconds = 0;
  return batch;
}

std::size_t DispatchQueue::largest_batch(const Slot& slot) const {
  if (slot.is_split()) return 1;
  return std::min(static_cast<std::size_t>(slot.plan->schedule.batch), most_together_);
}

// Whether the device does the same for both frames.
bool DispatchQueue::go_together(const Slot& a, const Slot& b) const {
  return a.plan == b.plan && a.handed.first == b.handed.first && a.handed.last == b.handed.last &&
         a.dealt == b.dealt && a.setting == b.setting;
}

// The body of the graph's asynchronous node: whatever happens, exactly one answer to each frame follows.
void DispatchQueue::submit(Batch& batch) {
  std::string error;
  for (Slot* const slot : batch.slots) {
    DevicePart& part = slot->parts[number_];
    part.outstanding->open(*this, *slot);
    part.slot->done = {};
  }
  const std::uint64_t launches = first_launches();
  try {
    if (lost_) throw Error(ExitCode::failed, "'" + name_ + "' was disabled");
    frames_.clear();
    for (Slot* const slot : batch.slots)
      frames_.push_back({slot->parts[number_].slot.get(), &slot->device_workspace(number_)});
    const Segment segment = batch.slots.front()->device_segment(processor_);
    stages_.submit(frames_, segment.first, segment.last, SubmitParts::all);
  } catch (const std::exception& e) {
    set_message(error, e.what());
  }
  const bool is_first = first_launches() != launches;
  for (Slot* const slot : batch.slots) {
    DevicePart& part = slot->parts[number_];
    part.is_first = is_first;
    // The device may have got some of the frames before the error: it answers those.
    if (error.empty() || (batch.size > 1 && part.slot->done)) {
      expect_answer(*slot);
    } else {
      set_message(part.error, error);
      part.outstanding->complete(true);
    }
  }
  leave(batch);
}

void DispatchQueue::expect_answer(Slot& slot) {
  DevicePart& part = slot.parts[number_];
  Outstanding& outstanding = *part.outstanding;
  try {
    if (poller_.joinable()) {
      const std::lock_guard lock(mutex_);
      polled_.push_back(&slot);
      poll_.notify_one();
    } else {
      part.slot->done.on_complete(outstanding, name_);
    }
    outstanding.start_clock();  // not before: the watchdog must not find the slot half submitted
  } catch (const std::exception& e) {
    set_message(part.error, e.what());
    outstanding.complete(true);
  }
}

void DispatchQueue::take_back(Slot& slot) {
  DevicePart& part = slot.parts[number_];
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
      stages_.complete(*part.slot, slot.device_workspace(number_));
      log_spans(slot);
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

void DispatchQueue::disable(const std::string& error) {
  if (!lost_.exchange(true)) on_loss_(error);
}

void DispatchQueue::log_spans(Slot& slot) {
  DevicePart& part = slot.parts[number_];
  const bool split = slot.plan->schedule.split > 0;
  const auto processor = static_cast<std::uint8_t>(number_ + 1);
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
        DevicePart& part = polled_[i]->parts[number_];
        const DeviceEvent::State state = part.slot->done.state();
        if (state == DeviceEvent::State::running) {
          ++i;
          continue;
        }
        polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(i));
        part.outstanding->complete(state == DeviceEvent::State::failed);
      }
    }
    std::this_thread::sleep_for(kInterval);
  }
}

// Seconds that frames have on the device. They wait for compilers as well: for kernels that are launched for
// the first time, and for programs that are built meanwhile. Call it with the mutex held.
double DispatchQueue::limit_now(const std::vector<std::unique_ptr<Slot>>& slots) {
  if (!compiler_) return options_.stall_limit;
  const bool launches_first = std::ranges::any_of(slots, [&](const std::unique_ptr<Slot>& slot) {
    const DevicePart& part = slot->parts[number_];
    return part.outstanding->open_since() && part.is_first;
  });
  if (!launches_first) compiling_.reset();
  if (launches_first && !compiling_) compiling_ = compiler_->compiling();
  if (!compiler_->is_compiling()) return options_.stall_limit;
  compiled_until_ = now_ns();
  const bool is_cpu = stages_.device().info().type == DeviceType::cpu;
  return options_.stall_limit * (is_cpu ? kLongerOnCpus : kLongerElsewhere);
}

// A device that does not answer must not stall the run. One that is disabled may still have frames.
void DispatchQueue::watch(const std::vector<std::unique_ptr<Slot>>& slots) {
  const std::lock_guard lock(mutex_);
  const double seconds = limit_now(slots);
  const bool compiles = seconds != options_.stall_limit;
  const auto limit = static_cast<std::int64_t>(1e9 * seconds);
  for (const std::unique_ptr<Slot>& slot : slots) {
    DevicePart& part = slot->parts[number_];
    const auto since = part.outstanding->open_since();
    if (!since) continue;
    const std::int64_t start = compiles ? *since : std::max(*since, compiled_until_);
    if (now_ns() - start < limit) continue;
    auto next = std::make_unique<Outstanding>();
    std::string stage = "a copy";
    for (const DeviceSpan& span : part.slot->spans) {
      if (span.end().state() == DeviceEvent::State::complete) continue;
      if (span.kind == DeviceSpan::Kind::stage)
        stage = "stage '" + std::string(processor_.stages()[span.stage].name) + "'";
      break;
    }
    std::string error = fmt::format("{} on '{}' has not finished within {:g} s", stage, name_, seconds);
    if (!part.outstanding->close()) continue;  // only now: once closed, it must be answered here
    part.error = std::move(error);
    part.abandoned = true;
    polled_.erase(std::remove(polled_.begin(), polled_.end(), slot.get()), polled_.end());
    leak_deliberately(part.outstanding.release());  // a late answer may still come
    part.outstanding = std::move(next);
    device_answered(*slot, true);
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

bool DispatchQueue::can_set_clock(const std::vector<std::unique_ptr<Slot>>& slots) const {
  if (lost_ || !clock_.stale()) return false;
  return std::ranges::none_of(slots, [&](const std::unique_ptr<Slot>& slot) {
    const auto since = slot->parts[number_].outstanding->open_since();
    return since && now_ns() - *since > 500'000'000;
  });
}

}  // namespace sightline::pipeline
