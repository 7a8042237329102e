#include "gallery/enrolment.hpp"

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
  EXPECT_THAT(choose_face(faces, {}).problem, HasSubstr("no face"));
  EXPECT_FALSE(choose_face(faces, {.largest = true}).face);
  faces.push_back(MadeUpFinder::face(1, 0));
  EXPECT_EQ(choose_face(faces, {}).face, 0u);
}

TEST(ChooseFace, OfSeveralTheUserSaysWhich) {
  const std::vector<FaceTemplate> faces = three_faces();
  const ChosenFace none = choose_face(faces, {});
  EXPECT_FALSE(none.face);
  EXPECT_EQ(none.problem, "3 faces are found");
  EXPECT_THAT(none.remedy, HasSubstr("--face 1 to --face 3"));
  EXPECT_EQ(choose_face(faces, {.largest = true}).face, 1u) << "of two that are alike, the first";
  EXPECT_EQ(choose_face(faces, {.number = 1}).face, 1u);
  EXPECT_EQ(choose_face(faces, {.number = 2}).face, 2u);
  EXPECT_EQ(choose_face(faces, {.number = 3}).face, 0u);
  EXPECT_THAT(choose_face(faces, {.number = 4}).problem, HasSubstr("none has the number 4"));
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
