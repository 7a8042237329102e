#pragma once
/// Runs something again and again in windows of time, and works out what it took. Private to the measuring of
/// stages.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/measurement/stage_measurement.hpp"
#include "pipeline/session/now.hpp"

namespace sightline::pipeline {

/// One interval of a row.
struct EnergyWindow {
  double seconds = 0;
  std::int64_t turns = 0;
  double busy = 0;  ///< core-seconds, or seconds of a device
  std::optional<EnergyReading> energy;

  double seconds_a_turn() const { return seconds / static_cast<double>(turns); }
  double busy_a_turn() const { return busy / static_cast<double>(turns); }
};

/// Measures whatever is run in turns, in windows. What it uses must outlive it.
class EnergyWindows {
 public:
  EnergyWindows(Energy& energy, double seconds, int repeats, const std::atomic<bool>* stop)
      : energy_(energy), seconds_(seconds), repeats_(std::max(repeats, 1)), stop_(stop) {}

  /// @param run  so many turns; returns how long the processor was busy
  template <typename Run>
  std::vector<EnergyWindow> of(const Run& run) const {
    const std::int64_t piece = piece_of(run);
    const double settle = std::min(kSettleShare * seconds_, kLongestSettling);
    for (const std::int64_t start = now_ns(); seconds_since(start) < settle; look_out()) run(piece);
    std::vector<EnergyWindow> windows;
    for (int i = 0; i < repeats_; ++i) windows.push_back(window(run, piece));
    return windows;
  }

  std::vector<EnergyWindow> of_nothing() const {
    return of([&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kPieceSeconds, window_seconds())));
      return 0.0;
    });
  }

  /// The same of one thing that is told how long to take, and tells how many turns that were.
  template <typename Run>
  EnergyWindow once(const Run& run) const {
    look_out();
    EnergyWindow window;
    begin(window);
    const std::int64_t start = now_ns();
    window.turns = run(window_seconds());
    window.seconds = seconds_since(start);
    end(window);
    return window;
  }
  int repeats() const { return repeats_; }
  double window_seconds() const { return seconds_ / repeats_; }

 private:
  static constexpr double kPieceSeconds = 0.05;  // of work between two looks at the clock
  static constexpr double kSettleShare =
      0.1;  // of a row's time, before it counts: meters and clocks lag behind
  static constexpr double kLongestSettling = 1;  // seconds

  static double seconds_since(std::int64_t start) { return 1e-9 * static_cast<double>(now_ns() - start); }
  void look_out() const {
    if (stop_ && *stop_) throw Error(ExitCode::failed, "stopped on request");
  }
  void begin(const EnergyWindow&) const {
    if (!energy_.empty()) energy_.start();
  }
  void end(EnergyWindow& window) const {
    if (energy_.empty()) return;
    energy_.stop();
    window.energy = energy_.reading();
  }

  template <typename Run>
  std::int64_t piece_of(const Run& run) const {
    run(1);  // the first one wakes up threads and makes memory
    const std::int64_t start = now_ns();
    run(1);
    const double one = std::max(seconds_since(start), 1e-7);
    const double wanted = std::min(kPieceSeconds, window_seconds() / 2);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted / one), 1, 20'000);
  }

  template <typename Run>
  EnergyWindow window(const Run& run, std::int64_t piece) const {
    EnergyWindow window;
    begin(window);
    const std::int64_t start = now_ns();
    do {
      look_out();
      window.busy += run(piece);
      window.turns += piece;
      window.seconds = seconds_since(start);
    } while (window.seconds < window_seconds());
    end(window);
    return window;
  }

  Energy& energy_;
  double seconds_;
  int repeats_;
  const std::atomic<bool>* stop_;
};

/// The mean over windows of equal weight, and their range.
struct WindowRange {
  double mean = 0, lowest = 0, highest = 0;
  double half() const { return (highest - lowest) / 2; }
};
template <typename Value>
WindowRange range_of(const std::vector<EnergyWindow>& windows, const Value& value) {
  WindowRange range{0, value(windows.front()), value(windows.front())};
  for (const EnergyWindow& window : windows) {
    const double one = value(window);
    range.mean += one / static_cast<double>(windows.size());
    range.lowest = std::min(range.lowest, one);
    range.highest = std::max(range.highest, one);
  }
  return range;
}

/// Mean power; none where there was no meter.
std::optional<Power> power_of(const std::vector<EnergyWindow>& windows);
/// Joules a turn, of windows with a meter.
/// @param idle_parts  watts of the meters' parts
FrameJoules joules_of(const std::vector<EnergyWindow>& windows, double idle_watts,
                      const std::vector<double>& idle_parts);

}  // namespace sightline::pipeline
