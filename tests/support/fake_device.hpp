#pragma once
// A device controlled by the test: FakeDetector's stages, run by a thread of its own, with events that the
// test ends. It has memory of its own, so that several frames are on it at once.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device/compiling_device.hpp"
#include "pipeline/session/now.hpp"
#include "processing/device_stages.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {

/// Fate of a piece of work.
struct Fate {
  enum class Kind {
    done,        ///< after `delay`
    done_early,  ///< before `submit` returns
    fails,       ///< after `delay`, on the device
    spoilt,      ///< `complete` throws
    refused,     ///< `submit` throws
    held,        ///< after `FakeStages::release`
    no_answer,   ///< not within the test's patience; answered late
  };
  Kind kind = Kind::done;
  std::chrono::microseconds delay{0};
  bool is_first = false;  ///< kernels are launched for the first time
};

/// The end of a command. It lives until the last DeviceEvent is gone.
class FakeEvent {
 public:
  static DeviceEvent make() { return {new FakeEvent, Ops::instance()}; }
  /// Ends the event's command, which must not have ended.
  static void end(const DeviceEvent& event, bool fails = false) {
    auto& own = *static_cast<FakeEvent*>(event.handle());
    Completion* told = nullptr;
    {
      const std::lock_guard lock(own.mutex_);
      own.ended_ = now_ns();
      own.state_ = fails ? DeviceEvent::State::failed : DeviceEvent::State::complete;
      told = own.completion_;
      own.changed_.notify_all();
    }
    if (told) told->complete(fails);
  }

 private:
  class Ops final : public DeviceEventOps {
   public:
    static const Ops& instance() {
      static const Ops ops{};
      return ops;
    }
    void retain(void* handle) const noexcept override { ++own(handle).references_; }
    void release(void* handle) const noexcept override {
      if (--own(handle).references_ == 0) delete &own(handle);
    }
    DeviceEvent::Times times(void* handle, const std::string&) const override {
      const std::lock_guard lock(own(handle).mutex_);
      const auto begun = static_cast<std::uint64_t>(own(handle).begun_);
      return {begun, begun, begun, static_cast<std::uint64_t>(own(handle).ended_)};
    }
    void on_complete(void* handle, Completion& completion, const std::string&) const override {
      DeviceEvent::State state{};
      {
        const std::lock_guard lock(own(handle).mutex_);
        state = own(handle).state_;
        if (state == DeviceEvent::State::running) own(handle).completion_ = &completion;
      }
      if (state != DeviceEvent::State::running) completion.complete(state == DeviceEvent::State::failed);
    }
    DeviceEvent::State state(void* handle) const override {
      const std::lock_guard lock(own(handle).mutex_);
      return own(handle).state_;
    }
    void wait(void* handle, const std::string& device) const override {
      std::unique_lock lock(own(handle).mutex_);
      own(handle).changed_.wait(lock, [&] { return own(handle).state_ != DeviceEvent::State::running; });
      if (own(handle).state_ == DeviceEvent::State::failed) throw Error(ExitCode::failed, device + " failed");
    }

   private:
    static FakeEvent& own(void* handle) { return *static_cast<FakeEvent*>(handle); }
  };

  std::atomic<int> references_{1};
  std::mutex mutex_;
  std::condition_variable changed_;
  DeviceEvent::State state_ = DeviceEvent::State::running;
  Completion* completion_ = nullptr;
  std::int64_t begun_ = now_ns();
  std::int64_t ended_ = 0;
};

class FakeQueue : public DeviceQueue {
 public:
  explicit FakeQueue(const std::string& device) : device_(device) {}
  const std::string& device_name() const override { return device_; }
  DeviceEvent marker() override {
    DeviceEvent event = FakeEvent::make();
    FakeEvent::end(event);
    return event;
  }
  DeviceEvent marker_after(std::span<const DeviceEvent> others) override {
    for (const DeviceEvent& other : others) wait(other);
    return marker();
  }
  void flush() override {}
  void finish() override {}

 private:
  const std::string& device_;
};

class FakeDevice : public ComputeDevice, public CompilingDevice {
 public:
  FakeDevice() { info_.name = "fake device"; }
  std::uint64_t first_launches() const override { return launches; }
  std::shared_ptr<void> compiling() const override {
    ++compilations;
    ++running;
    return {static_cast<void*>(&running), [this](void*) { --running; }};
  }
  bool is_compiling() const override { return running > 0; }
  void launches_succeeded() const noexcept override { ++successes; }

  mutable std::atomic<std::uint64_t> launches{0};
  mutable std::atomic<int> compilations{0};  ///< that anybody began
  mutable std::atomic<int> running{0};       ///< compilations that have not ended
  mutable std::atomic<int> successes{0};     ///< calls of launches_succeeded
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<DeviceQueue> make_queue() const override { return std::make_unique<FakeQueue>(name()); }

 private:
  DeviceInfo info_;
};

class FakeDeviceSlot : public DeviceSlot {
 public:
  std::atomic<bool> busy{false};  ///< true from submit to the end of the work
  bool spoilt = false;
};

class FakeStages : public DeviceStages {
 public:
  /// @param decide  the fate of each piece of work by the frame's value; called from any thread
  FakeStages(StageSet supported, std::function<Fate(int index)> decide)
      : supported_(supported), decide_(std::move(decide)), worker_([this] { work(); }) {}
  ~FakeStages() override {
    answer_late();
    release();
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    worker_.join();
  }

  std::size_t together = 1;  ///< most_together
  /// Whether the kernels are compiled; may throw. Empty: they are.
  std::function<bool()> is_compiled;
  mutable std::size_t waited_for = 0;  ///< frames of the last `wait_until_ready`
  /// Called before the frames of a batch are submitted, with their values; may be empty.
  std::function<void(const std::vector<int>& indices)> on_batch;

  const FakeDevice& device() const override { return device_; }
  std::size_t most_together() const override { return together; }
  StageSet supported() const override { return supported_; }
  bool is_ready() const override { return !is_compiled || is_compiled(); }
  void wait_until_ready(std::size_t frames) const override {
    waited_for = frames;
    while (!is_ready()) std::this_thread::yield();
  }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<FakeDeviceSlot>(); }
  void prepare(DeviceSlot& slot, Workspace&, const StageSet&) const override {
    EXPECT_FALSE(static_cast<FakeDeviceSlot&>(slot).busy) << "prepared while the device works with it";
  }

  /// Frame by frame; of several, also a command for all of them.
  void submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
              SubmitParts) const override {
    if (frames.size() == 1) return submit_one(*frames.front().slot, *frames.front().workspace, first, last);
    EXPECT_LE(frames.size(), together);
    std::vector<int> indices;
    for (const DeviceWork& one : frames) indices.push_back(static_cast<FakeWorkspace*>(one.workspace)->index);
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(indices);
    }
    if (on_batch) on_batch(indices);
    const DeviceEvent shared = FakeEvent::make();
    for (const DeviceWork& one : frames) submit_one(*one.slot, *one.workspace, first, last);
    FakeEvent::end(shared);
    const DeviceSpan span{DeviceSpan::Kind::upload,       first, "shared", shared, {},
                          static_cast<int>(frames.size())};
    for (const DeviceWork& one : frames) one.slot->spans.insert(one.slot->spans.begin(), span);
  }
  void complete(DeviceSlot& slot, Workspace&) const override {
    EXPECT_FALSE(static_cast<FakeDeviceSlot&>(slot).busy) << "completed while the device works with it";
    if (static_cast<FakeDeviceSlot&>(slot).spoilt) throw Error(ExitCode::failed, "complete failed");
  }

  /// Answers all unanswered work.
  void answer_late() const {
    std::vector<DeviceEvent> events;
    {
      const std::lock_guard lock(mutex_);
      events.swap(unanswered_);
    }
    for (const DeviceEvent& event : events) FakeEvent::end(event);
  }
  /// Ends the held work.
  void release() const {
    const std::lock_guard lock(mutex_);
    while (!due_.empty() && std::prev(due_.end())->first == std::chrono::steady_clock::time_point::max()) {
      auto held = due_.extract(std::prev(due_.end()));
      held.key() = std::chrono::steady_clock::now();
      due_.insert(std::move(held));
    }
    changed_.notify_all();
  }
  /// Values of the frames of each batch.
  std::vector<std::vector<int>> batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  int most_at_once() const { return most_; }

 private:
  void submit_one(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const {
    auto& own = static_cast<FakeDeviceSlot&>(slot);
    auto& work = static_cast<FakeWorkspace&>(workspace);
    EXPECT_FALSE(own.busy.exchange(true)) << "two pieces of work in one slot";
    EXPECT_EQ(work.stages_done, static_cast<int>(first)) << "a stage out of order";
    const Fate fate = decide_(work.index);
    own.spoilt = fate.kind == Fate::Kind::spoilt;
    if (fate.is_first) ++device_.launches;
    if (fate.kind == Fate::Kind::refused) {
      own.busy = false;
      throw Error(ExitCode::failed, "submit failed");
    }
    const DeviceEvent event = FakeEvent::make();
    own.done = event;
    own.spans.clear();
    for (std::size_t stage = first; stage < last; ++stage)
      own.spans.push_back({DeviceSpan::Kind::stage, stage, "fake", event, {}});
    count(+1);
    const auto end = [this, &own, &work, event, last, prepared = work.prepared](bool fails) {
      EXPECT_EQ(work.prepared, prepared) << "prepared again while the device works with it";
      if (!fails) work.stages_done = static_cast<int>(last);
      own.busy = false;
      count(-1);
      FakeEvent::end(event, fails);
    };
    switch (fate.kind) {
      case Fate::Kind::done_early:
        end(false);
        break;
      case Fate::Kind::no_answer: {
        const std::lock_guard lock(mutex_);
        unanswered_.push_back(event);
        break;
      }
      case Fate::Kind::held: {
        const std::lock_guard lock(mutex_);
        due_.emplace(std::chrono::steady_clock::time_point::max(), [end] { end(false); });
        break;
      }
      default: {
        const std::lock_guard lock(mutex_);
        due_.emplace(std::chrono::steady_clock::now() + fate.delay,
                     [end, fate] { end(fate.kind == Fate::Kind::fails); });
        changed_.notify_all();
      }
    }
  }

  void count(int change) const {
    const std::lock_guard lock(mutex_);
    now_ += change;
    most_ = std::max(most_, now_);
  }

  // Ends pieces of work when their time has come.
  void work() {
    std::unique_lock lock(mutex_);
    while (!stop_ || !due_.empty()) {
      if (due_.empty()) {
        changed_.wait(lock);
      } else if (const auto first = due_.begin(); first->first > std::chrono::steady_clock::now()) {
        changed_.wait_until(lock, first->first);
      } else {
        const std::function<void()> end = std::move(first->second);
        due_.erase(first);
        lock.unlock();
        end();
        lock.lock();
      }
    }
  }

  FakeDevice device_;
  StageSet supported_;
  std::function<Fate(int)> decide_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
  bool stop_ = false;
  mutable std::vector<DeviceEvent> unanswered_;
  mutable std::vector<std::vector<int>> batches_;
  mutable int now_ = 0;
  mutable int most_ = 0;
  std::thread worker_;
};

}  // namespace sightline::pipeline::test
