// The pipeline's dealings with the device: handing frames over, learning of their end, and giving it up.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <algorithm>
#include <mutex>

#include "base/error.hpp"
#include "pipeline/pipeline_impl.hpp"

namespace sightline::pipeline {

using namespace std::chrono_literals;

void keep_forever(const void* object) noexcept try {
  static std::mutex mutex;
  static auto* const kept = new std::vector<const void*>;
  const std::lock_guard lock(mutex);
  kept->push_back(object);
} catch (const std::bad_alloc&) {  // nobody finds it any more, but it is still there
}

void Pipeline::Impl::device_answered(Slot& slot, bool failed) noexcept {
  if (failed && slot.device_error.empty()) slot.device_failed = true;
  gateway_.load()->try_put(Token{&slot, true});
  gateway_.load()->release_wait();
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
    if (device_lost_) throw Error(ExitCode::failed, "the device was disabled");
    const bool split = slot.plan->schedule.split > 0;
    const Segment segment =
        split ? Segment{true, 0, processor_.partitionable_stages()} : slot.plan->segments[slot.segment];
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
    set_message(slot.device_error, e.what());
    outstanding.complete(true);
  }
}

void Pipeline::Impl::back_from_device(Slot& slot) {
  if (slot.device_failed) set_message(slot.device_error, device_failure_);
  if (!slot.device_error.empty()) disable_device(slot.device_error);  // before it gets the next one
  next_to_device();
  if (slot.device_error.empty()) {
    try {
      device_->complete(*slot.device, slot.device_workspace());
      log_device_spans(slot);
    } catch (const std::exception& e) {
      set_message(slot.device_error, e.what());
    }
  }
  if (slot.plan->schedule.split > 0) {
    partition_done(slot);
  } else if (!slot.device_error.empty()) {
    retry_on_cpu(slot, slot.device_error);
  } else {
    slot.ready[0] = now_ns();
    ++slot.segment;
    run_segments(slot);
  }
}

void Pipeline::Impl::disable_device(const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    if (device_lost_.exchange(true)) return;
    plan_ = &cpu_plan_;
    changed_.notify_all();
  }
  spdlog::warn("{}. The device is disabled: this frame and all that follow are searched on the CPU", error);
}

void Pipeline::Impl::log_device_spans(Slot& slot) {
  const std::string& name = device_->context().name();
  const std::uint8_t partition = slot.plan->schedule.split > 0;
  std::vector<Span>& spans = slot.spans[partition];
  std::int64_t ready = slot.ready[partition];
  bool first = true;
  for (const DeviceSpan& part : slot.device->spans) {
    const auto host = [&](std::uint64_t device_ns) {
      return clock_.to_host(device_ns).time_since_epoch().count();
    };
    const std::int64_t start = host(part.first.times(name).started);
    const std::int64_t end = host(part.end().times(name).ended);
    const auto stage = static_cast<std::uint8_t>(part.stage);
    if (std::exchange(first, false))
      spans.push_back({Activity::wait, stage, 1, partition, ready, std::max(ready, start), 0});
    const Activity activity = part.kind == DeviceSpan::Kind::upload     ? Activity::upload
                              : part.kind == DeviceSpan::Kind::download ? Activity::download
                                                                        : Activity::run;
    spans.push_back({activity, stage, 1, partition, start, end, 0});
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
  if (!device_) return;  // one that is disabled may still have frames
  const auto limit = static_cast<std::int64_t>(1e9 * options_.stall_limit);
  const std::scoped_lock lock(mutex_, device_mutex_);
  for (const std::unique_ptr<Slot>& slot : slots_) {
    const auto since = slot->outstanding->open_since();
    if (!since || now_ns() - *since < limit) continue;
    auto next = std::make_unique<Outstanding>();
    std::string stage = "a copy";
    for (const DeviceSpan& span : slot->device->spans) {
      if (span.end().state() == opencl::Event::State::complete) continue;
      if (span.kind == DeviceSpan::Kind::stage)
        stage = "stage '" + std::string(processor_.stages()[span.stage].name) + "'";
      break;
    }
    std::string error = fmt::format("{} on '{}' has not finished within {:g} s", stage,
                                    device_->context().name(), options_.stall_limit);
    if (!slot->outstanding->close()) continue;  // only now: once closed, it must be answered here
    slot->device_error = std::move(error);
    slot->abandoned = true;
    polled_.erase(std::remove(polled_.begin(), polled_.end(), slot.get()), polled_.end());
    keep_forever(slot->outstanding.release());  // a late answer may still come
    slot->outstanding = std::move(next);
    device_answered(*slot, true);
  }
}

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
    disable_device(e.what());
  }
}

}  // namespace sightline::pipeline
