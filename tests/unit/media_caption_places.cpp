// CaptionPlaces: where captions stand when boxes lie in each other.
#include "media/caption_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sightline::media {
namespace {

using Area = CaptionPlaces::Area;

constexpr Area kPicture{0, 0, 640, 480};
constexpr Size kCaption{80, 14};

bool overlap(const Area& a, const Area& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

TEST(CaptionPlaces, AboveTheBoxOrBelowItAtTheTop) {
  CaptionPlaces places(kPicture);
  EXPECT_EQ(places.next({100, 200, 180, 320}, kCaption), (Area{100, 186, 180, 200}));
  EXPECT_EQ(places.next({300, 5, 380, 100}, kCaption), (Area{300, 100, 380, 114})) << "not over the head";
  EXPECT_EQ(places.next({300, 5, 380, 478}, kCaption), (Area{300, 464, 380, 478})) << "at the lower end";
  EXPECT_EQ(places.next({600, 200, 700, 320}, kCaption), (Area{560, 186, 640, 200})) << "within the picture";
}

TEST(CaptionPlaces, AFaceInAPersonHasItsCaptionElsewhere) {
  CaptionPlaces places(kPicture);
  const Area person = places.next({100, 200, 260, 460}, kCaption);
  const Area face = places.next({140, 204, 180, 250}, kCaption);
  EXPECT_FALSE(overlap(person, face));
  EXPECT_EQ(face, (Area{140, 250, 220, 264})) << "below the face";
  EXPECT_FALSE(overlap(face, places.next({140, 204, 180, 250}, kCaption)));
}

TEST(CaptionPlaces, OnTheRightOfAWideBox) {
  CaptionPlaces places(kPicture);
  places.next({100, 200, 150, 300}, kCaption);
  EXPECT_EQ(places.next({120, 200, 300, 300}, kCaption), (Area{220, 186, 300, 200}));
}

TEST(CaptionPlaces, OfACrowdHideNoOther) {
  CaptionPlaces places(kPicture);
  std::vector<Area> taken;
  for (int i = 0; i < 40; ++i) {
    const int left = 40 + 12 * i, top = 180 + i * 37 % 50;
    const Area place = places.next({left, top, left + 30, top + 90}, kCaption);
    if (place.empty()) continue;
    EXPECT_TRUE(std::ranges::none_of(taken, [&](const Area& other) { return overlap(place, other); })) << i;
    EXPECT_TRUE(place.left >= 0 && place.top >= 0 && place.right <= 640 && place.bottom <= 480) << i;
    taken.push_back(place);
  }
  EXPECT_GE(taken.size(), 25U) << "most have one";
}

TEST(CaptionPlaces, AboveTheBoxWhereThereIsNoRoomAnywhere) {
  CaptionPlaces places({0, 0, 80, 30});
  for (int i = 0; i < 4; ++i) places.next({0, 0, 80, 30}, kCaption);
  EXPECT_TRUE(places.next({0, 0, 80, 30}, kCaption).empty()) << "no caption hides another one";
  EXPECT_EQ(CaptionPlaces({0, 0, 8, 8}).next({2, 3, 5, 5}, kCaption), (Area{0, 3, 80, 17}));
}

}  // namespace
}  // namespace sightline::media
