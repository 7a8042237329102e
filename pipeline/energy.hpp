#pragma once
/// The energy of a run, from all meters that may be added up.

#include <memory>
#include <string>
#include <vector>

#include "pipeline/meter.hpp"

namespace sightline::pipeline {

/// The log where one is given; else the meters of processors where there are any, else any one: the ranges of
/// others may overlap. One thread at a time.
class Energy {
 public:
  /// Throws as find_meters does.
  explicit Energy(const MeterOptions& options);

  /// Whether there is no meter that could be used.
  bool empty() const { return meters_.empty(); }
  /// The meters, for people; empty where there is none.
  const std::string& name() const { return name_; }
  /// What they cover; where there is none, why those that there are cannot be used.
  const std::string& note() const { return note_; }

  // As of one Meter.
  void start();
  void stop();
  double joules();

 private:
  std::vector<std::unique_ptr<Meter>> meters_;
  std::string name_;
  std::string note_;
};

}  // namespace sightline::pipeline
