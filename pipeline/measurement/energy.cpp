#include "pipeline/measurement/energy.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::pipeline {

Energy::Energy(const MeterOptions& options, bool with_parts) {
  std::string problems;
  std::vector<std::unique_ptr<Meter>> others;
  for (auto& meter : find_meters(options)) {
    if (!meter->usable()) {
      problems += (problems.empty() ? "" : "; ") + meter->name() + ": " + meter->problem();
    } else if (meter->name().starts_with("log")) {
      meters_.clear();
      meters_.push_back(std::move(meter));
      others.clear();
      break;
    } else {
      (is_processor_meter(*meter) ? meters_ : others).push_back(std::move(meter));
    }
  }
  if (meters_.empty() && !others.empty()) meters_.push_back(std::move(others.front()));
  for (const auto& meter : meters_) {
    name_ += (name_.empty() ? "" : " + ") + meter->name();
    note_ += (note_.empty() ? "" : "; ") + meter->covers();
    meter_names_.push_back(meter->name());
    for (const auto& part : meter->parts()) {
      if (!with_parts) break;
      parts_.push_back(part.get());
      part_names_.push_back(part->name());
    }
  }
  if (meters_.empty()) note_ = problems;
}

bool Energy::is_quick() const {
  return !empty() &&
         std::ranges::all_of(meters_, [](const auto& meter) { return is_processor_meter(*meter); });
}

bool Energy::sees_cpu() const {
  return std::ranges::any_of(meters_, [](const auto& meter) { return pipeline::sees_cpu(*meter); });
}

bool Energy::sees_device(const DeviceInfo& device) const {
  return std::ranges::any_of(meters_,
                             [&](const auto& meter) { return pipeline::sees_device(*meter, device); });
}

void Energy::start() {
  for (Meter* part : parts_) part->start();
  for (const auto& meter : meters_) meter->start();
}

void Energy::stop() {
  for (const auto& meter : meters_) meter->stop();
  for (Meter* part : parts_) part->stop();
}

double Energy::joules() {
  double sum = 0;
  for (const auto& meter : meters_) sum += meter->joules();
  return sum;
}

EnergyReading Energy::reading() {
  EnergyReading reading;
  for (const auto& meter : meters_) {
    reading.meters.push_back(meter->joules());
    reading.megahertz.push_back(meter->megahertz());
  }
  for (Meter* part : parts_) reading.parts.push_back(part->joules());
  for (const double joules : reading.meters) reading.joules += joules;
  return reading;
}

std::string clocks_text(const std::vector<double>& megahertz) {
  std::string text;
  for (const double clock : megahertz) {
    if (clock > 0) text += (text.empty() ? "" : "/") + std::to_string(std::lround(clock));
  }
  return text;
}

}  // namespace sightline::pipeline
