#pragma once
// A machine with a simulated RAPL counter, and a processor whose stages cost known energy.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "opencl/context.hpp"
#include "pipeline/measurement/meter.hpp"
#include "processing/device_stages.hpp"
#include "support/temp_dir.hpp"

namespace sightline::pipeline::test {

/// A simulated package with idle power, and its part `core`, which gets half of the added energy. Any thread.
class CountedEnergy {
 public:
  explicit CountedEnergy(double idle_watts) : idle_watts_(idle_watts) {
    put("intel-rapl:0/name", "package-0");
    put("intel-rapl:0/max_energy_range_uj", "1000000000000");
    put("intel-rapl:0:0/name", "core");
    put("intel-rapl:0:0/max_energy_range_uj", "1000000000000");
    write();
  }

  void add(double joules) { nanojoules_ += static_cast<std::int64_t>(joules * 1e9); }
  /// From now on.
  void set_idle(double watts) {
    const std::lock_guard lock(mutex_);
    before_ += idle_watts_ * (now() - since_);
    since_ = now();
    idle_watts_ = watts;
  }
  /// Sets the time; before the first call, the machine's clock is used. Must not decrease.
  void set_seconds(double seconds) {
    const std::lock_guard lock(mutex_);
    if (seconds_ < 0) since_ = seconds;
    seconds_ = seconds;
  }
  /// From now on the sensor cannot be read.
  void fail() { std::filesystem::remove_all(folder_ / "powercap/intel-rapl:0"), failed_ = true; }

  /// No meter but this one. A meter looks at its clock before it reads its sensor: then the files are made.
  MeterOptions meters() {
    MeterOptions options;
    options.powercap = folder_ / "powercap";
    options.hwmon = folder_ / "none";
    options.power_supply = folder_ / "none";
    options.nvml = "";
    options.counter_period = std::chrono::milliseconds(0);
    options.clock = [this] { return write(); };
    return options;
  }

 private:
  double now() const {
    if (seconds_ >= 0) return seconds_;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double write() {
    const std::lock_guard lock(mutex_);
    const double added = 1e-9 * static_cast<double>(nanojoules_.load());
    const double seconds = now();
    if (failed_) return seconds;
    put("intel-rapl:0/energy_uj", std::to_string(1e6 * (added + before_ + idle_watts_ * (seconds - since_))));
    put("intel-rapl:0:0/energy_uj", std::to_string(1e6 * added / 2));
    return seconds;
  }
  void put(const std::string& file, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path(folder_ / "powercap") / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content << "\n";
  }

  sightline::test::TempDir folder_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> nanojoules_{0};
  std::mutex mutex_;  // guards the following members
  double idle_watts_;
  double before_ = 0;  // joules of idling until `since_`
  double since_ = 0;
  double seconds_ = -1;
  bool failed_ = false;
};

struct CountedWorkspace : Workspace {
  int value = -1, half = 0, sum = 0, result = 0;
};

/// Three stages of known energy: halve, add, show. `add` adds to existing data, which `halve` clears, so
/// repeating `add` changes the result.
class CountedProcessor : public Detector {
 public:
  static constexpr std::size_t kHalve = 0, kAdd = 1, kShow = 2;

  /// @param energy  gets the energy of every stage; may be null
  CountedProcessor(CountedEnergy* energy, bool adds_up) : energy_(energy), adds_up_(adds_up) {}

  // Large enough that idle energy during delays of a busy machine is negligible.
  std::array<double, 3> cpu_joules{4, 2, 1};
  std::array<double, 3> device_joules{1, 5, 1};

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<CountedWorkspace>(); }
  bool prepare(Workspace& workspace, PictureView frame, Partition) const override {
    static_cast<CountedWorkspace&>(workspace).value = frame.gray().at(0, 0);
    return frame.size().width >= 8;
  }
  void run_stage(std::size_t stage, Workspace& workspace) const override {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(50)) {
    }
    work(stage, workspace, cpu_joules[stage]);
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override {
    return {{{0, 0, 1, 1}, static_cast<double>(static_cast<CountedWorkspace&>(workspace).result), 0}};
  }

  void work(std::size_t stage, Workspace& workspace, double joules) const {
    auto& own = static_cast<CountedWorkspace&>(workspace);
    if (stage == kHalve) {
      own.half = own.value / 2;
      own.sum = 0;
    } else if (stage == kAdd) {
      own.sum = (adds_up_ ? own.sum : 0) + own.half + 3;
    } else {
      own.result = own.sum;
    }
    if (energy_) energy_->add(joules);
  }

 private:
  CountedEnergy* energy_;
  bool adds_up_;
  DetectorInfo info_{{"counted", "none", "counted", "", "", ""}, {"thing"}, {1}, 0};
  std::vector<std::string_view> resources_{"frame", "half", "sum", "detections"};
  std::vector<StageInfo> stages_{{"halve", {0}, {1}, true}, {"add", {1}, {2}}, {"show", {2}, {3}}};
};

/// Its first two stages on a real device's queue, where each is a command that writes a few bytes.
class CountedStages : public DeviceStages {
 public:
  CountedStages(const CountedProcessor& processor, const opencl::ChosenDevice& device)
      : processor_(processor), context_(device) {}

  const ComputeDevice& device() const override { return context_; }
  StageSet supported() const override { return StageSet(0b011); }
  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<Slot>(context_); }
  void prepare(DeviceSlot&, Workspace&, const StageSet&) const override {}
  void submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
              SubmitParts parts) const override {
    for (const auto& [slot, workspace] : frames) {
      if (includes(parts, SubmitParts::inputs)) {
        slot->spans.clear();
        command(*slot, DeviceSpan::Kind::upload, first, "upload");
      }
      for (std::size_t stage = first; stage < last && includes(parts, SubmitParts::stages); ++stage) {
        processor_.work(stage, *workspace, processor_.device_joules[stage]);
        command(*slot, DeviceSpan::Kind::stage, stage, processor_.stages()[stage].name);
      }
      if (!includes(parts, SubmitParts::outputs)) continue;
      command(*slot, DeviceSpan::Kind::download, 1, "download");
      slot->done = slot->spans.back().end();
    }
  }
  void complete(DeviceSlot&, Workspace&) const override {}

  bool divisible() const override { return true; }

 private:
  struct Slot : DeviceSlot {
    explicit Slot(const opencl::Context& context) : queue(context), memory(context, 64) {}
    opencl::Queue queue;
    opencl::Buffer memory;
  };
  static void command(DeviceSlot& slot, DeviceSpan::Kind kind, std::size_t stage, std::string_view name) {
    auto& own = static_cast<Slot&>(slot);
    own.add(kind, stage, name, own.queue.fill(own.memory, 1, 64));
    own.queue.flush();
  }

  const CountedProcessor& processor_;
  opencl::Context context_;
};

}  // namespace sightline::pipeline::test
