#pragma once
/// Interface of what counts the energy of a run.

#include <string>

namespace sightline::pipeline {

/// Counts joules. Energy implements it with the machine's meters. Thread-safety: one thread at a time.
class EnergyCounter {
 public:
  EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;
  virtual ~EnergyCounter() = default;

  /// Whether there is no meter that could be used.
  virtual bool empty() const = 0;
  /// The meters, for people; empty where there is none.
  virtual const std::string& name() const = 0;
  /// Parts that the meters cover; without a meter, the reasons why none can be used.
  virtual const std::string& note() const = 0;
  /// Whether runs of seconds are enough for it: processors' own meters.
  virtual bool is_quick() const = 0;

  // As of one Meter.
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual double joules() = 0;
};

}  // namespace sightline::pipeline
