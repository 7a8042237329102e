#pragma once
/// The power of a run while it goes on, without making it wait for slow meters.

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

/// Measures one interval after the other on a thread of its own. Thread-safety: any thread.
class EnergySensor {
 public:
  struct Reading {
    double joules = 0;
    double seconds = 0;
    std::int64_t frames = 0;  ///< delivered meanwhile
  };

  /// Throws Error (usage) where there is no meter that can be read.
  EnergySensor(std::shared_ptr<EnergyCounter> energy, std::chrono::milliseconds interval);
  ~EnergySensor();
  EnergySensor(const EnergySensor&) = delete;
  EnergySensor& operator=(const EnergySensor&) = delete;

  /// The meters, for people.
  const std::string& name() const { return energy_->name(); }
  /// A frame was delivered.
  void count_frame();
  /// The interval that is being measured does not count: something else runs from now on.
  void begin_anew();
  /// The last interval, once.
  std::optional<Reading> take();
  /// Why there will be no further reading; empty where there will.
  std::string failure() const;

 private:
  void measure();

  const std::shared_ptr<EnergyCounter> energy_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable ends_or_anew_;
  bool ends_ = false;
  std::uint64_t begun_ = 0;  ///< how often an interval was begun anew
  std::int64_t frames_ = 0;
  std::optional<Reading> reading_;
  std::string failure_;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace sightline::pipeline
