#pragma once
// A device that does as the test says: FakeDetector's stages, run by a thread of its own, whose ends are
// OpenCL user events. Only the context is real.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "opencl/error.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {

/// What becomes of a piece of work.
struct Fate {
  enum class Kind {
    done,        ///< after `delay`
    done_early,  ///< before `submit` returns
    fails,       ///< after `delay`, on the device; PoCL 3.1 then calls nobody back
    spoilt,      ///< `complete` throws
    refused,     ///< `submit` throws
    no_answer,   ///< not within the test's patience; answered late
  };
  Kind kind = Kind::done;
  std::chrono::microseconds delay{0};
};

class FakeDeviceSlot : public DeviceSlot {
 public:
  std::atomic<bool> busy{false};  ///< from submit to the end of the work
  bool spoilt = false;
};

class FakeStages : public DeviceStages {
 public:
  /// @param decide  the fate of each piece of work by the frame's value; called from any thread
  FakeStages(const opencl::ChosenDevice& device, StageSet supported, std::function<Fate(int index)> decide)
      : context_(device), supported_(supported), decide_(std::move(decide)), worker_([this] { work(); }) {}
  ~FakeStages() override {
    answer_late();
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
    }
    worker_.join();
  }

  /// The chosen device, taken for one with memory of its own, so that several frames are on it at once.
  static std::optional<opencl::ChosenDevice> find_device() {
    for (opencl::DeviceInfo device : opencl::list_devices()) {
      device.unified_memory = false;
      return opencl::ChosenDevice{device, 0, "test"};
    }
    return std::nullopt;
  }

  const opencl::Context& context() const override { return context_; }
  StageSet supported() const override { return supported_; }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<FakeDeviceSlot>(); }
  void prepare(DeviceSlot& slot, Workspace&, const StageSet&) const override {
    EXPECT_FALSE(static_cast<FakeDeviceSlot&>(slot).busy) << "prepared while the device works with it";
  }

  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override {
    auto& own = static_cast<FakeDeviceSlot&>(slot);
    auto& work = static_cast<FakeWorkspace&>(workspace);
    EXPECT_FALSE(own.busy.exchange(true)) << "two pieces of work in one slot";
    EXPECT_EQ(work.stages_done, static_cast<int>(first)) << "a stage out of order";
    const Fate fate = decide_(work.index);
    own.spoilt = fate.kind == Fate::Kind::spoilt;
    if (fate.kind == Fate::Kind::refused) {
      own.busy = false;
      throw opencl::DeviceError(-5, "submit", context_.name());
    }
    cl_int code = CL_SUCCESS;
    const opencl::Event event(clCreateUserEvent(context_.get(), &code));
    opencl::check(code, "clCreateUserEvent", context_.name());
    own.done = event;
    own.spans.clear();
    count(+1);
    const auto end = [this, &own, &work, event, last](bool fails) {
      if (!fails) work.stages_done = static_cast<int>(last);
      own.busy = false;
      count(-1);
      clSetUserEventStatus(event.get(), fails ? -5 : CL_COMPLETE);
    };
    switch (fate.kind) {
      case Fate::Kind::done_early:
        end(false);
        break;
      case Fate::Kind::no_answer: {
        own.add(DeviceSpan::Kind::stage, first, "fake", event);
        const std::lock_guard lock(mutex_);
        unanswered_.push_back(event);
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
  void complete(DeviceSlot& slot, Workspace&) const override {
    EXPECT_FALSE(static_cast<FakeDeviceSlot&>(slot).busy) << "completed while the device works with it";
    if (static_cast<FakeDeviceSlot&>(slot).spoilt) throw opencl::DeviceError(-5, "complete", context_.name());
  }

  /// Answers all that had no answer.
  void answer_late() const {
    std::vector<opencl::Event> events;
    {
      const std::lock_guard lock(mutex_);
      events.swap(unanswered_);
    }
    for (const opencl::Event& event : events) clSetUserEventStatus(event.get(), CL_COMPLETE);
  }
  int most_at_once() const { return most_; }

 private:
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

  opencl::Context context_;
  StageSet supported_;
  std::function<Fate(int)> decide_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::multimap<std::chrono::steady_clock::time_point, std::function<void()>> due_;
  bool stop_ = false;
  mutable std::vector<opencl::Event> unanswered_;
  mutable int now_ = 0;
  mutable int most_ = 0;
  std::thread worker_;
};

}  // namespace sightline::pipeline::test
