#include "detection/grouping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Grouping, SurestOfOverlappingWindowsStays) {
  const Detection weak{{0, 0, 10, 20}, 1.0, 0};
  const Detection sure{{1, 1, 10, 20}, 2.0, 0};
  EXPECT_THAT(suppress_non_maxima({weak, sure}, 0.65), ElementsAre(sure));
  EXPECT_THAT(suppress_non_maxima({sure, weak}, 0.65), ElementsAre(sure));
  EXPECT_THAT(suppress_non_maxima({}, 0.65), IsEmpty());
}

TEST(Grouping, ResultFallsByScoreAndEqualOnesKeepTheirOrder) {
  const Detection a{{0, 0, 10, 10}, 1.0, 0};
  const Detection b{{100, 0, 10, 10}, 3.0, 0};
  const Detection c{{200, 0, 10, 10}, 1.0, 0};
  const Detection d{{300, 0, 10, 10}, -2.0, 0};
  EXPECT_THAT(suppress_non_maxima({d, a, b, c}, 0.5), ElementsAre(b, a, c, d));
  // Of two equally sure ones at one place, the earlier.
  const Detection e{{1, 0, 10, 10}, 1.0, 0};
  EXPECT_THAT(suppress_non_maxima({e, a}, 0.5), ElementsAre(e));
}

TEST(Grouping, OverlapIsRelativeToTheSmallerBox) {
  const Detection large{{0, 0, 100, 100}, 2.0, 0};
  const Detection inside{{40, 40, 10, 10}, 1.0, 0};  // 1% of the union, all of the smaller
  EXPECT_THAT(suppress_non_maxima({large, inside}, 0.65), ElementsAre(large));
  const Detection partly{{95, 0, 10, 10}, 1.0, 0};  // half of the smaller
  EXPECT_THAT(suppress_non_maxima({large, partly}, 0.65), ElementsAre(large, partly));
}

TEST(Grouping, TheLimitItselfIsStillAllowed) {
  const Detection a{{0, 0, 10, 10}, 2.0, 0};
  const Detection half{{5, 0, 10, 10}, 1.0, 0};
  EXPECT_THAT(suppress_non_maxima({a, half}, 0.5), ElementsAre(a, half));
  EXPECT_THAT(suppress_non_maxima({a, half}, 0.49), ElementsAre(a));
  const Detection beside{{10, 0, 10, 10}, 1.0, 0};
  EXPECT_THAT(suppress_non_maxima({a, beside}, 0.0), ElementsAre(a, beside));
  EXPECT_THAT(suppress_non_maxima({a, a}, 1.0), ElementsAre(a, a));
  // Its right edge, 0.1 + 0.2, is a little to the right of 0.3, so that it is wider than itself within the
  // first.
  const Detection wide{{0, 0, 1, 1}, 2.0, 0};
  const Detection within{{0.1, 0, 0.2, 1}, 1.0, 0};
  EXPECT_THAT(suppress_non_maxima({wide, within}, 1.0), ElementsAre(wide, within));
}

TEST(Grouping, WhatIsDroppedDropsNothing) {
  // b falls to a; c overlaps b alone and stays.
  const Detection a{{0, 0, 10, 10}, 3.0, 0};
  const Detection b{{3, 0, 10, 10}, 2.0, 0};
  const Detection c{{6, 0, 10, 10}, 1.0, 0};
  EXPECT_THAT(suppress_non_maxima({a, b, c}, 0.65), ElementsAre(a, c));
}

TEST(Grouping, LabelsDoNotTouchEachOther) {
  const Detection person{{0, 0, 10, 10}, 2.0, 0};
  const Detection bicycle{{0, 0, 10, 10}, 1.0, 1};
  EXPECT_THAT(suppress_non_maxima({person, bicycle}, 0.5), ElementsAre(person, bicycle));
}

TEST(MergeBoxes, ABoxIsTheMeanOfItsOwnAndOfThoseItSuppressed) {
  const Detection sure{{10, 10, 10, 20}, 3.0, 0};
  const Detection near{{12, 10, 10, 24}, 2.5, 0};
  const Detection nearer{{11, 8, 10, 22}, 2.0, 0};
  const Detection apart{{100, 10, 10, 20}, 1.0, 0};
  EXPECT_THAT(merge_boxes({apart, nearer, sure, near}, 0.65, {}),
              ElementsAre(Detection{{11, 28.0 / 3, 10, 22}, 3.0, 0}, apart));
  EXPECT_THAT(merge_boxes({}, 0.65, {}), IsEmpty());
}

TEST(MergeBoxes, WhatIsMuchLessSureOrElsewhereDoesNotCount) {
  const Detection sure{{0, 0, 10, 20}, 3.0, 0};
  const Detection unsure{{1, 0, 10, 20}, 1.99, 0};
  const Detection just{{1, 0, 10, 20}, 2.0, 0};
  EXPECT_THAT(merge_boxes({sure, unsure}, 0.65, {}), ElementsAre(sure));
  EXPECT_THAT(merge_boxes({sure, just}, 0.65, {}), ElementsAre(Detection{{0.5, 0, 10, 20}, 3.0, 0}));
  const Detection inside{{2, 5, 5, 10}, 2.9, 0};  // a quarter of the union, all of the smaller
  EXPECT_THAT(merge_boxes({sure, inside}, 0.65, {}), ElementsAre(sure));
  EXPECT_THAT(merge_boxes({sure, inside}, 0.65, {0.25, 1}),
              ElementsAre(Detection{{1, 2.5, 7.5, 15}, 3.0, 0}));
}

TEST(MergeBoxes, KeepsWhatSuppressionKeeps) {
  // b falls to a; c overlaps b alone and stays as it is, and so does one of another label.
  const Detection a{{0, 0, 10, 10}, 3.0, 0};
  const Detection b{{3, 0, 10, 10}, 2.5, 0};
  const Detection c{{6, 0, 10, 10}, 2.4, 0};
  const Detection other{{0, 0, 10, 10}, 2.9, 1};
  EXPECT_THAT(merge_boxes({a, b, c, other}, 0.65, {}),
              ElementsAre(Detection{{1.5, 0, 10, 10}, 3.0, 0}, other, c));
}

}  // namespace
}  // namespace sightline
