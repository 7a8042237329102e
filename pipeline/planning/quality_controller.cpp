#include "pipeline/planning/quality_controller.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::pipeline {
namespace {

constexpr double kOver = 1.03;     // the limit is missed
constexpr double kFarOver = 1.25;  // by more than a short disturbance
constexpr double kRoom = 0.93;     // highest predicted load of a more accurate setting
constexpr int kOverTimes = 2;      // in a row
constexpr int kRoomTimes = 3;
constexpr double kSoonest = 0.5;  // seconds from a change to the next one to a faster setting
constexpr double kDwell = 2;      // the same to a more accurate one
constexpr double kTrial = 10;     // seconds within which a change that is taken back was a mistake
constexpr double kFirstWait = 5;
constexpr double kLongestWait = 120;
constexpr double kFirstDistrust = 60;
constexpr double kLongestDistrust = 1800;
constexpr double kMuchRoom = 0.85;    // load below which a prediction is tested
constexpr double kHalfEmpty = 0.5;    // load below which it is tested six times as soon
constexpr double kUnknownGain = 1.3;  // until it is learned
constexpr double kSmallestGain = 1.02;
constexpr double kLargestGain = 4;

constexpr double kHalf = 0.5;
constexpr double kFifth = 0.2;
constexpr double kBack = 0.03;

}  // namespace

QualityController::QualityController(std::size_t settings, std::size_t first)
    : gains_(settings - 1, kUnknownGain), setting_(first), pause_(kFirstWait), distrust_(kFirstDistrust) {}

void QualityController::start_at(std::size_t setting) {
  setting_ = setting;
  came_from_.reset();
  was_climb_ = false;
  over_ = under_ = 0;
}

double QualityController::predicted(std::size_t setting, double load) const {
  for (std::size_t i = setting; i < setting_; ++i) load *= gains_[i];
  for (std::size_t i = setting_; i < setting; ++i) load /= gains_[i];
  return load;
}

std::optional<std::size_t> QualityController::observe(double now, double load) {
  if (!(load >= 0) || !std::isfinite(load)) return std::nullopt;
  learn(load);
  if (load > kOver) {
    under_ = 0;
    ++over_;
    return faster(now, load);
  }
  over_ = 0;
  return more_accurate(now, load);
}

// Takes half of the observed gain: the load may have changed by itself at the same time.
void QualityController::learn(double load) {
  if (!came_from_) return;
  const std::size_t first = std::min(*came_from_, setting_);
  const std::size_t last = std::max(*came_from_, setting_);
  const bool to_faster = setting_ > *came_from_;
  came_from_.reset();
  if (load <= 0 || load_before_ <= 0 || first == last) return;
  const double gain = to_faster ? load_before_ / load : load / load_before_;
  double expected = 1;
  for (std::size_t i = first; i < last; ++i) expected *= gains_[i];
  // The unexpected part is spread evenly over the steps.
  const double off = std::pow(gain / expected, 0.5 / static_cast<double>(last - first));
  for (std::size_t i = first; i < last; ++i)
    gains_[i] = std::clamp(gains_[i] * off, kSmallestGain, kLargestGain);
}

std::optional<std::size_t> QualityController::faster(double now, double load) {
  if (over_ < kOverTimes && load < kFarOver) return std::nullopt;
  if (setting_ + 1 > gains_.size() || now - turned_ < kSoonest) return std::nullopt;
  if (was_climb_ && now - turned_ <= kTrial) {
    blocked_until_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongestWait);
    distrust_ = std::min(2 * distrust_, kLongestDistrust);
  }
  std::size_t to = setting_ + 1;
  while (to < gains_.size() && predicted(to, load) > 1) ++to;
  was_climb_ = false;
  return turn(now, load, to);
}

std::optional<std::size_t> QualityController::more_accurate(double now, double load) {
  if (was_climb_ && now - turned_ > kTrial) {  // it was right
    was_climb_ = false;
    pause_ = kFirstWait;
    distrust_ = kFirstDistrust;
  }
  const double patience = load < kHalfEmpty ? distrust_ / 6 : distrust_;
  const bool is_tested = load < kMuchRoom && now - turned_ >= patience;
  if (setting_ == 0 || (predicted(setting_ - 1, load) > kRoom && !is_tested)) {
    under_ = 0;
    return std::nullopt;
  }
  ++under_;
  if (under_ < kRoomTimes || now - turned_ < kDwell || now < blocked_until_) return std::nullopt;
  was_climb_ = true;
  return turn(now, load, setting_ - 1);
}

std::size_t QualityController::turn(double now, double load, std::size_t to) {
  came_from_ = setting_;
  load_before_ = load;
  turned_ = now;
  over_ = under_ = 0;
  return setting_ = to;
}

std::size_t BatteryController::observe(double level, bool charging) {
  // Falling levels count at once, rising ones with hysteresis.
  const auto below = [&](double limit, int zone) { return level < (zone_ >= zone ? limit + kBack : limit); };
  zone_ = charging ? 0 : below(kFifth, 2) ? 2 : below(kHalf, 1) ? 1 : 0;
  if (zone_ == 2) return settings_ - 1;
  return std::min(first_ + static_cast<std::size_t>(zone_), settings_ - 1);
}

}  // namespace sightline::pipeline
