// What is known of a detection beyond its box: shared, compared by value, and carried along to tracks, to
// detections inside others, into files and onto pictures.

#include "frame/attributes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "detection/inside_search.hpp"
#include "detection/result_writer.hpp"
#include "detection/tracker.hpp"
#include "media/annotate.hpp"
#include "support/model_file.hpp"

namespace sightline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kLabels{"person", "face"};

DetectionAttributes ann() {
  return {"Ann", 0.41237, {{"left_eye", 12.345, 20}, {"right_eye", 24, -1}}};
}

Detection face(SharedAttributes attributes = {}) {
  return {{10, 15, 30, 30}, 1.5, 1, 0, std::move(attributes)};
}

TEST(Attributes, CompareByValue) {
  EXPECT_EQ(face(), face());
  EXPECT_EQ(face(ann()), face(ann())) << "two copies in memory";
  EXPECT_NE(face(ann()), face());
  EXPECT_NE(face(), face(ann()));
  DetectionAttributes other = ann();
  other.distance = 0.4;
  EXPECT_NE(face(other), face(ann()));
  other = ann();
  other.landmarks[1].y = 0;
  EXPECT_NE(face(other), face(ann()));
  FrameResult a, b;
  a.objects = {face(ann())};
  b.objects = {face()};
  EXPECT_NE(difference(a, b), "");
  b.objects = {face(ann())};
  EXPECT_EQ(difference(a, b), "");
}

TEST(Attributes, CostAPointer) {
  EXPECT_EQ(sizeof(SharedAttributes), sizeof(std::shared_ptr<int>));
  const SharedAttributes known = ann();
  const Detection copy = face(known);
  EXPECT_EQ(&*copy.attributes, &*known) << "copied, not shared";
  EXPECT_FALSE(SharedAttributes());
  EXPECT_EQ(SharedAttributes().name(), "");
  EXPECT_EQ(known.name(), "Ann");
}

TEST(Attributes, MoveTheirLandmarks) {
  const SharedAttributes known = ann();
  const SharedAttributes moved = known.moved(100, -5);
  EXPECT_EQ(moved.name(), "Ann");
  EXPECT_THAT(moved->landmarks,
              ElementsAre(Landmark{"left_eye", 112.345, 15}, Landmark{"right_eye", 124, -6}));
  EXPECT_EQ(known, SharedAttributes(ann())) << "what is shared has changed";
  EXPECT_EQ(known.without_landmarks(), SharedAttributes(DetectionAttributes{"Ann", 0.41237, {}}));
  EXPECT_FALSE(SharedAttributes().moved(1, 1));
  EXPECT_FALSE(SharedAttributes().without_landmarks());
}

// Finds one face wherever it is asked.
class FaceDetector : public Detector {
 public:
  explicit FaceDetector(Detection found) : found_(std::move(found)) { info_.labels = kLabels; }
  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return kResources; }
  std::span<const StageInfo> stages() const override { return kStages; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Workspace>(); }
  bool prepare(Workspace&, PictureView, Partition) const override { return true; }
  void run_stage(std::size_t, Workspace&) const override {}
  std::vector<Detection> take_detections(Workspace&) const override { return {found_}; }

 private:
  static constexpr std::string_view kResources[] = {"frame", "detections"};
  static constexpr StageInfo kStages[] = {{"find", {0}, {1}}};
  Detection found_;
  DetectorInfo info_;
};

TEST(Attributes, OfObjectsInsideOthersAreInPixelsOfTheFrame) {
  std::vector<InsideDetector> inside;
  inside.push_back({std::make_unique<FaceDetector>(face(ann())), {0, 0, 1, 1}});
  const Detection outer{{100, 40, 60, 60}, 2, 0, 0, DetectionAttributes{"Bob", {}, {{"hat", 5, 6}}}};
  const CompositeDetector detector(
      CompositeBranch(std::make_unique<FaceDetector>(outer), make_inside_search(std::move(inside))));
  const Image<std::uint8_t> picture(200, 150);
  const std::vector<Detection> found = detect(detector, *detector.make_workspace(), picture.view());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], outer);
  EXPECT_EQ(found[1].box, (Box{110, 55, 30, 30}));
  EXPECT_EQ(found[1].attributes, SharedAttributes(ann()).moved(100, 40));
}

TEST(Attributes, ATrackIsNamedByAllItsFrames) {
  const auto seen_as = [](const char* name, double distance) {
    DetectionAttributes attributes{name, distance, {}};
    attributes.identities = {{name, distance}, {name == std::string("Ann") ? "Bob" : "Ann", distance + 0.5}};
    attributes.limit = 1;
    return attributes;
  };
  Tracker tracker({.min_hits = 1});
  tracker.update(0.00, std::vector{face(seen_as("Ann", 0.6))});
  tracker.update(0.04, std::vector{face(seen_as("Ann", 0.6))});
  EXPECT_EQ(tracker.update(0.08, std::vector{face(seen_as("Bob", 0.7))})[0].attributes.name(), "Ann");
  EXPECT_EQ(tracker.update(0.12, std::vector{face()})[0].attributes.name(), "Ann") << "turned away";
}

TEST(Attributes, AreTracked) {
  TrackerOptions options;
  options.min_hits = 1;
  Tracker tracker(options);
  EXPECT_EQ(tracker.update(0.00, std::vector{face(ann())})[0].attributes, SharedAttributes(ann()));
  DetectionAttributes later = ann();
  later.distance = 0.2;
  EXPECT_EQ(tracker.update(0.04, std::vector{face(later)})[0].attributes, SharedAttributes(later));
  const SharedAttributes name_alone = DetectionAttributes{"Ann", 0.2, {}};
  EXPECT_EQ(tracker.predict(0.06)[0].attributes, name_alone) << "landmarks of another frame";
  EXPECT_EQ(tracker.update(0.08, {})[0].attributes, name_alone) << "not found in this frame";
  EXPECT_EQ(tracker.update(0.12, std::vector{face()})[0].attributes, SharedAttributes());
}

class AttributesInFiles : public ::testing::Test {
 protected:
  std::string written(ResultFormat format, const std::vector<Detection>& objects) const {
    const std::filesystem::path path = folder_ / "out";
    const auto writer = ResultWriter::open(path, format, kLabels);
    writer->write({"a.mp4", 1, 0, FrameStatus::ok, 768, 576, objects, ""});
    writer->finish();
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  test::TempDir folder_;
};

TEST_F(AttributesInFiles, Json) {
  Detection tracked = face(ann());
  tracked.track = 7;
  EXPECT_THAT(written(ResultFormat::jsonl, {tracked}),
              HasSubstr(R"("box":[10,15,30,30],"name":"Ann","distance":0.4124,)"
                        R"("landmarks":{"left_eye":[12.35,20],"right_eye":[24,-1]},"track":7})"));
  const std::string unknown = written(ResultFormat::json, {face(DetectionAttributes{"", 3.0, {}})});
  EXPECT_THAT(unknown, HasSubstr(R"("box":[10,15,30,30],"distance":3})"));
  EXPECT_TRUE(nlohmann::json::accept(unknown));
  EXPECT_THAT(written(ResultFormat::jsonl, {face()}), HasSubstr(R"("box":[10,15,30,30]}])"));
}

TEST_F(AttributesInFiles, Coco) {
  DetectionAttributes other{"Bo \"B\"", {}, {{"nose", 1, 2}, {"right_eye", 3, 4}}};
  const std::string text = written(
      ResultFormat::coco, {face(), face(ann()), face(other), face(DetectionAttributes{"Cy", {}, {}})});
  const nlohmann::json json = nlohmann::json::parse(text);
  const nlohmann::json& annotations = json.at("annotations");
  ASSERT_EQ(annotations.size(), 4u);
  for (const char* key : {"attributes", "keypoints", "num_keypoints"})
    EXPECT_FALSE(annotations[0].contains(key));
  EXPECT_EQ(annotations[1].at("attributes"), (nlohmann::json{{"name", "Ann"}, {"distance", 0.4124}}));
  EXPECT_EQ(annotations[1].at("keypoints"), (nlohmann::json{12.35, 20, 2, 24, -1, 2}));
  EXPECT_EQ(annotations[1].at("num_keypoints"), 2);
  EXPECT_EQ(annotations[2].at("attributes"), (nlohmann::json{{"name", "Bo \"B\""}}));
  EXPECT_EQ(annotations[2].at("keypoints"), (nlohmann::json{0, 0, 0, 3, 4, 2}));
  EXPECT_EQ(annotations[2].at("num_keypoints"), 1);
  EXPECT_FALSE(annotations[3].contains("keypoints"));
  EXPECT_EQ(json.at("categories")[1].at("keypoints"), (nlohmann::json{"left_eye", "right_eye"}));
  EXPECT_FALSE(json.at("categories")[0].contains("keypoints"));
  EXPECT_THAT(written(ResultFormat::coco, {face()}), Not(HasSubstr("keypoints")));
}

// CSV and MOT have no place for them: a file with attributes is the file without.
TEST_F(AttributesInFiles, MotLeavesThemOut) {
  EXPECT_EQ(written(ResultFormat::mot, {face(ann())}), written(ResultFormat::mot, {face()}));
}

TEST(AttributesOnPictures, TheNameStandsForTheLabel) {
  using namespace media;
  EXPECT_EQ(caption_of(face(), kLabels), "face 1.50");
  EXPECT_EQ(caption_of(face(ann()), kLabels), "Ann 0.41");
  EXPECT_EQ(caption_of(face(DetectionAttributes{"Ann", {}, {}}), kLabels), "Ann 1.50");
  Detection tracked = face(ann());
  tracked.track = 7;
  EXPECT_EQ(caption_of(tracked, kLabels), "Ann 0.41");
  tracked.label = 99;
  EXPECT_EQ(caption_of(tracked, kLabels), "Ann 0.41");
  const std::vector<std::string> one{"face"};
  EXPECT_TRUE(may_shorten_caption(face(), one));
  EXPECT_FALSE(may_shorten_caption(face(ann()), one)) << "a name says more than the only label";
  EXPECT_FALSE(may_shorten_caption(face(), kLabels));
}

}  // namespace
}  // namespace sightline
