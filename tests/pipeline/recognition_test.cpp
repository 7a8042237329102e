// Names of faces: out of a gallery's people, the same under every schedule, with stages on a device or not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "detection/composite_detector.hpp"
#include "faces/gallery/sqlite.hpp"
#include "faces/recognition/face_reader.hpp"
#include "faces/recognition/gallery_people.hpp"
#include "faces/recognition/identification.hpp"
#include "kernels/landmarks_model.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/patience.hpp"
#include "support/recognition.hpp"
#include "support/same_boxes.hpp"
#include "support/temp_dir.hpp"

namespace sightline::pipeline {
namespace {

using gallery::Gallery;
using gallery::NewTemplate;
using recognition::FaceReader;
using recognition::KnownPeople;
using recognition::Recogniser;
using test::Collector;

// "Finds" faces at the places that it is told, and something else once.
class PlacesDetector : public Detector {
 public:
  explicit PlacesDetector(std::vector<Box> places) : places_(std::move(places)) {
    info_.labels = {"other", "face"};
    info_.model = info_.plan_key = "places";
  }
  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return kPlacesResources; }
  std::span<const StageInfo> stages() const override { return kPlacesStages; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Workspace>(); }
  bool prepare(Workspace&, PictureView, Partition) const override { return true; }
  void run_stage(std::size_t, Workspace&) const override {}
  std::vector<Detection> take_detections(Workspace&) const override {
    std::vector<Detection> all{{{0, 0, 30, 30}, 100, 0}};
    for (const Box& place : places_) all.push_back({place, 99.0 - static_cast<double>(all.size()), 1});
    return all;
  }

 private:
  static constexpr std::string_view kPlacesResources[] = {"frame", "what is told"};
  static constexpr StageInfo kPlacesStages[] = {{"place", {kFrameResource}, {1}}};
  std::vector<Box> places_;
  DetectorInfo info_;
};

std::vector<Box> some_places(std::size_t count) {
  std::vector<Box> places;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i);
    places.push_back(
        {-10 + 23 * at, 5 + 11 * at, 40 + 17 * at, 40 + 17 * at});  // some reach out of the frame
  }
  return places;
}

class FixedPeople : public recognition::PeopleSource {
 public:
  explicit FixedPeople(KnownPeople people)
      : people_(std::make_shared<const KnownPeople>(std::move(people))) {}
  std::shared_ptr<const KnownPeople> current() const override { return people_; }

 private:
  std::shared_ptr<const KnownPeople> people_;
};

// People that somebody changes while a frame is on its way.
class ChangingPeople : public recognition::PeopleSource {
 public:
  void set(KnownPeople people) { people_ = std::make_shared<const KnownPeople>(std::move(people)); }
  std::shared_ptr<const KnownPeople> current() const override { return people_; }

 private:
  std::shared_ptr<const KnownPeople> people_;
};

class Recognition : public testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<const Recogniser> make_recogniser() const {
    return std::make_shared<Recogniser>(
        landmarks::random_model(3, 2, 4, 50, 7),
        GetParam() ? sightline::test::random_learned_model(9) : sightline::test::plain_model());
  }
  // A person for each face of a picture but the last; the limit is between.
  KnownPeople people_of(const Recogniser& recogniser, GrayView picture, std::size_t faces) const {
    KnownPeople people{recognition::TemplateSet(recogniser.format()), {}, {}, 0};
    FaceReader reader(std::make_unique<PlacesDetector>(some_places(faces)), 1,
                      std::shared_ptr<const Recogniser>(std::shared_ptr<void>(), &recogniser));
    for (const gallery::FaceTemplate& face : reader.find(picture)) {
      if (people.names.size() + 1 == faces) break;
      people.owners.push_back(static_cast<std::int32_t>(people.names.size()));
      people.names.push_back("person " + std::to_string(people.names.size()));
      people.templates.append(face.bytes);
    }
    return people;
  }
  static std::vector<std::string> names_of(const std::vector<Detection>& objects) {
    std::vector<std::string> names;
    for (const Detection& one : objects) names.push_back(one.attributes.name());
    return names;
  }
};

TEST_P(Recognition, NamesWhoIsKnownAndNobodyElse) {
  const auto recogniser = make_recogniser();
  const auto picture = sightline::test::random_picture({260, 190}, 3);
  KnownPeople people = people_of(*recogniser, picture.view(), 4);
  const CompositeDetector detector(
      CompositeBranch(std::make_unique<PlacesDetector>(some_places(4)),
                      std::make_unique<recognition::FaceIdentification>(
                          recogniser, std::make_shared<FixedPeople>(std::move(people)), 1)));
  EXPECT_TRUE(detector.info().names_objects);
  const std::vector<Detection> found = detect(detector, *detector.make_workspace(), picture.view());
  EXPECT_THAT(names_of(found), testing::ElementsAre("", "person 0", "person 1", "person 2", kUnknownName));
  EXPECT_FALSE(found[0].attributes) << "it is no face";
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(found[i].attributes->distance, 0.0);
    EXPECT_EQ(found[i].attributes->landmarks.size(), landmarks::kPointNames.size());
    ASSERT_EQ(found[i].attributes->identities.size(), 3u);
    EXPECT_EQ(found[i].attributes->identities[0].name, found[i].attributes.name());
    EXPECT_LE(found[i].attributes->identities[1].distance, found[i].attributes->identities[2].distance);
  }
  EXPECT_GT(found[4].attributes->distance, 0.0);
}

TEST_P(Recognition, CostsAsMuchAsItsGalleryIsLargeInSteps) {
  const auto recogniser = make_recogniser();
  const auto key_of = [&](std::size_t templates) {
    KnownPeople people{recognition::TemplateSet(recogniser->format()), {}, {"Ada"}, 0};
    const std::vector<std::uint8_t> one(recogniser->template_bytes());
    for (std::size_t i = 0; i < templates; ++i) people.templates.append(one);
    people.owners.assign(templates, 0);
    const CompositeDetector detector(
        CompositeBranch(std::make_unique<PlacesDetector>(some_places(2)),
                        std::make_unique<recognition::FaceIdentification>(
                            recogniser, std::make_shared<FixedPeople>(std::move(people)), 1)));
    return detector.info().plan_key;
  };
  EXPECT_EQ(key_of(33), key_of(64));
  EXPECT_NE(key_of(64), key_of(65));
  EXPECT_NE(key_of(0), key_of(33));
}

TEST_P(Recognition, NobodyIsKnownByAnEmptyGallery) {
  const auto recogniser = make_recogniser();
  KnownPeople nobody{recognition::TemplateSet(recogniser->format()), {}, {}, 1000};
  const CompositeDetector detector(
      CompositeBranch(std::make_unique<PlacesDetector>(some_places(2)),
                      std::make_unique<recognition::FaceIdentification>(
                          recogniser, std::make_shared<FixedPeople>(std::move(nobody)), 1)));
  const auto picture = sightline::test::random_picture({120, 90}, 3);
  const std::vector<Detection> found = detect(detector, *detector.make_workspace(), picture.view());
  EXPECT_THAT(names_of(found), testing::ElementsAre("", kUnknownName, kUnknownName));
  EXPECT_FALSE(found[1].attributes->distance);
}

TEST_P(Recognition, WhoIsDeletedWhileAFrameIsOnItsWayIsNotNamedInIt) {
  const auto recogniser = make_recogniser();
  const auto picture = sightline::test::random_picture({260, 190}, 3);
  const auto people = std::make_shared<ChangingPeople>();
  people->set(people_of(*recogniser, picture.view(), 3));
  const CompositeDetector detector(
      CompositeBranch(std::make_unique<PlacesDetector>(some_places(2)),
                      std::make_unique<recognition::FaceIdentification>(recogniser, people, 1)));
  const auto names = detector.known_names();
  ASSERT_TRUE(names);
  EXPECT_EQ(*names->names(), (std::vector<std::string>{"person 0", "person 1"}));
  const auto workspace = detector.make_workspace();
  const auto begin = [&] {
    ASSERT_TRUE(detector.prepare(*workspace, picture.view()));
    for (std::size_t stage = 0; stage < detector.stages().size(); ++stage)
      detector.run_stage(stage, *workspace);
  };
  begin();
  const auto leave = [&](std::vector<std::string> known) {
    people->set({recognition::TemplateSet(recogniser->format()), {}, std::move(known), 0});
  };
  leave({"person 1"});
  const std::vector<Detection> found = detector.take_detections(*workspace);
  EXPECT_THAT(names_of(found), testing::ElementsAre("", kUnknownName, "person 1"));
  for (std::size_t i = 1; i < found.size(); ++i) {
    ASSERT_EQ(found[i].attributes->identities.size(), 1u);
    EXPECT_EQ(found[i].attributes->identities[0].name, "person 1");
    EXPECT_EQ(found[i].attributes->distance, found[i].attributes->identities[0].distance);
  }
  begin();
  leave({});
  const std::vector<Detection> later = detector.take_detections(*workspace);
  EXPECT_THAT(names_of(later), testing::ElementsAre("", kUnknownName, kUnknownName));
  EXPECT_THAT(later[1].attributes->identities, testing::IsEmpty());
  EXPECT_FALSE(later[1].attributes->distance);
}

TEST_P(Recognition, OnlySoManyFacesOfAFrameAreNamed) {
  const auto recogniser = make_recogniser();
  const auto picture = sightline::test::random_picture({120, 90}, 3);
  const CompositeDetector detector(CompositeBranch(
      std::make_unique<PlacesDetector>(std::vector<Box>(recognition::kMostFaces + 3, {10, 10, 50, 50})),
      std::make_unique<recognition::FaceIdentification>(
          recogniser, std::make_shared<FixedPeople>(people_of(*recogniser, picture.view(), 3)), 1)));
  const std::vector<std::string> names =
      names_of(detect(detector, *detector.make_workspace(), picture.view()));
  ASSERT_EQ(names.size(), recognition::kMostFaces + 4);
  EXPECT_NE(names[recognition::kMostFaces], "");
  EXPECT_EQ(names[recognition::kMostFaces + 1], "");
}

TEST_P(Recognition, IsTheSameUnderEverySchedule) {
  const auto recogniser = make_recogniser();
  const auto first = sightline::test::random_picture({200, 150}, 1);
  test::SameBoxes same;
  same.detector_ = std::make_unique<CompositeDetector>(CompositeBranch(
      std::make_unique<PlacesDetector>(some_places(5)),
      std::make_unique<recognition::FaceIdentification>(
          recogniser, std::make_shared<FixedPeople>(people_of(*recogniser, first.view(), 5)), 1)));
  for (const Size size : {Size{200, 150}, {65, 190}, {20, 90}, {203, 101}})
    same.add_frame(sightline::test::random_picture(size, static_cast<unsigned>(same.frames_.size()) + 1));
  EXPECT_EQ(same.expected_[0][1].attributes.name(), "person 0");
  for (const int in_flight : {1, 4}) same.expect_the_same(nullptr, test::on_cpu(in_flight), {2});
  const std::unique_ptr<DeviceStages> device = same.make_stages();
  if (!device) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  for (const char* map : {"points=gpu", "describe=gpu", "identify=gpu",
                          "points=gpu,describe=gpu,identify=gpu", "points=gpu,identify=gpu"}) {
    const ScheduleRequest request{"cpu", map, 3, 0, ""};
    same.expect_the_same(device.get(), resolve(request, *same.detector_, device.get(), 2), {2});
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Recognition, testing::Bool(),
                         [](const auto& one) { return one.param ? "Learned" : "Plain"; });

NewTemplate template_of(const gallery::FaceTemplate& face) {
  return {face.bytes, "", "a test", 1};
}

TEST(RecognitionGallery, IsFollowedWhileSomebodyChangesIt) {
  const sightline::test::TempDir folder;
  const auto recogniser = std::make_shared<Recogniser>(landmarks::random_model(3, 2, 4, 50, 7),
                                                       sightline::test::random_learned_model(9));
  const auto people = recognition::people_of(folder / "new.gallery", recogniser, {}, true);
  EXPECT_TRUE(people->current()->names.empty()) << "there is no file yet";
  FaceReader reader(std::make_unique<PlacesDetector>(some_places(3)), 1, recogniser);
  const auto picture = sightline::test::random_picture({260, 190}, 3);
  const auto faces = reader.find(picture.view());
  {
    Gallery gallery = Gallery::open_or_make(folder / "new.gallery", reader.kind());
    gallery.add("Ada", std::vector{template_of(faces[0])});
    EXPECT_TRUE(sightline::test::becomes_true(
        [&] { return people->current()->names == std::vector<std::string>{"Ada"}; }));
    gallery.add("Bob", std::vector{template_of(faces[1]), template_of(faces[2])});
    EXPECT_TRUE(sightline::test::becomes_true([&] { return people->current()->owners.size() == 3; }));
    gallery.remove({"Ada"});
    EXPECT_TRUE(sightline::test::becomes_true(
        [&] { return people->current()->names == std::vector<std::string>{"Bob"}; }));
  }
}

TEST(RecognitionGallery, IsReadAnewWhenAnotherFileTakesItsPlace) {
  const sightline::test::TempDir folder;
  const auto recogniser = std::make_shared<Recogniser>(landmarks::random_model(3, 2, 4, 50, 7),
                                                       sightline::test::random_learned_model(9));
  FaceReader reader(std::make_unique<PlacesDetector>(some_places(1)), 1, recogniser);
  const auto picture = sightline::test::random_picture({260, 190}, 3);
  const auto faces = reader.find(picture.view());
  const auto make = [&](const char* file, const char* name) {
    Gallery::open_or_make(folder / file, reader.kind()).add(name, std::vector{template_of(faces[0])});
  };
  make("people.gallery", "Ada");
  make("other.gallery", "Bob");
  const auto people = recognition::people_of(folder / "people.gallery", recogniser, {}, true);
  EXPECT_EQ(people->current()->names, std::vector<std::string>{"Ada"});
  std::filesystem::rename(folder / "other.gallery", folder / "people.gallery");
  EXPECT_TRUE(sightline::test::becomes_true(
      [&] { return people->current()->names == std::vector<std::string>{"Bob"}; }));
  // And it is that one which is followed from then on.
  make("people.gallery", "Eve");
  EXPECT_TRUE(sightline::test::becomes_true([&] { return people->current()->names.size() == 2; }));
}

class ForgottenGallery : public testing::Test {
 protected:
  ForgottenGallery()
      : recogniser_(std::make_shared<Recogniser>(landmarks::random_model(3, 2, 4, 50, 7),
                                                 sightline::test::random_learned_model(9))),
        reader_(std::make_unique<PlacesDetector>(some_places(3)), 1, recogniser_),
        faces_(reader_.find(sightline::test::random_picture({260, 190}, 3).view())) {
    add("Ada", 0);
    people_ = recognition::people_of(file_, recogniser_, {}, true);
    EXPECT_THAT(names(), testing::ElementsAre("Ada"));
  }
  void add(const std::string& name, std::size_t face) {
    Gallery::open_or_make(file_, reader_.kind()).add(name, std::vector{template_of(faces_[face])});
  }
  std::vector<std::string> names() const { return *people_->names(); }

  const sightline::test::TempDir folder_;
  const std::filesystem::path file_ = std::filesystem::path(folder_.path()) / "some" / "people.gallery";
  std::shared_ptr<const Recogniser> recogniser_;
  FaceReader reader_;
  std::vector<gallery::FaceTemplate> faces_;
  std::unique_ptr<recognition::PeopleSource> people_;
};

// What is asked for after a change is what was changed: the next frame names nobody who is deleted.
TEST_F(ForgottenGallery, NobodyDeletedIsKnownTheNextTime) {
  add("Bob", 1);
  EXPECT_THAT(names(), testing::ElementsAre("Ada", "Bob"));
  Gallery(file_, Gallery::Access::write).remove({"Ada"});
  EXPECT_THAT(names(), testing::ElementsAre("Bob"));
  Gallery(file_, Gallery::Access::write).rename("Bob", "Rob");
  EXPECT_THAT(names(), testing::ElementsAre("Rob"));
  Gallery(file_, Gallery::Access::write).remove({"Rob"});
  EXPECT_THAT(names(), testing::IsEmpty());
  EXPECT_EQ(people_->current()->templates.size(), 0u);
  add("Eve", 2);
  EXPECT_THAT(names(), testing::ElementsAre("Eve"));
}

TEST_F(ForgottenGallery, NobodyIsKnownOfAFileThatIsNoGalleryAnyMore) {
  const std::string whole = sightline::test::bytes_of(file_);
  const auto back = [&] {
    std::filesystem::create_directories(file_.parent_path());
    sightline::test::store(file_.string(), whole);
    EXPECT_THAT(names(), testing::ElementsAre("Ada"));
  };
  std::filesystem::resize_file(file_, 0);
  EXPECT_THAT(names(), testing::IsEmpty()) << "an emptied file";
  back();
  std::filesystem::remove(file_);
  EXPECT_THAT(names(), testing::IsEmpty()) << "an unlinked file";
  back();
  std::filesystem::remove_all(file_.parent_path());
  EXPECT_THAT(names(), testing::IsEmpty()) << "a removed folder";
  back();
  std::filesystem::resize_file(file_, whole.size() / 2);
  EXPECT_THAT(names(), testing::IsEmpty()) << "a file cut short";
  back();
  sightline::test::store(file_.string(), std::string(whole.size(), 'x'));
  EXPECT_THAT(names(), testing::IsEmpty()) << "a file that was overwritten";
  EXPECT_THAT(names(), testing::IsEmpty()) << "still";
  back();
  // All but the head, which is all that SQLite looks at for changes.
  sightline::test::store(file_.string(), whole.substr(0, 100) + std::string(whole.size() - 100, '\0'));
  EXPECT_THAT(names(), testing::IsEmpty()) << "a file that was overwritten behind its head";
  back();
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_THAT(names(), testing::IsEmpty()) << "a folder";
}

TEST_F(ForgottenGallery, PeopleStayWhileAnotherProgramChangesIt) {
  gallery::Database other(file_, gallery::Database::Mode::write, {});
  other.run("BEGIN EXCLUSIVE");
  other.run("DELETE FROM people");
  EXPECT_THAT(names(), testing::ElementsAre("Ada"));
  other.run("COMMIT");
  EXPECT_THAT(names(), testing::IsEmpty());
}

// Templates have the same size all the same, so that nothing but the hash tells them apart.
TEST(RecognitionGallery, IsRefusedWhereOnlyTheGeometryDiffers) {
  const sightline::test::TempDir folder;
  const auto kind_of = [](const auto& change) {
    recognition::FaceModel model = sightline::test::light_model();
    change(model);
    return recognition::template_kind(Recogniser(landmarks::random_model(3, 2, 4, 50, 7), model));
  };
  using recognition::FaceModel;
  const gallery::TemplateKind kind = kind_of([](FaceModel&) {});
  Gallery::open_or_make(folder / "people.gallery", kind).require(kind_of([](FaceModel& m) { m.name = "x"; }));
  const std::function<void(FaceModel&)> changes[] = {
      [](FaceModel& m) { m.geometry.eye_distance -= 1; },
      [](FaceModel& m) { m.geometry.eye_row += 1; },
      [](FaceModel& m) { m.channels[0].descriptor.margin += 1; },
      [](FaceModel& m) { m.channels[0].descriptor.region.width += 1; },
      [](FaceModel& m) { m.channels[0].descriptor.region.height += 1; },
  };
  for (const auto& change : changes) {
    const gallery::TemplateKind other = kind_of(change);
    SCOPED_TRACE(&change - changes);
    EXPECT_EQ(other.bytes, kind.bytes);
    for (const auto access : {Gallery::Access::read, Gallery::Access::write})
      sightline::test::expect_error(ExitCode::model,
                                    [&] { Gallery(folder / "people.gallery", access).require(other); });
    sightline::test::expect_error(ExitCode::model, "--gallery",
                                  [&] { Gallery::open_or_make(folder / "people.gallery", other); });
  }
}

}  // namespace
}  // namespace sightline::pipeline
