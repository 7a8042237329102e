#include "faces/gallery/enrolment.hpp"

#include <gmock/gmock.h>

#include "support/face_finder.hpp"

namespace sightline::gallery {
namespace {

using test::MadeUpFinder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Candidate candidate(int who, int looks, double sharpness = 1) {
  return {MadeUpFinder::face(who, looks, sharpness), ""};
}

// One stranger in a thousand is nearer than 40, half of them nearer than 500.
const MadeUpFinder kFinder([](double share) { return share < 0.01 ? 40 : 500; });

std::vector<FaceTemplate> three_faces() {
  std::vector<FaceTemplate> faces;
  faces.push_back(MadeUpFinder::face(1, 0, 1, {200, 0, 20, 20}));
  faces.push_back(MadeUpFinder::face(2, 0, 1, {0, 0, 30, 30}));
  faces.push_back(MadeUpFinder::face(3, 0, 1, {100, 50, 30, 30}));
  return faces;
}

TEST(ChooseFace, OneIsMeantByItself) {
  std::vector<FaceTemplate> faces;
  EXPECT_FALSE(choose_face(faces, {}).face);
  EXPECT_FALSE(choose_face(faces, {.largest = true}).face);
  faces.push_back(MadeUpFinder::face(1, 0));
  EXPECT_EQ(choose_face(faces, {}).face, 0u);
}

TEST(ChooseFace, OfSeveralTheUserSaysWhich) {
  const std::vector<FaceTemplate> faces = three_faces();
  const ChosenFace none = choose_face(faces, {});
  EXPECT_FALSE(none.face);
  EXPECT_THAT(none.remedy.text(Words::command_line), HasSubstr("--face"));
  EXPECT_EQ(choose_face(faces, {.largest = true}).face, 1u) << "of two that are alike, the first";
  EXPECT_EQ(choose_face(faces, {.number = 1}).face, 1u);
  EXPECT_EQ(choose_face(faces, {.number = 2}).face, 2u);
  EXPECT_EQ(choose_face(faces, {.number = 3}).face, 0u);
  EXPECT_THAT(choose_face(faces, {.number = 4}).problem, HasSubstr("4"));
}

TEST(Stretches, KeepsTheSharpestOfEach) {
  for (const int count : {0, 1, 255, 256, 257, 511, 512, 513, 3000}) {
    Stretches stretches;
    for (int i = 0; i < count; ++i) {
      Candidate one = candidate(i % 256, i / 256, i % 100);
      one.source = std::to_string(i);
      stretches.add(std::move(one));
    }
    const std::vector<Candidate> kept = stretches.take();
    std::size_t length = 1;
    while ((static_cast<std::size_t>(count) + length - 1) / length > Stretches::kMost) length *= 2;
    ASSERT_EQ(kept.size(), (static_cast<std::size_t>(count) + length - 1) / length) << count;
    for (std::size_t s = 0; s < kept.size(); ++s) {
      int best = static_cast<int>(s * length);
      for (int i = best; i < std::min(count, static_cast<int>((s + 1) * length)); ++i)
        if (i % 100 > best % 100) best = i;
      EXPECT_EQ(kept[s].source, std::to_string(best)) << count << ", stretch " << s;
    }
  }
}

TEST(ChooseFace, DoubtfulOnesAreNot) {
  const FaceQuality least{.confidence = 0.5, .side = 25, .sharpness = 2};
  std::vector<FaceTemplate> faces = three_faces();
  faces[0].sharpness = faces[1].sharpness = faces[2].sharpness = 2;
  faces[1].face.confidence = 0.49;
  faces[2].face.confidence = 0.5;
  EXPECT_EQ(choose_face(faces, {}, least).face, 2u) << "one is too small, one is not sure";
  EXPECT_EQ(choose_face(faces, {.largest = true}, least).face, 2u);
  EXPECT_EQ(choose_face(faces, {.number = 2}, least).face, 2u) << "doubtful ones are counted";
  const ChosenFace first = choose_face(faces, {.number = 1}, least);
  EXPECT_FALSE(first.face);
  EXPECT_TRUE(first.is_doubtful);
  EXPECT_THAT(first.problem, HasSubstr("49%"));
  EXPECT_THAT(first.remedy.text(Words::command_line), HasSubstr("--force"));
  faces[2].sharpness = 1.9;
  const ChosenFace none = choose_face(faces, {}, least);
  EXPECT_FALSE(none.face);
  EXPECT_TRUE(none.is_doubtful);
  EXPECT_FALSE(choose_face(faces, {}).is_doubtful) << "nothing is asked for";
  EXPECT_EQ(doubt_about(MadeUpFinder::face(1, 0), {}), "") << "no confidence is no doubt";
  EXPECT_EQ(doubt_about(MadeUpFinder::face(1, 0), {.confidence = 1}), "");
}

// Strangers are 1000 apart; for a share of 0.3 / others, they are nearer than 600 / others.
const MadeUpFinder kStrict([](double share) { return static_cast<std::int64_t>(2000 * share); });

std::vector<Candidate> people(const std::vector<int>& who) {
  std::vector<Candidate> candidates;
  for (const int one : who) candidates.push_back(candidate(one, 0));
  return candidates;
}

TEST(Likeness, KeepsTheLargestGroup) {
  EXPECT_THAT(sort_by_likeness(people({1, 2, 1, 1, 3}), {}, kStrict).like, ElementsAre(0, 2, 3));
  EXPECT_THAT(sort_by_likeness(people({1, 2, 1, 1, 3}), {}, kStrict).unlike, ElementsAre(1, 4));
  EXPECT_THAT(sort_by_likeness(people({1, 2, 2, 1}), {}, kStrict).like, ElementsAre(0, 3)) << "the first";
  EXPECT_THAT(sort_by_likeness(people({1, 2, 3}), {}, kStrict).like, ElementsAre(0));
  // Linked through another: 0, 60, 120 with a limit of 600 / 4.
  std::vector<Candidate> chain;
  for (const int looks : {0, 120, 240, 120, 120}) chain.push_back(candidate(1, looks));
  EXPECT_THAT(sort_by_likeness(chain, {}, kStrict).like, ElementsAre(0, 1, 2, 3, 4));
}

TEST(Likeness, WhoIsKnownDecides) {
  const std::vector<std::vector<std::uint8_t>> known = {{2, 0}, {2, 9}};
  const Likeness sorted = sort_by_likeness(people({1, 1, 1, 2}), known, kStrict);
  EXPECT_THAT(sorted.like, ElementsAre(3));
  EXPECT_THAT(sorted.unlike, ElementsAre(0, 1, 2));
  EXPECT_THAT(sort_by_likeness(people({1, 3}), known, kStrict).like, IsEmpty());
  EXPECT_THAT(sort_by_likeness({}, known, kStrict).unlike, IsEmpty());
}

TEST(Likeness, TwoPicturesDoNotSayWhichIsWrong) {
  for (const Likeness& sorted :
       {sort_by_likeness(people({1, 2}), {}, kStrict), sort_by_likeness(people({1}), {{2, 0}}, kStrict)}) {
    EXPECT_FALSE(sorted.is_certain);
    EXPECT_THAT(sorted.unlike, IsEmpty());
  }
  EXPECT_TRUE(sort_by_likeness(people({1, 1}), {}, kStrict).is_certain);
  EXPECT_TRUE(sort_by_likeness(people({1}), {}, kStrict).is_certain);
  const MadeUpFinder knows_nothing;
  EXPECT_THAT(sort_by_likeness(people({1, 2, 3}), {}, knows_nothing).like, ElementsAre(0, 1, 2));
}

TEST(SelectPictures, LeavesOutWhatIsAlike) {
  const std::vector<std::vector<std::uint8_t>> known = {{1, 100}};
  std::vector<Candidate> candidates;
  for (const int looks : {105, 111, 120, 121, 122}) candidates.push_back(candidate(1, looks));
  const Selection selection = select_pictures(candidates, known, kFinder);  // alike: up to 10 apart
  EXPECT_THAT(selection.taken, ElementsAre(1, 4));
  EXPECT_EQ(selection.alike, 3u);
  const MadeUpFinder knows_nothing;
  candidates.push_back(candidate(1, 122));
  EXPECT_THAT(select_pictures(candidates, known, knows_nothing).taken, ElementsAre(0, 1, 2, 3, 4));
}

TEST(SelectFrames, TakesSharpOnesThatDiffer) {
  std::vector<Candidate> candidates;
  candidates.push_back(candidate(1, 0, 5));
  candidates.push_back(candidate(1, 100, 1));  // blurred
  candidates.push_back(candidate(1, 5, 6));    // like the sharpest
  candidates.push_back(candidate(1, 50, 7));
  candidates.push_back(candidate(1, 2, 8));   // the sharpest
  candidates.push_back(candidate(1, 30, 1));  // blurred
  candidates.push_back(candidate(1, 200, 2));
  const Selection selection = select_frames(candidates, {}, kFinder, 10);
  EXPECT_THAT(selection.taken, ElementsAre(3, 4));
  EXPECT_EQ(selection.blurred, 3u);
  EXPECT_EQ(selection.alike, 2u);
  EXPECT_EQ(selection.others, 0u);
  EXPECT_THAT(select_frames(candidates, {}, kFinder, 1).taken, ElementsAre(4));
  EXPECT_THAT(select_frames(candidates, {{1, 3}, {1, 55}}, kFinder, 10).taken, IsEmpty());
  EXPECT_THAT(select_frames({}, {}, kFinder, 10).taken, IsEmpty());
}

TEST(SelectFrames, LeavesOutWhoComesBy) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 5; ++i) candidates.push_back(candidate(1, 20 * i));
  candidates.push_back(candidate(2, 0, 100));
  candidates.push_back(candidate(9, 0, 100));
  const Selection selection = select_frames(candidates, {}, kFinder, 10);
  EXPECT_THAT(selection.taken, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(selection.others, 2u);
}

TEST(SelectFrames, SpreadsOverWhatIsThere) {
  std::vector<Candidate> candidates;
  for (int looks = 0; looks <= 200; ++looks) candidates.push_back(candidate(1, looks));
  EXPECT_THAT(select_frames(candidates, {}, kFinder, 3).taken, ElementsAre(0, 100, 200));
}

}  // namespace
}  // namespace sightline::gallery
