#include "detection/track_counter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "support/errors.hpp"

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = CountEvent::Kind;

// Shares of this size are exact in binary, and so are their pixels.
constexpr Size kFrame{128, 128};
const std::vector<std::string> kCountedLabels{"person", "car"};

struct Pixel {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

Point share_of(Pixel p) {
  return {static_cast<double>(p.x) / kFrame.width, static_cast<double>(p.y) / kFrame.height};
}

// A box whose lower edge has its middle there.
Detection standing_at(Pixel p, std::int64_t track = 1, int label = 0) {
  Detection object;
  object.box = {static_cast<double>(p.x) - 4, static_cast<double>(p.y) - 16, 8, 16};
  object.label = label;
  object.track = track;
  return object;
}

CountRules line_rules(Pixel from, Pixel to, int frames = 2) {
  CountRules rules;
  rules.lines.push_back({"door", share_of(from), share_of(to), frames});
  return rules;
}

// What happens on a way, a frame a second.
std::vector<Kind> kinds_on(TrackCounter& counter, const std::vector<Pixel>& way, std::int64_t track = 1) {
  std::vector<Kind> kinds;
  double time = 0;
  for (const Pixel p : way) {
    const Detection object = standing_at(p, track);
    for (const CountEvent& event : counter.update(time++, kFrame, {&object, 1}, kCountedLabels))
      kinds.push_back(event.kind);
  }
  return kinds;
}

// Across the frame at y = 64; above it is the left of who walks to the right.
const CountRules kAcross = line_rules({32, 64}, {96, 64});

TEST(TrackCounter, DownIsInAndUpIsOut) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{64, 40}, {64, 50}, {64, 70}, {64, 80}}), ElementsAre(Kind::in));
  EXPECT_THAT(kinds_on(counter, {{64, 70}, {64, 50}, {64, 40}}), ElementsAre(Kind::out));
  EXPECT_EQ(counter.line_totals()[0].in, 1);
  EXPECT_EQ(counter.line_totals()[0].out, 1);
}

TEST(TrackCounter, FlickerCountsNothing) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{64, 60}, {64, 60}, {64, 66}, {64, 60}, {64, 60}, {64, 66}, {64, 62}}),
              IsEmpty());
}

TEST(TrackCounter, WaitingOnTheLineChangesNothing) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{64, 60}, {64, 60}, {64, 64}, {64, 64}, {64, 64}, {64, 60}, {64, 64}}),
              IsEmpty());
  EXPECT_THAT(kinds_on(counter, {{64, 70}, {64, 64}, {64, 70}}), ElementsAre(Kind::in));
}

TEST(TrackCounter, BeyondTheEndsIsNoCrossing) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{100, 40}, {100, 50}, {100, 70}, {100, 80}}), IsEmpty());
  EXPECT_THAT(kinds_on(counter, {{64, 80}, {64, 50}, {64, 40}}), ElementsAre(Kind::out));
}

TEST(TrackCounter, TheEndsCount) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{96, 40}, {96, 50}, {96, 70}, {96, 80}}), ElementsAre(Kind::in));
}

TEST(TrackCounter, ThePathThroughTheLineDecides) {
  // Straight from the first to the last point would cross the segment, but the way goes around its end.
  TrackCounter around(kAcross);
  EXPECT_THAT(kinds_on(around, {{80, 40}, {80, 40}, {110, 64}, {80, 80}, {80, 80}}), IsEmpty());
  TrackCounter through(kAcross);
  EXPECT_THAT(kinds_on(through, {{110, 40}, {110, 40}, {80, 64}, {110, 80}, {110, 80}}),
              ElementsAre(Kind::in));
}

TEST(TrackCounter, AJumpOverTheLineCounts) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{40, 0}, {40, 0}, {90, 128}, {90, 128}}), ElementsAre(Kind::in));
}

TEST(TrackCounter, ATrackThatStartsOnTheLineCountsFromItsFirstSide) {
  TrackCounter counter(kAcross);
  EXPECT_THAT(kinds_on(counter, {{64, 64}, {64, 64}, {64, 70}, {64, 70}}), IsEmpty());
  EXPECT_THAT(kinds_on(counter, {{64, 60}, {64, 60}}), ElementsAre(Kind::out));
}

TEST(TrackCounter, OnlyWantedLabelsAndTracksCount) {
  CountRules rules = kAcross;
  rules.lines[0].labels = {"car"};
  TrackCounter counter(rules);
  EXPECT_THAT(kinds_on(counter, {{64, 40}, {64, 40}, {64, 80}, {64, 80}}), IsEmpty());
  double time = 10;
  for (const Pixel p : {Pixel{64, 40}, {64, 40}, {64, 80}, {64, 80}}) {
    const Detection untracked = standing_at(p, 0, 1), car = standing_at(p, 7, 1);
    counter.update(time++, kFrame, std::vector{untracked, car}, kCountedLabels);
  }
  EXPECT_EQ(counter.line_totals()[0].in, 1);
}

TEST(TrackCounter, AZoneIsEnteredAndLeftWithInertia) {
  CountRules rules;
  rules.zones.push_back({"yard", {{0.25, 0.25}, {0.75, 0.25}, {0.75, 0.75}, {0.25, 0.75}}, 2, 3});
  TrackCounter counter(rules);
  // Its edge at (32, 64) is inside.
  EXPECT_THAT(kinds_on(counter, {{10, 64},
                                 {32, 64},
                                 {10, 64},
                                 {32, 64},
                                 {40, 64},
                                 {50, 64},
                                 {50, 64},
                                 {50, 64},
                                 {50, 64},
                                 {10, 64},
                                 {50, 64},
                                 {10, 64},
                                 {10, 64}}),
              ElementsAre(Kind::entered, Kind::dwell, Kind::left));
  EXPECT_EQ(counter.zone_totals()[0], (CountTotals{0, 0, 1, 1, 0}));
}

TEST(TrackCounter, ATrackThatEndsInAZoneLeavesIt) {
  CountRules rules;
  rules.zones.push_back({"yard", {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 1});
  rules.lost = 2;
  TrackCounter counter(rules);
  const Detection object = standing_at({64, 64});
  EXPECT_EQ(counter.update(0, kFrame, {&object, 1}, kCountedLabels).size(), 1u);
  EXPECT_THAT(counter.update(2, kFrame, {}, kCountedLabels), IsEmpty());
  EXPECT_THAT(counter.update(2.5, kFrame, {}, kCountedLabels),
              ElementsAre(CountEvent{Kind::left, 0, 1, 0, 2.5}));
  EXPECT_EQ(counter.zone_totals()[0].inside, 0);
}

TEST(TrackCounter, RulesAreChecked) {
  using test::expect_error;
  expect_error(ExitCode::usage, "no length", [] { TrackCounter counter(line_rules({1, 1}, {1, 1})); });
  CountRules twice = kAcross;
  twice.lines.push_back(twice.lines[0]);
  expect_error(ExitCode::usage, "named 'door'", [&] { TrackCounter counter(twice); });
  CountRules flat;
  flat.zones.push_back({"yard", {{0, 0}, {1, 1}}});
  expect_error(ExitCode::usage, "three points", [&] { TrackCounter counter(flat); });
}

// --- the same from whole tracks, in integers ---------------------------------------------------------------

std::int64_t area(Pixel a, Pixel b, Pixel c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

int sign(std::int64_t value) {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

bool meet(Pixel a, Pixel b, Pixel c, Pixel d) {
  const auto overlap = [](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
    return std::max(std::min(p, q), std::min(r, s)) <= std::min(std::max(p, q), std::max(r, s));
  };
  return overlap(a.x, b.x, c.x, d.x) && overlap(a.y, b.y, c.y, d.y) &&
         sign(area(a, b, c)) * sign(area(a, b, d)) <= 0 && sign(area(c, d, a)) * sign(area(c, d, b)) <= 0;
}

struct Crossing {
  Kind kind;
  std::size_t frame;
  friend bool operator==(const Crossing&, const Crossing&) = default;
};

// Runs of anchors on one side, those on the line left out; a run of `frames` settles.
std::vector<Crossing> crossings_of(const std::vector<Pixel>& way, Pixel from, Pixel to, int frames) {
  std::vector<Crossing> all;
  std::vector<std::size_t> run;
  std::optional<std::size_t> before;  // the last anchor of the run before
  int run_side = 0, settled = 0;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const int side = sign(area(from, to, way[i]));
    if (side == 0) continue;
    if (side != run_side) {
      if (!run.empty()) before = run.back();
      run.clear();
      run_side = side;
    }
    run.push_back(i);
    if (side == settled || static_cast<int>(run.size()) != frames) continue;
    if (settled != 0) {
      bool meets = false;
      for (std::size_t k = *before; k < run.front(); ++k) meets = meets || meet(way[k], way[k + 1], from, to);
      if (meets) all.push_back({side > 0 ? Kind::in : Kind::out, i});
    }
    settled = side;
  }
  return all;
}

TEST(TrackCounter, LinesEqualPlainCodeOnWholeTracks) {
  std::mt19937_64 engine(1);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine);
  };
  int crossings = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const int span = number(2, 40);  // small ones meet ends and the line itself often
    const auto pixel = [&] { return Pixel{64 + number(-span, span), 64 + number(-span, span)}; };
    const Pixel from = pixel();
    Pixel to = pixel();
    if (from.x == to.x && from.y == to.y) ++to.x;
    const int frames = number(1, 4);
    std::vector<Pixel> way;
    for (int i = number(1, 60); i > 0; --i)
      way.push_back(!way.empty() && number(0, 2) == 0 ? way.back() : pixel());
    TrackCounter counter(line_rules(from, to, frames));
    std::vector<Crossing> found;
    for (std::size_t i = 0; i < way.size(); ++i) {
      const Detection object = standing_at(way[i]);
      for (const CountEvent& event :
           counter.update(0.04 * static_cast<double>(i), kFrame, {&object, 1}, kCountedLabels))
        found.push_back({event.kind, i});
    }
    const std::vector<Crossing> expected = crossings_of(way, from, to, frames);
    ASSERT_EQ(found.size(), expected.size()) << "trial " << trial;
    ASSERT_TRUE(std::ranges::equal(found, expected)) << "trial " << trial;
    crossings += static_cast<int>(found.size());
  }
  EXPECT_GT(crossings, 10'000);
}

// Whether a polygon with whole corners contains a whole point: winding by quadrants would do, too; here, by
// the edges that a ray meets, in integers.
bool contains(const std::vector<Pixel>& polygon, Pixel p) {
  bool inside = false;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Pixel a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    if (area(a, b, p) == 0 && meet(a, b, p, p)) return true;
    if ((a.y > p.y) == (b.y > p.y)) continue;
    // The ray to the left, with both sides multiplied by the edge's height.
    const std::int64_t height = b.y - a.y;
    const std::int64_t left = (p.x - a.x) * height, right = (p.y - a.y) * (b.x - a.x);
    if (height > 0 ? left > right : left < right) inside = !inside;
  }
  return inside;
}

TEST(TrackCounter, ZonesEqualPlainCode) {
  std::mt19937_64 engine(2);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine);
  };
  for (int trial = 0; trial < 3'000; ++trial) {
    std::vector<Pixel> polygon(static_cast<std::size_t>(number(3, 7)));
    for (Pixel& corner : polygon) corner = {number(50, 60), number(50, 60)};
    CountRules rules;
    rules.zones.push_back({"zone", {}, 1});
    for (const Pixel corner : polygon) rules.zones[0].polygon.push_back(share_of(corner));
    TrackCounter counter(rules);
    for (int i = 0; i < 40; ++i) {
      const Pixel p{number(48, 62), number(48, 62)};
      const Detection object = standing_at(p);
      counter.update(i, kFrame, {&object, 1}, kCountedLabels);
      ASSERT_EQ(counter.zone_totals()[0].inside == 1, contains(polygon, p)) << "trial " << trial;
    }
  }
}

}  // namespace
}  // namespace sightline
