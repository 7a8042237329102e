#include "training/progress.hpp"

#include <utility>

namespace sightline::training {

ProgressClock::ProgressClock(ReportProgress report, double total_cost)
    : report_(std::move(report)), total_cost_(total_cost) {}

void ProgressClock::enter(std::string phase, double cost) {
  done_cost_ += phase_cost_;
  phase_cost_ = cost;
  phase_ = std::move(phase);
  tick(0);
}

bool ProgressClock::tick(double fraction, const std::string& detail) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double cost = done_cost_ + fraction * phase_cost_;
  const double left = cost > 0.02 * total_cost_ ? elapsed.count() * (total_cost_ - cost) / cost : -1;
  return report_({phase_, detail, fraction, elapsed.count(), left});
}

void ProgressClock::check(double fraction, const std::string& detail) {
  if (!tick(fraction, detail)) throw TrainingStopped();
}

}  // namespace sightline::training
