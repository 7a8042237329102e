#include "pipeline/planning/drift_detector.hpp"

#include <algorithm>
#include <utility>

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kFirstPause = 10'000'000'000;
constexpr std::int64_t kLongestPause = 120'000'000'000;
constexpr double kDrift = 1.3;  // factor of a drift

double ratio_of(double observed, double reference) {
  return reference > 0 && observed > 0 ? observed / reference : 1;
}

std::vector<double> ratios_of(const std::vector<double>& observed, const std::vector<double>& reference) {
  std::vector<double> ratios(observed.size());
  std::ranges::transform(observed, reference, ratios.begin(), ratio_of);
  return ratios;
}

}  // namespace

DriftDetector::DriftDetector(std::size_t quantities, std::size_t deciding, int drift_windows)
    : deciding_(deciding), drift_windows_(drift_windows), scales_(quantities, 1.0), pause_(kFirstPause) {}

bool DriftDetector::any_drifted(const std::vector<double>& ratios) const {
  return std::any_of(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(deciding_),
                     [](double ratio) { return ratio > kDrift || ratio < 1 / kDrift; });
}

DriftDetector::Advice DriftDetector::observe(std::int64_t now, const std::vector<double>& seen,
                                             std::size_t telling) {
  Advice nothing = Advice::keep;
  if (std::exchange(has_new_setting_, false)) take_setting(seen);
  if (trying_) {
    trying_ = false;
    std::ranges::fill(scales_, 1.0);  // those of the plan's reference
    if (ratio_of(seen[telling], (*plan_reference_)[telling]) > kDrift) {
      pause_ = std::min(2 * pause_, kLongestPause);
      return weigh_against(*plan_reference_, seen);
    }
    pause_ = kFirstPause;
    reference_ = plan_reference_;
    nothing = Advice::plan_is_back;
  }
  if (!reference_) {
    reference_ = seen;
    if (is_plan_ && !plan_reference_) plan_reference_ = seen;
    return nothing;
  }
  if (try_again_ > 0 && now >= try_again_) {
    try_again_ = 0;
    trying_ = true;
    return Advice::try_plan;
  }
  if (!any_drifted(ratios_of(seen, *reference_))) {
    drifted_ = 0;
  } else if (++drifted_ >= drift_windows_) {
    drifted_ = 0;
    return weigh_against(*reference_, seen);
  }
  return nothing;
}

DriftDetector::Advice DriftDetector::weigh_against(const std::vector<double>& reference,
                                                   const std::vector<double>& seen) {
  const std::vector<double> ratios = ratios_of(seen, reference);
  for (std::size_t i = 0; i < scales_.size(); ++i) scales_[i] *= ratios[i];
  last_ = seen;
  // No weighing: the trials that chose the plan are better than predictions.
  return any_drifted(scales_) ? Advice::weigh : Advice::plan_holds;
}

// Scales the plan's reference as that of the running schedule changes; a quantity that is 0 now changes as
// the mean of the others. A trial of the plan ends without a comparison, because its reference is of another
// setting: the plan stays.
void DriftDetector::take_setting(const std::vector<double>& seen) {
  if (trying_) {
    trying_ = false;
    std::ranges::fill(scales_, 1.0);
    pause_ = kFirstPause;
  } else if (reference_ && plan_reference_) {
    const std::vector<double> ratios = ratios_of(seen, *reference_);
    double sum = 0;
    int known = 0;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      if ((*reference_)[i] <= 0) continue;
      sum += ratios[i];
      ++known;
    }
    for (std::size_t i = 0; i < ratios.size() && known > 0; ++i)
      (*plan_reference_)[i] *= (*reference_)[i] > 0 ? ratios[i] : sum / known;
  }
  reference_.reset();
  if (is_plan_) plan_reference_.reset();
}

void DriftDetector::setting_changed() {
  has_new_setting_ = true;
  drifted_ = 0;
}

void DriftDetector::switched(std::int64_t now, bool is_plan) {
  reference_.reset();
  drifted_ = 0;
  is_plan_ = is_plan;
  try_again_ = is_plan ? 0 : now + pause_;
}

void DriftDetector::returned() {
  std::ranges::fill(scales_, 1.0);
  pause_ = kFirstPause;
  try_again_ = 0;
  drifted_ = 0;
  is_plan_ = true;
  reference_ = plan_reference_;
}

}  // namespace sightline::pipeline
