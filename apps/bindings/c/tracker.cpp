#include "apps/bindings/c/tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/bindings/c/call.hpp"

namespace sightline::api {
namespace {

constexpr double kMostSeconds = 3600;

TrackerOptions tracker_options(const TomlOptions& given) {
  TrackerOptions options;
  options.min_hits = given.whole_number("hits", 1, 1000).value_or(options.min_hits);
  options.max_misses = given.whole_number("misses", 0, 1000).value_or(options.max_misses);
  options.max_gap = given.number("gap", 0, kMostSeconds).value_or(options.max_gap);
  options.max_lost =
      given.number("lost", 0, kMostSeconds).value_or(std::max(options.max_lost, options.max_gap));
  options.min_overlap = given.number("overlap", 1e-6, 1).value_or(options.min_overlap);
  options.start_score = given.number("start", -1e9, 1e9).value_or(options.start_score);
  options.max_pause =
      given.number("pause", 0, kMostSeconds).value_or(std::max(options.max_pause, options.max_lost));
  given.expect_all_known();
  if (options.max_lost < options.max_gap)
    throw Error(ExitCode::usage, "'lost' is shorter than 'gap'", "give a 'lost' of at least 'gap'");
  if (options.max_pause < options.max_lost)
    throw Error(ExitCode::usage, "'pause' is shorter than 'lost'", "give a 'pause' of at least 'lost'");
  return options;
}

}  // namespace

ResultTracker::ResultTracker(const TomlOptions& options) : options_(tracker_options(options)) {}

Tracker& ResultTracker::tracker_for(const DetectorFacts& facts) {
  if (tracker_) return *tracker_;
  TrackerOptions options = options_;
  options.lowest_score = facts.threshold;
  options.names = facts.names;
  return tracker_.emplace(options);
}

ResultPtr ResultTracker::tracked(FrameResult result, const std::vector<Detection>& objects,
                                 std::uint32_t flags) const {
  result.objects = objects;
  return ResultPtr(new sl_result(facts_, std::move(result), flags, tracker_->predicted()));
}

void ResultTracker::expect_later(double time) const {
  if (!std::isfinite(time))
    throw CallError{SL_E_ARGUMENT, "the time is not a finite number", {}, "give the frame's time in seconds"};
  if (time_ && time <= *time_) {
    throw CallError{SL_E_ARGUMENT,
                    fmt::format("the time does not rise: {} s after {} s", time, *time_),
                    {},
                    "give each frame's own time in seconds, and open another tracker for another video"};
  }
}

ResultPtr ResultTracker::update(double time, const std::shared_ptr<const DetectorFacts>& facts,
                                FrameResult result) {
  Tracker& tracker = tracker_for(*facts);
  facts_ = facts;
  time_ = time;
  width_ = result.width;
  height_ = result.height;
  result.time = time;
  if (result.status != FrameStatus::ok)
    return tracked(std::move(result), tracker.predict(time), SL_TRACKED | SL_ESTIMATED);
  const std::vector<Detection>& objects = tracker.update(time, result.objects);
  return tracked(std::move(result), objects, SL_TRACKED);
}

ResultPtr ResultTracker::predict(double time) {
  if (!std::isfinite(time)) throw CallError{SL_E_ARGUMENT, "the time is not a finite number"};
  if (time_ && time < *time_) {
    throw CallError{SL_E_ARGUMENT,
                    fmt::format("the time {} s is before the last update at {} s", time, *time_),
                    {},
                    "give a time after it, in seconds"};
  }
  FrameResult result;
  result.time = time;
  result.width = width_;
  result.height = height_;
  constexpr std::uint32_t kFlags = SL_TRACKED | SL_ESTIMATED;
  if (!facts_) return ResultPtr(new sl_result(std::make_shared<DetectorFacts>(), std::move(result), kFlags));
  return tracked(std::move(result), tracker_->predict(time), kFlags);
}

}  // namespace sightline::api

struct sl_tracker {
  sightline::api::ResultTracker tracker;
  std::atomic<bool> is_busy{false};
};

using namespace sightline::api;

sl_status sl_tracker_open(const char* options, sl_tracker** tracker, sl_error* error) {
  return guarded(error, [&] {
    checked(tracker, "tracker") = nullptr;
    const TomlOptions given(options);
    *tracker = new sl_tracker{ResultTracker(given), {}};
  });
}

sl_status sl_tracker_update(sl_tracker* tracker, double time, const sl_result* in, sl_result** out,
                            sl_error* error) {
  return guarded(error, [&] {
    checked(out, "out") = nullptr;
    const sl_result& found = checked(in, "in");
    const OneAtATime alone(checked(tracker, "tracker").is_busy, "tracker");
    tracker->tracker.expect_later(time);
    *out = tracker->tracker.update(time, found.facts, found.result).release();
  });
}

sl_status sl_tracker_predict(sl_tracker* tracker, double time, sl_result** out, sl_error* error) {
  return guarded(error, [&] {
    checked(out, "out") = nullptr;
    const OneAtATime alone(checked(tracker, "tracker").is_busy, "tracker");
    *out = tracker->tracker.predict(time).release();
  });
}

void sl_tracker_free(sl_tracker* tracker) {
  if (!is_forked()) delete tracker;
}
