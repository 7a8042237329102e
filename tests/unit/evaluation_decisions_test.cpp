#include "evaluation/decisions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using ::testing::HasSubstr;

const std::vector<PictureScore> kEightPictures{{3, true},
                                               {1, false},
                                               {2, true},
                                               {2, false},
                                               {0, false},
                                               {-1, true},
                                               {-kFindsNothing, true},
                                               {-kFindsNothing, false}};

TEST(Confusion, FiguresAreThoseOfTheSeedsTable) {
  const Confusion counts{215, 92, 62, 245};
  EXPECT_NEAR(counts.accuracy(), 0.75, 0.005);
  EXPECT_NEAR(counts.precision(), 0.78, 0.005);
  EXPECT_NEAR(counts.recall(), 0.70, 0.005);
  EXPECT_NEAR(counts.f1(), 0.74, 0.005);
  EXPECT_NEAR(f1_score(counts.precision(), counts.recall()), counts.f1(), 1e-12);
}

TEST(Confusion, NothingFoundIsZeroNotAHole) {
  const Confusion counts{0, 5, 0, 5};
  EXPECT_EQ(counts.precision(), 0);
  EXPECT_EQ(counts.f1(), 0);
  EXPECT_EQ(f1_score(0, 0), 0);
  EXPECT_EQ(counts.accuracy(), 0.5);
}

TEST(Decisions, APointForEachScoreBehindTheOneThatFindsNothing) {
  const Decisions decisions = decide("ours", kEightPictures);
  const std::vector<Decision> expected{{kFindsNothing, {0, 4, 0, 4}},
                                       {3, {1, 3, 0, 4}},
                                       {2, {2, 2, 1, 3}},
                                       {1, {2, 2, 2, 2}},
                                       {0, {2, 2, 3, 1}},
                                       {-1, {3, 1, 3, 1}}};
  EXPECT_EQ(decisions.points, expected);
}

TEST(Decisions, AtAThresholdCountsWhatReachesIt) {
  const Decisions decisions = decide("ours", kEightPictures);
  EXPECT_EQ(decisions.at(2).counts, (Confusion{2, 2, 1, 3}));
  EXPECT_EQ(decisions.at(2.5).counts, (Confusion{1, 3, 0, 4}));
  EXPECT_EQ(decisions.at(9).counts, (Confusion{0, 4, 0, 4}));
  EXPECT_EQ(decisions.at(-9).counts, (Confusion{3, 1, 3, 1}));
}

TEST(Decisions, TheBestHasTheHighestF1AndThenTheHighestThreshold) {
  EXPECT_EQ(decide("ours", kEightPictures).best().threshold, -1);  // F1 0.6
  const std::vector<PictureScore> equals{{2, true}, {1, false}, {0, true}, {0, false}, {-1, false}};
  // F1 is 2/3 at 2, 1/2 at 1, 2/3 at 0.
  EXPECT_EQ(decide("ours", equals).best().threshold, 2);
}

TEST(Decisions, TheBestDetectorIsNamed) {
  const std::vector<Decisions> detectors{decide("worse", kEightPictures),
                                         decide("better", std::vector<PictureScore>{{1, true}, {0, false}})};
  EXPECT_EQ(best_of(detectors).name, "better");
}

TEST(Decisions, PicturesOfOneKindDecideNothing) {
  test::expect_error(ExitCode::input, "1 pictures", [] { decide("", std::vector<PictureScore>{{1, true}}); });
  test::expect_error(ExitCode::input, "0 pictures", [] { decide("", {}); });
}

TEST(Decisions, TheTableHasTheBestAndTheLast) {
  std::vector<PictureScore> pictures;
  for (int i = 0; i < 1000; ++i) pictures.push_back({static_cast<double>(1000 - i), i < 500});
  const std::string table = decision_table(decide("ours", pictures), 5);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'),
            5);  // with the heading; the best is one of the four
  EXPECT_THAT(
      table, HasSubstr("     501    500      0      0    500     1.000      1.000   1.000   1.000  best F1"));
  EXPECT_THAT(table, HasSubstr("       1    500      0    500      0"));
}

TEST(Decisions, CsvIsReadBack) {
  const test::TempDir folder;
  const std::vector<Decisions> detectors{decide("a, \"b\"", kEightPictures), decide("plain", kEightPictures)};
  write_report(folder / "decisions.csv", decisions_as_csv(detectors));
  EXPECT_TRUE(holds_decisions(folder / "decisions.csv"));
  const std::vector<Decisions> stored = load_decisions(folder / "decisions.csv");
  ASSERT_EQ(stored.size(), 2U);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i].name, detectors[i].name);
    EXPECT_EQ(stored[i].points, detectors[i].points);
  }
}

TEST(Decisions, WhatIsNoTableOfDecisionsIsRefusedWithItsLine) {
  const test::TempDir folder;
  const std::string table = decisions_as_csv(std::vector<Decisions>{decide("a", kEightPictures)});
  const std::string header = table.substr(0, table.find('\n') + 1);
  const test::BadInputs tables{{"name,value\n", "d.csv:1:"},
                               {header, "d.csv'"},
                               {header + "a,,0,4,0\n", "d.csv:2: 5 columns"},
                               {header + "a,1,0,4,0,4,0,0,0,0\n", "d.csv:2:"},
                               {header + "a,,0,4,0,4,0,0,0,0\na,,1,3,0,4,0,0,0,0\n", "d.csv:3:"},
                               {header + "a,,0,4,0,4,0,0,0,0\na,1,1,4,0,4,0,0,0,0\n", "d.csv:3:"},
                               {header + "a,,0,-4,0,4,0,0,0,0\n", "d.csv:2: false negatives '-4'"}};
  test::expect_errors(ExitCode::input, tables, [&](const std::string& text) {
    write_report(folder / "d.csv", text);
    load_decisions(folder / "d.csv");
  });
  write_report(folder / "d.csv", "curve,threshold\n");
  EXPECT_FALSE(holds_decisions(folder / "d.csv"));
}

TEST(Decisions, ObjectsOfStoredCurvesHaveAnF1) {
  // 8 of 10 found beside 2 false boxes in 20 pictures, then all beside 30.
  const NamedCurve curve{"a", "", {{1, 0.1, 0.2}, {0, 1.5, 0}}, 10, 20};
  const std::vector<PrecisionRecallPoint> points = precision_recall(curve);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_DOUBLE_EQ(points[0].precision, 0.8);
  EXPECT_DOUBLE_EQ(points[1].precision, 0.25);
  EXPECT_EQ(best_by_f1(points)->threshold, 1);
  EXPECT_EQ(best_by_f1({}), nullptr);
}

}  // namespace
}  // namespace sightline
