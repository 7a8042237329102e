#pragma once
/// The energy of a run, from all meters that may be added up.

#include <memory>
#include <string>
#include <vector>

#include "pipeline/meter.hpp"

namespace sightline::pipeline {

/// What an interval took.
struct EnergyReading {
  double joules = 0;           ///< of all meters
  std::vector<double> meters;  ///< of each
  std::vector<double> parts;   ///< of what some of them tell apart, which is within their figures
};

/// The log where one is given; else the meters of processors where there are any, else any one: the ranges of
/// others may overlap. One thread at a time.
class Energy {
 public:
  /// Throws as find_meters does.
  /// @param with_parts  the parts of meters (Meter::parts) are read, too
  explicit Energy(const MeterOptions& options, bool with_parts = false);

  /// Whether there is no meter that could be used.
  bool empty() const { return meters_.empty(); }
  /// The meters, for people; empty where there is none.
  const std::string& name() const { return name_; }
  /// What they cover; where there is none, why those that there are cannot be used.
  const std::string& note() const { return note_; }
  /// Of each meter, and of each part ("RAPL core"), in the order of a reading.
  const std::vector<std::string>& meter_names() const { return meter_names_; }
  const std::vector<std::string>& part_names() const { return part_names_; }
  /// Whether runs of seconds are enough for it: processors' own meters.
  bool is_quick() const;
  /// Whether the CPU's cores, or a device, are among what the meters see.
  bool sees_cpu() const;
  bool sees_device(const opencl::DeviceInfo& device) const;

  // As of one Meter.
  void start();
  void stop();
  double joules();
  EnergyReading reading();

 private:
  std::vector<std::unique_ptr<Meter>> meters_;
  std::vector<Meter*> parts_;  ///< that are read
  std::string name_;
  std::string note_;
  std::vector<std::string> meter_names_;
  std::vector<std::string> part_names_;
};

}  // namespace sightline::pipeline
