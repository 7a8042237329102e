// What stages declare: every way to get it wrong is found, and the copies that a mapping needs follow from
// it.

#include "processing/stage_contract.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace sightline {
namespace {

using testing::HasSubstr;

constexpr std::string_view kResources[] = {"frame", "images", "features", "candidates", "boxes"};
enum : std::size_t { kFrame, kImages, kFeatures, kCandidates, kBoxes };

// A chain with a stage that changes its input in place, and one that reads what an earlier one than the last
// has left.
std::vector<StageInfo> chain() {
  return {{"pyramid", {kFrame}, {kImages}},
          {"filter", {kImages}, {kFeatures}},
          {"classify", {kFeatures}, {kCandidates}},
          {"verify", {kImages, kCandidates}, {kCandidates}},
          {"group", {kCandidates}, {kBoxes}}};
}

std::string violation(const std::vector<StageInfo>& stages,
                      std::span<const std::string_view> resources = kResources) {
  try {
    check_contract(stages, resources);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(StageContract, HoldsForASoundChain) {
  EXPECT_EQ(violation(chain()), "");
  const std::string_view two[] = {"frame", "boxes"};
  EXPECT_EQ(violation({{"all", {0}, {1}}}, two), "");
  std::vector<StageInfo> stages = chain();
  stages[3] = {"verify", {kFrame, kCandidates}, {kCandidates}, false, {kImages}};
  EXPECT_EQ(violation(stages), "") << "the frame is everybody's, and what is reused was written";
  // Two results: the one that is not last says so.
  const std::string_view three[] = {"frame", "boxes", "names"};
  StageInfo first{"one", {kFrame}, {1}};
  EXPECT_THAT(violation({first, {"other", {kFrame}, {2}}}, three), HasSubstr("'boxes'"));
  first.makes_result = true;
  EXPECT_EQ(violation({first, {"other", {kFrame}, {2}}}, three), "");
}

TEST(StageContract, NamesWhatBreaksIt) {
  EXPECT_THAT(violation({}), HasSubstr("0 stages"));
  EXPECT_THAT(violation(chain(), {}), HasSubstr("0 resources"));
  EXPECT_THAT(violation(std::vector<StageInfo>(kMostStages + 1, {"a", {0}, {1}})), HasSubstr("33 stages"));
  const std::vector<std::string_view> many(kMostStages + 1, "r");
  EXPECT_THAT(violation(chain(), many), HasSubstr("33 resources"));

  const auto with = [](std::size_t index, const StageInfo& stage) {
    std::vector<StageInfo> stages = chain();
    stages[index] = stage;
    return violation(stages);
  };
  EXPECT_NE(with(1, {"", {kImages}, {kFeatures}}), "");
  const struct {
    std::size_t index;
    StageInfo stage;
    const char* fact;
  } wrong[] = {{1, {"group", {kImages}, {kFeatures}}, "'group'"},
               {0, {"pyramid", {kCandidates}, {kImages}}, "'candidates'"},
               {2, {"classify", {kFeatures}, {kCandidates}, false, {kBoxes}}, "'boxes'"},
               {2, {"classify", {kFeatures, 9}, {kCandidates}}, "'classify'"},
               {2, {"classify", {kFeatures}, {kCandidates, 9}}, "'classify'"},
               {2, {"classify", {kFeatures}, {kCandidates, kFrame}}, "'classify'"},
               {4, {"group", {kCandidates}, {}}, "'group'"},
               {1, {"filter", {kImages}, {kFeatures, kBoxes}}, "'boxes'"},
               {4, {"group", {kFrame}, {kBoxes}}, "'candidates'"}};
  for (const auto& one : wrong)
    EXPECT_THAT(with(one.index, one.stage), HasSubstr(one.fact)) << one.stage.name;

  const std::string_view same[] = {"frame", "images", "features", "images", "boxes"};
  EXPECT_THAT(violation(chain(), same), HasSubstr("'images'"));
  const std::string_view nameless[] = {"frame", "images", "", "candidates", "boxes"};
  EXPECT_NE(violation(chain(), nameless), "");
}

// "2..4 up frame images down candidates": one segment after the other.
std::string transfers(const std::vector<StageInfo>& stages, const std::string& on_device) {
  StageSet set;
  for (std::size_t i = 0; i < on_device.size(); ++i) set[i] = on_device[i] == 'g';
  std::string text;
  for (const DeviceSegment& segment : plan_transfers(stages, set)) {
    text += (text.empty() ? "" : "; ") + std::to_string(segment.first) + ".." + std::to_string(segment.last);
    for (const auto& [what, copied] : {std::pair(" up", segment.uploads), {" down", segment.downloads}}) {
      text += what;
      for (std::size_t i = 0; i < std::size(kResources); ++i) {
        if (copied.contains(i)) text += " " + std::string(kResources[i]);
      }
    }
  }
  return text;
}

TEST(PlanTransfers, CopiesWhatTheOtherSideReads) {
  EXPECT_EQ(transfers(chain(), "ccccc"), "");
  EXPECT_EQ(transfers(chain(), "gcccc"), "0..1 up frame down images");
  EXPECT_EQ(transfers(chain(), "cgccc"), "1..2 up images down features");
  EXPECT_EQ(transfers(chain(), "ccgcc"), "2..3 up features down candidates");
  EXPECT_EQ(transfers({}, ""), "");
}

TEST(PlanTransfers, TheResultIsTheHosts) {
  EXPECT_EQ(transfers(chain(), "ggggg"), "0..5 up frame down boxes");
  EXPECT_EQ(transfers(chain(), "ccccg"), "4..5 up candidates down boxes");
}

// What an earlier stage than the last left is brought as well, but not what is there already.
TEST(PlanTransfers, OfEarlierStages) {
  EXPECT_EQ(transfers(chain(), "gggcc"), "0..3 up frame down images candidates");
  EXPECT_EQ(transfers(chain(), "cggcc"), "1..3 up images down candidates") << "the CPU has the images";
  EXPECT_EQ(transfers(chain(), "cccgc"), "3..4 up images candidates down candidates");
}

// The device's candidates are out of date once the CPU has changed them in place, and the other way round.
TEST(PlanTransfers, OfWhatIsChangedInPlace) {
  EXPECT_EQ(transfers(chain(), "ggggc"), "0..4 up frame down candidates");
  EXPECT_EQ(transfers(chain(), "gggcg"),
            "0..3 up frame down images candidates; 4..5 up candidates down boxes");
}

// A resource moves once: the second segment finds on the device what the first one left there.
TEST(PlanTransfers, OfSeveralSegments) {
  EXPECT_EQ(transfers(chain(), "gcgcc"), "0..1 up frame down images; 2..3 up features down candidates");
  EXPECT_EQ(transfers(chain(), "gcggc"), "0..1 up frame down images; 2..4 up features down candidates");
  EXPECT_EQ(transfers(chain(), "gccgc"), "0..1 up frame down images; 3..4 up candidates down candidates");
  EXPECT_EQ(transfers(chain(), "cgcgc"), "1..2 up images down features; 3..4 up candidates down candidates");
}

// What a stage only reuses is copied for nobody.
TEST(PlanTransfers, NothingForWhatIsReused) {
  std::vector<StageInfo> stages = chain();
  stages[3] = {"verify", {kFrame, kCandidates}, {kCandidates}, false, {kImages}};
  EXPECT_EQ(transfers(stages, "gggcc"), "0..3 up frame down candidates");
  EXPECT_EQ(transfers(stages, "cccgc"), "3..4 up frame candidates down candidates");
}

}  // namespace
}  // namespace sightline
