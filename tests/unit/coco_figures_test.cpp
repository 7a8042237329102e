// COCO's figures: small cases by hand, and random ones against a script that follows the definition.
#include "evaluation/coco_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "support/temp_dir.hpp"
#include "support/thorough.hpp"

namespace sightline {
namespace {

using Json = nlohmann::json;

constexpr Box kBox{0, 0, 50, 40};  // of medium size

double figure(const CocoFigures& figures, const std::string& name) {
  const auto found = std::ranges::find(kCocoFigureNames, name);
  return figures.at(static_cast<std::size_t>(found - kCocoFigureNames.begin())).value_or(-1);
}

double figure(const CocoClass& one, const std::string& name) {
  return figure(one.figures(), name);
}

TEST(CocoFigures, AFoundObjectIsOneAtEveryOverlap) {
  CocoClass one;
  one.add(std::vector<Detection>{{kBox, 0.5}}, std::vector<TruthBox>{{kBox}});
  for (const char* name : {"AP", "AP50", "AP75", "APm", "AR1", "AR10", "AR100", "ARm"})
    EXPECT_DOUBLE_EQ(figure(one, name), 1) << name;
  for (const char* name : {"APs", "APl", "ARs", "ARl"}) EXPECT_EQ(figure(one, name), -1) << name;
  EXPECT_EQ(one.objects(), 1);
}

TEST(CocoFigures, OverlapsCountOneByOne) {
  // 32 of 40 rows: right at 0.5, 0.55 ... 0.8, which are 7 of 10 overlaps.
  CocoClass one;
  one.add(std::vector<Detection>{{{0, 0, 50, 32}, 0.5}}, std::vector<TruthBox>{{kBox}});
  EXPECT_NEAR(figure(one, "AP"), 0.7, 1e-12);
  EXPECT_EQ(figure(one, "AP75"), 1);
  EXPECT_NEAR(figure(one, "AR100"), 0.7, 1e-12);
}

TEST(CocoFigures, PrecisionIsTheHighestAtAnyRecallAsHighOrHigher) {
  // Right, wrong, right, of three objects: precision 1 up to a recall of 1/3 (34 of 101 points), 2/3 up to
  // 2/3 (33 points), then 0.
  CocoClass one;
  const Box other{200, 0, 50, 40}, third{400, 0, 50, 40}, nothing{600, 0, 50, 40};
  one.add(std::vector<Detection>{{kBox, 0.9}, {nothing, 0.8}, {other, 0.7}},
          std::vector<TruthBox>{{kBox}, {other}, {third}});
  EXPECT_NEAR(figure(one, "AP"), (34 + 33 * 2.0 / 3) / 101, 1e-12);
  EXPECT_NEAR(figure(one, "AR1"), 1.0 / 3, 1e-12);
  EXPECT_NEAR(figure(one, "AR10"), 2.0 / 3, 1e-12);
}

TEST(CocoFigures, EqualScoresKeepTheirOrder) {
  const Box nothing{600, 0, 50, 40};
  CocoClass right_first, wrong_first;
  right_first.add(std::vector<Detection>{{kBox, 0.5}, {nothing, 0.5}}, std::vector<TruthBox>{{kBox}});
  wrong_first.add(std::vector<Detection>{{nothing, 0.5}, {kBox, 0.5}}, std::vector<TruthBox>{{kBox}});
  EXPECT_DOUBLE_EQ(figure(right_first, "AP"), 1);
  EXPECT_DOUBLE_EQ(figure(wrong_first, "AP"), 0.5);
  EXPECT_EQ(figure(wrong_first, "AR1"), 0);
}

TEST(CocoFigures, CrowdsTakeAnyNumberAndCountForNothing) {
  const TruthBox crowd{{100, 0, 1000, 400}, true};
  CocoClass one;
  one.add(std::vector<Detection>{{{100, 0, 40, 40}, 0.9}, {{200, 0, 40, 40}, 0.8}, {kBox, 0.7}},
          std::vector<TruthBox>{crowd, {kBox}});
  EXPECT_DOUBLE_EQ(figure(one, "AP"), 1);
  EXPECT_EQ(one.objects(), 1);
  // 60% of the box lie in the crowd: it is wrong at overlaps above that.
  CocoClass half;
  half.add(std::vector<Detection>{{{84, 0, 40, 40}, 0.9}, {kBox, 0.7}}, std::vector<TruthBox>{crowd, {kBox}});
  EXPECT_NEAR(figure(half, "AP"), (3 * 1 + 7 * 0.5) / 10, 1e-12);
}

TEST(CocoFigures, ObjectsOfOtherSizesCountForNothing) {
  // The large object and its box are no part of the medium figures, and a wrong box counts where it belongs.
  const Box large{200, 0, 200, 100}, wrong{600, 0, 50, 40};
  CocoClass one;
  one.add(std::vector<Detection>{{wrong, 0.9}, {large, 0.8}, {kBox, 0.7}},
          std::vector<TruthBox>{{kBox}, {large}});
  EXPECT_DOUBLE_EQ(figure(one, "APm"), 0.5);
  EXPECT_DOUBLE_EQ(figure(one, "APl"), 1);
  // The outline's area decides, where it is known.
  CocoClass outlined;
  outlined.add(std::vector<Detection>{{kBox, 0.9}}, std::vector<TruthBox>{{kBox, false, 0, 1000}});
  EXPECT_DOUBLE_EQ(figure(outlined, "APs"), 1);
  EXPECT_EQ(figure(outlined, "APm"), -1);
}

TEST(CocoFigures, OnlyTheBestHundredOfAnImageCount) {
  std::vector<Detection> found;
  for (int i = 0; i < 100; ++i) found.push_back({{600, 0, 50, 40}, 0.5});
  CocoClass one;
  found.push_back({kBox, 0.4});
  one.add(found, std::vector<TruthBox>{{kBox}});
  EXPECT_EQ(figure(one, "AR100"), 0);
  found.front().score = 0.3;
  CocoClass other;
  other.add(found, std::vector<TruthBox>{{kBox}});
  EXPECT_EQ(figure(other, "AR100"), 1);
}

TEST(CocoFigures, TheMeanIsOfTheClassesThatHaveObjects) {
  CocoClass found, missed, absent;
  found.add(std::vector<Detection>{{kBox, 0.5}}, std::vector<TruthBox>{{kBox}});
  missed.add({}, std::vector<TruthBox>{{kBox}});
  absent.add(std::vector<Detection>{{kBox, 0.5}}, {});
  EXPECT_EQ(figure(missed, "AP"), 0);
  EXPECT_EQ(figure(absent, "AP"), -1);
  const std::vector<CocoFigures> all{found.figures(), missed.figures(), absent.figures()};
  EXPECT_DOUBLE_EQ(figure(mean_of(all), "AP"), 0.5);
  EXPECT_EQ(figure(mean_of(all), "APs"), -1);
}

TEST(CocoFigures, ANanScoreIsRefused) {
  CocoClass one;
  EXPECT_THROW(one.add(std::vector<Detection>{{kBox, std::nan("")}}, {}), std::invalid_argument);
}

// Random marks and detections near them, with equal scores, equal boxes, crowds and all sizes.
class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : random_(seed) {
    for (const char* name : {"cat", "dog", "cup", "none"})
      truth_["categories"].push_back({{"id", 3 + 2 * truth_["categories"].size()}, {"name", name}});
    truth_["annotations"] = Json::array();
    const int crowding = up_to(3) == 0 ? 60 : 6;  // some have more than a hundred detections of an image
    for (int i = 0; i < 12; ++i) add_image("p" + std::to_string(i) + ".png", crowding);
  }
  const Json& truth() const { return truth_; }
  const std::vector<Json>& frames() const { return frames_; }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  Json moved(Json box, int by) {
    for (Json& side : box) side = std::max(side.get<double>() + 0.5 * (up_to(2 * by) - by), 1.0);
    return box;
  }

  void add_image(const std::string& name, int crowding) {
    const auto id = static_cast<int>(100 + frames_.size());
    truth_["images"].push_back({{"id", id}, {"file_name", name}, {"width", 640}, {"height", 480}});
    Json objects = Json::array();
    for (int i = up_to(crowding); i > 0; --i) {
      const auto label = static_cast<std::size_t>(up_to(2));
      const int side = 4 << up_to(5);
      const Json box{10.0 * up_to(50), 10.0 * up_to(40), side + 1.0 * up_to(side), side + 1.0 * up_to(side)};
      if (up_to(5) > 0) add_marks(id, label, box);
      for (int n = up_to(4); n > 0; --n) {
        const auto said = up_to(9) > 0 ? label : static_cast<std::size_t>(up_to(3));
        objects.push_back({{"label", truth_["categories"][said]["name"]},
                           {"score", up_to(20) / 20.0},
                           {"box", up_to(3) == 0 ? box : moved(box, 1 + side / 4)}});
      }
    }
    frames_.push_back({{"picture", name}, {"objects", objects}});
  }

  void add_marks(int image, std::size_t label, const Json& box) {
    for (int n = up_to(6) / 6; n >= 0; --n) {  // now and then the same box twice
      const double area = box[2].get<double>() * box[3].get<double>();
      truth_["annotations"].push_back({{"id", truth_["annotations"].size() + 1},
                                       {"image_id", image},
                                       {"category_id", truth_["categories"][label]["id"]},
                                       {"bbox", box},
                                       {"area", up_to(2) == 0 ? area * 0.7 : area},
                                       {"ignore", up_to(5) == 0 ? 1 : 0},  // which changes nothing
                                       {"iscrowd", up_to(5) == 0 ? 1 : 0}});
    }
  }

  std::mt19937 random_;
  Json truth_;
  std::vector<Json> frames_;
};

CocoFigures figures_of(const std::string& name, const GroundTruth& truth, const std::vector<Json>& frames) {
  CocoClass one;
  for (const Json& frame : frames) {
    std::vector<TruthBox> marked = *truth.find(frame["picture"].get<std::string>());
    std::erase_if(marked, [&](const TruthBox& box) { return truth.labels.at(box.label) != name; });
    std::vector<Detection> found;
    for (const Json& object : frame["objects"]) {
      const Json& box = object["box"];
      if (object["label"] == name) found.push_back({{box[0], box[1], box[2], box[3]}, object["score"]});
    }
    one.add(found, marked);
  }
  return one.figures();
}

void expect_equal(const Json& expected, const CocoFigures& figures, const std::string& what) {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Json& value = expected.at(kCocoFigureNames[i]);
    EXPECT_EQ(value.is_null(), !figures[i]) << what << ' ' << kCocoFigureNames[i];
    if (!figures[i] || value.is_null()) continue;
    EXPECT_NEAR(*figures[i], value.get<double>(), 1e-9) << what << ' ' << kCocoFigureNames[i];
  }
}

TEST(CocoFigures, RandomCasesEqualThePlainScript) {
  if (std::system("python3 -c 'import json' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const test::TempDir folder;
  for (unsigned seed = 0; seed < test::sampled(12); ++seed) {
    const RandomCase random(seed);
    std::ofstream(folder / "truth.json") << random.truth();
    std::ofstream lines(folder / "found.jsonl");
    for (const Json& frame : random.frames()) lines << frame << '\n';
    lines.close();
    const std::string command = "python3 " SIGHTLINE_SOURCE_DIR "/tests/support/coco_rule.py '" +
                                (folder / "truth.json") + "' '" + (folder / "found.jsonl") + "' > '" +
                                (folder / "figures.json") + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream result(folder / "figures.json");
    const Json expected = Json::parse(result);
    const GroundTruth truth = load_coco_truth(folder / "truth.json");
    std::vector<CocoFigures> all;
    for (const auto& [label, name] : truth.labels) {
      all.push_back(figures_of(name, truth, random.frames()));
      expect_equal(expected["classes"][name], all.back(), name + " of seed " + std::to_string(seed));
    }
    expect_equal(expected["mean"], mean_of(all), "mean of seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace sightline
