#pragma once
/// The energy of a run, from all meters that may be added up.

#include <memory>
#include <string>
#include <vector>

#include "pipeline/measurement/meter.hpp"
#include "pipeline/planning/energy_counter.hpp"

namespace sightline::pipeline {

/// Energy of an interval.
struct EnergyReading {
  double joules = 0;              ///< of all meters
  std::vector<double> meters;     ///< of each
  std::vector<double> parts;      ///< of parts that some meters report, included in their figures
  std::vector<double> megahertz;  ///< clock of what each meter sees, when the interval ended; 0: not known
};

/// The known clocks of several meters, for people: "2400/1980".
std::string clocks_text(const std::vector<double>& megahertz);

/// The log where one is given; else the meters of processors where there are any, else any one: the ranges of
/// others may overlap. One thread at a time.
class Energy : public EnergyCounter {
 public:
  /// Throws as find_meters does.
  /// @param with_parts  the parts of meters (Meter::parts) are read, too
  explicit Energy(const MeterOptions& options, bool with_parts = false);

  bool empty() const override { return meters_.empty(); }
  const std::string& name() const override { return name_; }
  const std::string& note() const override { return note_; }
  /// Names of the meters and of their parts ("RAPL core"), in the order of a reading.
  const std::vector<std::string>& meter_names() const { return meter_names_; }
  const std::vector<std::string>& part_names() const { return part_names_; }
  bool is_quick() const override;
  /// Whether the CPU's cores, or a device, are among what the meters see.
  bool sees_cpu() const;
  bool sees_device(const DeviceInfo& device) const;

  void start() override;
  void stop() override;
  double joules() override;
  /// Energy of the interval, as `joules`, by meter and part.
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
