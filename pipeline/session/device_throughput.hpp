#pragma once
/// Internal to the pipeline: how long a frame keeps a device busy.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

/// Throughput estimator of one device: an exponentially weighted mean of what frames add to its work. It must
/// recover from a slow moment, since a device that seems slow gets no frames that would show otherwise.
/// Thread-safety: one thread at a time.
class DeviceThroughput {
 public:
  /// Takes a frame's spans on the device, in any order: those of several queues overlap.
  /// @return  seconds that they add to the device's work: others may have run beside them
  double busy(std::span<const Span> spans) {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();
    std::int64_t end = 0;
    for (const Span& span : spans) {
      if (span.activity == Activity::wait) continue;
      begin = std::min(begin, span.start);
      end = std::max(end, span.end);
    }
    const std::int64_t added = end - std::max(begin, busy_until_);
    busy_until_ = std::max(busy_until_, end);
    return end > begin && added > 0 ? 1e-9 * static_cast<double>(added) : 0;
  }

  /// Adds a submission of some frames that kept the device busy for `all` seconds; 0: says nothing.
  void add(double all, std::size_t frames) {
    if (all <= 0) return;
    const double seconds = all / static_cast<double>(frames);
    if (known_ > 1)
      seconds_ += kEwmaAlpha * (seconds - seconds_);
    else  // the first one often includes preparations
      seconds_ = ++known_ == 1 ? seconds : std::min(seconds_, seconds);
    trust_ = 1;
  }

  /// A frame went elsewhere while the device had none: what is known of it grows old.
  void pass_over() { trust_ *= 1 - 1.0 / 1024; }

  /// 0: not known yet.
  double seconds_a_frame() const { return known_ > 1 ? trust_ * seconds_ : 0; }

 private:
  static constexpr double kEwmaAlpha = 1.0 / 8;
  double seconds_ = 0;
  double trust_ = 1;
  int known_ = 0;                ///< submissions added, at most 2
  std::int64_t busy_until_ = 0;  ///< end of the device's last finished work
};

}  // namespace sightline::pipeline
