#pragma once
/// Energy of a running pipeline, which does not wait for slow meters.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "pipeline/planning/energy_counter.hpp"

namespace sightline::pipeline {

/// Measures consecutive intervals on its own thread. Thread-safety: any thread.
class EnergySensor {
 public:
  struct Reading {
    double joules = 0;
    double seconds = 0;
    std::int64_t frames = 0;  ///< delivered in the interval
  };

  /// Throws Error (usage) without a readable meter.
  EnergySensor(std::shared_ptr<EnergyCounter> energy, std::chrono::milliseconds interval);
  ~EnergySensor();
  EnergySensor(const EnergySensor&) = delete;
  EnergySensor& operator=(const EnergySensor&) = delete;

  /// Names of the meters, for people.
  const std::string& name() const { return energy_->name(); }
  /// Counts a delivered frame.
  void count_frame();
  /// Discards the present interval and starts another: what runs has changed.
  void restart();
  /// Takes the last complete interval, once.
  std::optional<Reading> take();
  /// Reason why there are no further readings; empty if there are.
  std::string failure() const;

 private:
  void measure();

  const std::shared_ptr<EnergyCounter> energy_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable ends_or_anew_;
  bool ends_ = false;
  std::uint64_t begun_ = 0;  ///< number of discarded intervals
  std::int64_t frames_ = 0;
  std::optional<Reading> reading_;
  std::string failure_;
  std::thread thread_;  ///< last member: it uses the others
};

}  // namespace sightline::pipeline
