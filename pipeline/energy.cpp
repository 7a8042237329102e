#include "pipeline/energy.hpp"

namespace sightline::pipeline {

Energy::Energy(const MeterOptions& options) {
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
  }
  if (meters_.empty()) note_ = problems;
}

void Energy::start() {
  for (const auto& meter : meters_) meter->start();
}

void Energy::stop() {
  for (const auto& meter : meters_) meter->stop();
}

double Energy::joules() {
  double sum = 0;
  for (const auto& meter : meters_) sum += meter->joules();
  return sum;
}

}  // namespace sightline::pipeline
