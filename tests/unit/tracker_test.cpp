#include "detection/tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "detection/known_names.hpp"
#include "pipeline/session/sinks.hpp"

namespace sightline {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kFramePeriod = 0.04;  // seconds

// 40x100 pixels with its centre at x, y.
Detection object_at(double x, double y, double score = 1, int label = 0) {
  return {{x - 20, y - 50, 40, 100}, score, label};
}
double centre(const Detection& object) {
  return object.box.x + object.box.width / 2;
}

/// Feeds frames to a tracker, at 25 frames a second unless told otherwise.
class Clip {
 public:
  explicit Clip(const TrackerOptions& options = {}) : tracker_(options) {}
  const std::vector<Detection>& frame(const std::vector<Detection>& objects, double seconds = kFramePeriod) {
    time_ += seconds;
    return tracker_.update(time_, objects);
  }
  void frames(int count, const std::vector<Detection>& objects) {
    for (int i = 0; i < count; ++i) frame(objects);
  }
  Tracker& tracker() { return tracker_; }
  double time() const { return time_; }

 private:
  Tracker tracker_;
  double time_ = 0;
};

std::int64_t track_near(const std::vector<Detection>& objects, double x) {
  for (const Detection& object : objects) {
    if (std::abs(centre(object) - x) < 20) return object.track;
  }
  return 0;
}

TEST(Tracker, AnObjectIsReportedFromItsThirdSightingOn) {
  Clip clip;
  EXPECT_THAT(clip.frame({object_at(100, 100)}), IsEmpty());
  EXPECT_THAT(clip.frame({object_at(100, 100)}), IsEmpty());
  const auto& objects = clip.frame({object_at(100, 100, 2.5)});
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_EQ(objects[0].track, 1);
  EXPECT_EQ(objects[0].score, 2.5);
  EXPECT_NEAR(objects[0].box.x, 80, 1e-9);
  EXPECT_NEAR(objects[0].box.y, 50, 1e-9);
  EXPECT_NEAR(objects[0].box.width, 40, 1e-9);
  EXPECT_NEAR(objects[0].box.height, 100, 1e-9);
}

TEST(Tracker, OneHitIsEnoughWhereAskedFor) {
  Clip clip({.min_hits = 1});
  const auto& objects = clip.frame({object_at(100, 100, 1), object_at(300, 100, 2)});
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0].score, 2);  // by falling score
  EXPECT_EQ(objects[0].track, 2);  // numbered in the order given
  EXPECT_EQ(objects[1].track, 1);
}

TEST(Tracker, WhatShowsUpForAMomentIsLeftOut) {
  Clip clip;
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(clip.frame({object_at(100, 100)}), IsEmpty());
    EXPECT_THAT(clip.frame({object_at(100, 100)}), IsEmpty());
    EXPECT_THAT(clip.frame({}), IsEmpty());
    EXPECT_THAT(clip.frame({}), IsEmpty());  // the second miss in a row forgets it
  }
  EXPECT_EQ(clip.tracker().tracks(), 0u);
  clip.frame({object_at(100, 100)});
  clip.frame({});
  clip.frame({object_at(100, 100)});
  clip.frame({});
  EXPECT_THAT(clip.frame({object_at(100, 100)}), SizeIs(1));  // one miss, and later another, do not
}

TEST(Tracker, AFlickerIsFilledWhereTheObjectHasGone) {
  Clip clip;
  double x = 100;
  for (int i = 0; i < 20; ++i) clip.frame({object_at(x += 4, 100)});
  for (int i = 0; i < 3; ++i) {
    const auto& objects = clip.frame({});
    x += 4;
    ASSERT_THAT(objects, SizeIs(1));
    EXPECT_EQ(objects[0].track, 1);
    EXPECT_NEAR(centre(objects[0]), x, 1);
  }
  const auto& objects = clip.frame({object_at(x += 4, 100)});
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_EQ(objects[0].track, 1);
}

TEST(Tracker, AGapIsFilledSoLongAndTheScoreFalls) {
  Clip clip({.max_gap = 0.2, .lowest_score = 0.5});
  clip.frames(5, {object_at(100, 100, 1.5)});
  double last = 1.5;
  for (int i = 1; i <= 4; ++i) {
    const auto& objects = clip.frame({});
    ASSERT_THAT(objects, SizeIs(1)) << i;
    EXPECT_NEAR(objects[0].score, 1.5 - i * kFramePeriod / 0.2, 1e-9);
    EXPECT_LT(objects[0].score, last);
    last = objects[0].score;
  }
  clip.frame({});
  EXPECT_THAT(clip.frame({}), IsEmpty());
  EXPECT_THAT(clip.frame({object_at(100, 100)}), SizeIs(1));  // the identity was still there

  Clip none({.max_gap = 0});
  none.frames(5, {object_at(100, 100)});
  EXPECT_THAT(none.frame({}), IsEmpty());
  EXPECT_THAT(none.frame({}, 0), IsEmpty());

  Clip weak({.lowest_score = 0.5});  // a score below the lowest stays as it is
  weak.frames(5, {object_at(100, 100, 0.25)});
  EXPECT_EQ(weak.frame({}).at(0).score, 0.25);
}

TEST(Tracker, AnOcclusionKeepsTheIdentityAndALongOneDoesNot) {
  for (const int hidden : {20, 40}) {
    Clip clip;
    double x = 100;
    for (int i = 0; i < 20; ++i) clip.frame({object_at(x += 3, 100)});
    for (int i = 0; i < hidden; ++i, x += 3) clip.frame({});
    for (int i = 0; i < 3; ++i) clip.frame({object_at(x += 3, 100)});
    const auto& objects = clip.frame({object_at(x += 3, 100)});
    ASSERT_THAT(objects, SizeIs(1));
    EXPECT_EQ(objects[0].track, hidden == 20 ? 1 : 2);  // 0.8 s and 1.6 s of 1 s
  }
}

TEST(Tracker, CrossingObjectsKeepTheirIdentities) {
  Clip clip;
  std::vector<Detection> objects;
  for (int i = 0; i < 60; ++i) {
    const double left = 100 + 5 * i;
    const double right = 400 - 5 * i;
    // Where they overlap, the detector finds the nearer one only.
    std::vector<Detection> found{object_at(left, 100)};
    if (std::abs(left - right) > 30) found.push_back(object_at(right, 112));
    objects = clip.frame(found);
    if (i == 10) {
      EXPECT_EQ(track_near(objects, left), 1);
      EXPECT_EQ(track_near(objects, right), 2);
    }
  }
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(track_near(objects, 395), 1);
  EXPECT_EQ(track_near(objects, 105), 2);
}

TEST(Tracker, AHiddenObjectIsNotReportedOnTopOfTheOneInFront) {
  Clip clip;
  clip.frames(5, {object_at(100, 100), object_at(115, 100)});
  EXPECT_THAT(clip.frame({object_at(100, 100)}), SizeIs(1));
  clip.frames(5, {object_at(100, 100)});
  const auto& objects = clip.frame({object_at(100, 100), object_at(115, 100)});
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0].track + objects[1].track, 3);
}

TEST(Tracker, TheBestPairingWinsOverTheBestPair) {
  // The left one moved onto the middle between both; nearest first would give it the right one's box.
  Clip clip;
  clip.frames(5, {object_at(100, 100), object_at(116, 100)});
  const auto& objects = clip.frame({object_at(113, 100), object_at(128, 100)});
  ASSERT_THAT(objects, SizeIs(2));
  const bool first = objects[0].track == 1;
  EXPECT_LT(centre(objects[first ? 0 : 1]), centre(objects[first ? 1 : 0]));
}

TEST(Tracker, LabelsNeverMix) {
  Clip clip({.min_hits = 1});
  for (int i = 0; i < 10; ++i) {
    const auto& objects = clip.frame({object_at(100, 100, 2, 0), object_at(100, 100, 1, 1)});
    ASSERT_THAT(objects, SizeIs(2));
    EXPECT_EQ(objects[0].label, 0);
    EXPECT_EQ(objects[0].track, 1);
    EXPECT_EQ(objects[1].label, 1);
    EXPECT_EQ(objects[1].track, 2);
  }
  // In place of both, something else: it is new, and they are missing.
  std::map<std::int64_t, int> labels;
  for (const Detection& object : clip.frame({object_at(100, 100, 2, 7)})) labels[object.track] = object.label;
  EXPECT_EQ(labels, (std::map<std::int64_t, int>{{1, 0}, {2, 1}, {3, 7}}));
}

TEST(Tracker, UnevenTimesAreTakenAsTheyAre) {
  // 100 pixels a second; with a fixed step the prediction after the longer one would be 20 pixels off.
  Clip clip({.max_gap = 1});
  for (int i = 0; i < 6; ++i) {
    for (const double step : {0.04, 0.12, 0.08})
      clip.frame({object_at(100 + 100 * (clip.time() + step), 100)}, step);
  }
  const auto& objects = clip.frame({}, 0.24);
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_NEAR(centre(objects[0]), 100 + 100 * clip.time(), 1);
}

TEST(Tracker, BoxesAreSteadierThanWhatWasFound) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 3);
  Clip clip;
  double found = 0;
  double reported = 0;
  for (int i = 0; i < 200; ++i) {
    const double x = 100 + 4 * i;
    const double shift = noise(random);
    const auto& objects = clip.frame({object_at(x + shift, 100)});
    if (i < 20) continue;
    ASSERT_THAT(objects, SizeIs(1));
    found += shift * shift;
    reported += (centre(objects[0]) - x) * (centre(objects[0]) - x);
  }
  EXPECT_LT(reported, 0.7 * found);
}

TEST(Tracker, WeakObjectsOnlyContinueTracks) {
  Clip clip({.max_gap = 0, .start_score = 1});
  for (int i = 0; i < 10; ++i) EXPECT_THAT(clip.frame({object_at(300, 100, 0.9)}), IsEmpty());
  EXPECT_EQ(clip.tracker().tracks(), 0u);
  clip.frames(5, {object_at(100, 100, 1)});
  const auto& objects = clip.frame({object_at(100, 100, 0.9), object_at(300, 100, 0.9)});
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_EQ(objects[0].track, 1);
  EXPECT_EQ(objects[0].score, 0.9);
  // A strong one has the first choice, even where a weak one fits better.
  const auto& both = clip.frame({object_at(100, 100, 0.5), object_at(110, 100, 3)});
  ASSERT_THAT(both, SizeIs(1));
  EXPECT_EQ(both[0].score, 3);
}

TEST(Tracker, TheKnownHaveTheFirstChoice) {
  Clip clip;
  clip.frames(10, {object_at(100, 100)});
  clip.frame({object_at(100, 100), object_at(120, 100)});   // a newcomer
  const auto& objects = clip.frame({object_at(112, 100)});  // nearer to the newcomer
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_EQ(objects[0].track, 1);
  EXPECT_GT(centre(objects[0]), 102);
}

TEST(Tracker, IdentitiesAreNeverUsedAgain) {
  Clip clip;
  std::int64_t last = 0;
  for (int i = 0; i < 6; ++i) {
    for (int n = 0; n < 4; ++n) {
      for (const Detection& object : clip.frame({object_at(100 + 300 * (i % 2), 100)}))
        if (n == 3 && std::abs(centre(object) - (100 + 300 * (i % 2))) < 1) last = object.track;
    }
    EXPECT_EQ(last, i + 1);
    if (i == 1) clip.frame({}, 10);   // a pause
    if (i == 3) clip.frame({}, -20);  // time that goes backwards
    clip.frames(30, {});
  }
}

TEST(Tracker, APauseOrAStepBackEndsAllTracks) {
  for (const double step : {3.5, -0.04, std::nan("")}) {
    Clip clip;
    clip.frames(5, {object_at(100, 100)});
    EXPECT_THAT(clip.frame({object_at(100, 100)}, step), IsEmpty()) << step;
    EXPECT_EQ(clip.tracker().tracks(), 1u);
  }
  Clip clip;
  clip.frames(5, {object_at(100, 100)});
  EXPECT_THAT(clip.frame({object_at(100, 100)}, 0), SizeIs(1));  // the same time again is no step back
}

TEST(Tracker, NothingAndNonsense) {
  Clip clip({.min_hits = 1});
  EXPECT_THAT(clip.frame({}), IsEmpty());
  const double nan = std::nan("");
  EXPECT_THAT(clip.frame({{{nan, 0, 10, 10}, 1, 0},
                          {{0, 0, 0, 10}, 1, 0},
                          {{0, 0, 10, -1}, 1, 0},
                          {{0, 0, INFINITY, 10}, 1, 0},
                          object_at(50, 60, nan),
                          object_at(50, 60, INFINITY)}),
              IsEmpty());
  EXPECT_THROW(Tracker({.min_hits = 0}), std::invalid_argument);
  EXPECT_THROW(Tracker({.min_overlap = 0}), std::invalid_argument);
  EXPECT_THROW(Tracker({.max_lost = -1}), std::invalid_argument);
  EXPECT_THROW(Tracker({.max_gap = nan}), std::invalid_argument);
}

TEST(Tracker, PredictShowsWhatIsLikelyAndChangesNothing) {
  Clip clip;
  Clip undisturbed;
  double x = 100;
  for (int i = 0; i < 20; ++i) {
    x += 4;
    clip.frame({object_at(x, 100, 2)});
    undisturbed.frame({object_at(x, 100, 2)});
  }
  const std::vector<Detection> ahead = clip.tracker().predict(clip.time() + 0.5);
  ASSERT_THAT(ahead, SizeIs(1));
  EXPECT_NEAR(centre(ahead[0]), x + 50, 1);
  EXPECT_EQ(ahead[0].score, 2);
  EXPECT_EQ(ahead[0].track, 1);
  EXPECT_THAT(clip.tracker().predict(clip.time() + 1.5), IsEmpty());
  EXPECT_THAT(clip.tracker().predict(clip.time() - 0.1), IsEmpty());
  EXPECT_EQ(clip.frame({object_at(x + 4, 100)}), undisturbed.frame({object_at(x + 4, 100)}));
}

// A crowd that walks, with misses and false alarms.
std::vector<std::vector<Detection>> crowd(int people, int frames) {
  std::mt19937 random(11);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 100000) / 100000;
  };
  std::vector<double> x, y, speed;
  for (int i = 0; i < people; ++i) {
    x.push_back(uniform(0, 4000));
    y.push_back(120.0 * i);
    speed.push_back(uniform(-4, 4));
  }
  std::vector<std::vector<Detection>> result;
  for (int f = 0; f < frames; ++f) {
    std::vector<Detection> found;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += speed[i];
      if (random() % 10)
        found.push_back(object_at(x[i] + uniform(-2, 2), y[i] + uniform(-2, 2), uniform(0, 3)));
    }
    found.push_back(object_at(uniform(0, 4000), -500, 1));
    std::shuffle(found.begin(), found.end(), random);
    result.push_back(found);
  }
  return result;
}

class SomeNames : public KnownNames {
 public:
  std::shared_ptr<const std::vector<std::string>> names() const override {
    return std::make_shared<const std::vector<std::string>>(known);
  }
  std::vector<std::string> known{"Ann", "Bob"};
};

// Ann, or Bob who looks almost like her.
Detection ann_at(double x) {
  Detection object = object_at(x, 100);
  DetectionAttributes attributes;
  attributes.name = "Ann";
  attributes.distance = 0.5;
  attributes.identities = {{"Ann", 0.5}, {"Bob", 0.9}};
  attributes.limit = 1;
  object.attributes = std::move(attributes);
  return object;
}

TEST(Tracker, WhoIsDeletedIsNotNamedAnyMore) {
  const auto names = std::make_shared<SomeNames>();
  TrackerOptions options;
  options.names = names;
  options.max_gap = options.max_lost = 2;
  Clip clip(options);
  clip.frames(30, {ann_at(100), ann_at(300)});
  ASSERT_THAT(clip.frame({ann_at(100)}), SizeIs(2)) << "one of them is predicted";
  for (const Detection& one : clip.frame({ann_at(100)})) EXPECT_EQ(one.attributes.name(), "Ann");

  names->known = {"Bob"};
  for (const Detection& one : clip.tracker().predict(clip.time())) {
    EXPECT_EQ(one.attributes.name(), kUnknownName);
    EXPECT_EQ(one.attributes->identities, (std::vector<Identity>{{"Bob", one.attributes->distance.value()}}));
  }
  // Also where a frame that was on its way still names her.
  const auto& later = clip.frame({ann_at(100)});
  ASSERT_THAT(later, SizeIs(2));
  for (const Detection& one : later) EXPECT_NE(one.attributes.name(), "Ann");

  names->known.clear();
  for (const Detection& one : clip.frame({ann_at(100)})) {
    EXPECT_EQ(one.attributes.name(), kUnknownName);
    EXPECT_THAT(one.attributes->identities, IsEmpty());
    EXPECT_FALSE(one.attributes->distance);
  }
}

TEST(Tracker, WhoIsNamedAnewHasTheNewNameAtOnce) {
  const auto names = std::make_shared<SomeNames>();
  TrackerOptions options;
  options.names = names;
  Clip clip(options);
  clip.frames(30, {ann_at(100)});
  names->known = {"Anna", "Bob"};
  Detection renamed = ann_at(100);
  DetectionAttributes attributes = *renamed.attributes;
  attributes.name = attributes.identities.front().name = "Anna";
  renamed.attributes = attributes;
  const auto& objects = clip.frame({renamed});
  ASSERT_THAT(objects, SizeIs(1));
  EXPECT_EQ(objects[0].attributes.name(), "Anna");
}

TEST(Tracker, HundredsOfObjectsKeepTheirIdentities) {
  Clip clip;
  std::map<int, std::set<std::int64_t>> identities;  // by row, each of which holds one person
  std::size_t reported = 0;
  for (const auto& found : crowd(300, 60)) {
    const auto& objects = clip.frame(found);
    for (std::size_t i = 1; i < objects.size(); ++i) EXPECT_GE(objects[i - 1].score, objects[i].score);
    for (const Detection& object : objects) {
      const double y = object.box.y + object.box.height / 2;
      identities[static_cast<int>(std::lround(y / 120))].insert(object.track);
    }
    reported = objects.size();
  }
  EXPECT_EQ(reported, 300u);  // nobody flickers, no false alarm
  ASSERT_EQ(identities.size(), 300u);
  for (const auto& [row, ids] : identities) EXPECT_EQ(ids.size(), 1u) << row;
}

TEST(Tracker, TheSameFramesGiveTheSameResult) {
  const auto frames = crowd(50, 40);
  Clip one;
  Clip other;
  for (const auto& found : frames) EXPECT_EQ(one.frame(found), other.frame(found));
}

class Kept : public pipeline::Sink {
 public:
  void accept(const Frame&, const FrameResult& result) override { results.push_back(result); }
  std::vector<FrameResult> results;
};

TEST(TrackingSink, PassesFramesOnAndDoesNotCountUnsearchedOnesAsMisses) {
  Kept kept;
  Kept second;
  pipeline::TrackingSink sink({.min_hits = 2, .max_misses = 0, .max_gap = 0}, {&kept, &second});
  for (int i = 1; i <= 6; ++i) {
    FrameResult result{"a.mp4", i, i * kFramePeriod, FrameStatus::ok, 768, 576, {object_at(100 + 4 * i, 100)},
                       ""};
    if (i == 2) result = {"a.mp4", i, i * kFramePeriod, FrameStatus::failed, 768, 576, {}, "lost"};
    if (i == 4) result = {"a.mp4", i, i * kFramePeriod, FrameStatus::skipped, 768, 576, {}, "small"};
    sink.accept({}, result);
  }
  ASSERT_THAT(kept.results, SizeIs(6));
  EXPECT_THAT(second.results, SizeIs(6));
  EXPECT_THAT(kept.results[0].objects, IsEmpty());
  EXPECT_THAT(kept.results[1].objects, IsEmpty());
  EXPECT_EQ(kept.results[1].message, "lost");
  EXPECT_EQ(kept.results[1].status, FrameStatus::failed);
  for (const std::size_t i : {2, 3, 4, 5}) {
    ASSERT_THAT(kept.results[i].objects, SizeIs(1)) << i;
    EXPECT_EQ(kept.results[i].objects[0].track, 1);
    EXPECT_NEAR(centre(kept.results[i].objects[0]), 104 + 4 * static_cast<double>(i), 3);
    EXPECT_EQ(kept.results[i].frame, static_cast<std::int64_t>(i) + 1);
  }
}

}  // namespace
}  // namespace sightline
