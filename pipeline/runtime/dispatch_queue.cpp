#include "pipeline/runtime/dispatch_queue.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/message.hpp"
#include "pipeline/runtime/now.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

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
      number_(number),
      name_(std::move(name)),
      failure_("'" + name_ + "' failed during a frame"),
      options_(options),
      on_loss_(std::move(on_loss)) {
  submit_ = std::make_unique<Submit>(graph, flow::serial, [this](Token token, Submit::gateway_type& gateway) {
    gateway_ = &gateway;
    gateway.reserve_wait();
    submit(*token.slot);
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

// Submits only as many frames at once as keep the device busy; more would only compete.
void DispatchQueue::hand_over(Slot& slot) {
  slot.parts[number_].ready = now_ns();
  {
    const std::lock_guard lock(mutex_);
    if (at_work_ >= limit_) {
      waiting_.push_back(&slot);
      return;
    }
    ++at_work_;
  }
  submit_->try_put({&slot});
}

void DispatchQueue::next() {
  Slot* next = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      --at_work_;
      return;
    }
    next = waiting_.front();
    waiting_.erase(waiting_.begin());
  }
  submit_->try_put({next});
}

// The body of the graph's asynchronous node: whatever happens, exactly one answer follows.
void DispatchQueue::submit(Slot& slot) {
  DevicePart& part = slot.parts[number_];
  Outstanding& outstanding = *part.outstanding;
  outstanding.open(*this, slot);
  try {
    if (lost_) throw Error(ExitCode::failed, "'" + name_ + "' was disabled");
    const Segment segment = slot.device_segment(processor_);
    stages_.submit(*part.slot, slot.device_workspace(number_), segment.first, segment.last);
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
  if (part.failed) set_message(part.error, failure_);
  if (!part.error.empty()) disable(part.error);  // before it gets the next one
  next();
  if (!part.error.empty()) return;
  try {
    stages_.complete(*part.slot, slot.device_workspace(number_));
    log_spans(slot);
  } catch (const std::exception& e) {
    set_message(part.error, e.what());
    disable(part.error);
  }
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
    part.spans.push_back({activity, stage, processor, partition, start, end, 0});
  }
  const std::span<const Span> added = std::span(part.spans).subspan(before);
  if (added.empty()) return;
  if (!split) {
    const std::lock_guard lock(mutex_);
    throughput_.add(added);
    seconds_ = throughput_.seconds_a_frame();
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

// A device that does not answer must not stall the run. One that is disabled may still have frames.
void DispatchQueue::watch(const std::vector<std::unique_ptr<Slot>>& slots) {
  const auto limit = static_cast<std::int64_t>(1e9 * options_.stall_limit);
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Slot>& slot : slots) {
    DevicePart& part = slot->parts[number_];
    const auto since = part.outstanding->open_since();
    if (!since || now_ns() - *since < limit) continue;
    auto next = std::make_unique<Outstanding>();
    std::string stage = "a copy";
    for (const DeviceSpan& span : part.slot->spans) {
      if (span.end().state() == DeviceEvent::State::complete) continue;
      if (span.kind == DeviceSpan::Kind::stage)
        stage = "stage '" + std::string(processor_.stages()[span.stage].name) + "'";
      break;
    }
    std::string error =
        fmt::format("{} on '{}' has not finished within {:g} s", stage, name_, options_.stall_limit);
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
