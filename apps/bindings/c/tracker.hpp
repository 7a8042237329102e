#pragma once
/// Trackers for C.

#include <memory>
#include <optional>

#include "apps/bindings/c/result.hpp"
#include "apps/common/toml_options.hpp"
#include "detection/tracker.hpp"

namespace sightline::api {

/// A tracker that knows its detector from the first result on. Thread-safety: one thread at a time.
class ResultTracker {
 public:
  /// Throws Error (usage) for unknown options and values out of range.
  explicit ResultTracker(const apps::TomlOptions& options);

  /// Throws CallError for a time that is not finite, or not after that of the last update. For callers whose
  /// mistake it would be: a stream may go back, which ends all tracks.
  void expect_later(double time) const;

  /// The tracked objects of a result; of one that was not searched, predicted ones.
  ResultPtr update(double time, const std::shared_ptr<const DetectorFacts>& facts, FrameResult result);
  /// Throws CallError for a time that is not finite, or before that of the last update.
  ResultPtr predict(double time);

 private:
  Tracker& tracker_for(const DetectorFacts& facts);
  ResultPtr tracked(FrameResult result, const std::vector<Detection>& objects, std::uint32_t flags) const;

  TrackerOptions options_;
  std::shared_ptr<const DetectorFacts> facts_;  ///< of the last result
  std::optional<Tracker> tracker_;
  std::optional<double> time_;  ///< of the last update
  int width_ = 0, height_ = 0;  ///< of the last frame
};

}  // namespace sightline::api
