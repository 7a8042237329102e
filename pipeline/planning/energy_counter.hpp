#pragma once
/// Interface of energy meters.

#include <string>

namespace sightline::pipeline {

/// Counts joules. Energy implements it with the machine's meters. Thread-safety: one thread at a time.
class EnergyCounter {
 public:
  EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;
  virtual ~EnergyCounter() = default;

  /// Whether no meter can be used.
  virtual bool empty() const = 0;
  /// Names of the meters, for people; empty without a meter.
  virtual const std::string& name() const = 0;
  /// Parts that the meters cover; without a meter, the reasons why none can be used.
  virtual const std::string& note() const = 0;
  /// Whether runs of seconds are long enough for it, as for the processors' own meters.
  virtual bool is_quick() const = 0;

  // As Meter.
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual double joules() = 0;
};

}  // namespace sightline::pipeline
