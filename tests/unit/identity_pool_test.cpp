// Names over a track: what several frames say together.

#include "detection/identity_pool.hpp"

#include <gtest/gtest.h>

namespace sightline {
namespace {

SharedAttributes frame_with(std::vector<Identity> identities, double limit = 1) {
  DetectionAttributes attributes;
  if (!identities.empty()) {
    attributes.distance = identities.front().distance;
    attributes.name = *attributes.distance <= limit ? identities.front().name : kUnknownName;
  }
  attributes.identities = std::move(identities);
  attributes.limit = limit;
  return attributes;
}

std::string name_after(const std::vector<SharedAttributes>& frames) {
  IdentityPool pool;
  for (const SharedAttributes& one : frames) pool.add(one);
  return pool.pooled(frames.back()).name();
}

TEST(IdentityPool, LeavesAloneWhatNobodyTriedToName) {
  IdentityPool pool;
  pool.add({});
  EXPECT_FALSE(pool.pooled({}));
  DetectionAttributes eyes;
  eyes.landmarks = {{"left_eye", 1, 2}};
  pool.add(eyes);
  EXPECT_EQ(pool.pooled(eyes), SharedAttributes(eyes));
}

TEST(IdentityPool, SaysOfOneFrameWhatTheFrameSays) {
  EXPECT_EQ(name_after({frame_with({{"Ann", 0.9}, {"Bob", 1.2}})}), "Ann");
  EXPECT_EQ(name_after({frame_with({{"Ann", 1.1}, {"Bob", 1.2}})}), kUnknownName);
  EXPECT_EQ(name_after({frame_with({{"Ann", 1.0}})}), "Ann") << "up to the limit";
}

TEST(IdentityPool, OneOddFrameChangesNoName) {
  const auto ann = frame_with({{"Ann", 0.7}, {"Bob", 1.4}});
  const auto odd = frame_with({{"Bob", 0.9}, {"Ann", 1.3}});
  EXPECT_EQ(name_after({ann, ann, ann, odd}), "Ann");
  EXPECT_EQ(name_after({odd, ann, ann, ann}), "Ann");
  EXPECT_EQ(name_after({ann, frame_with({{"Ann", 1.2}})}), "Ann") << "blurred for a moment";
}

TEST(IdentityPool, FollowsWhatFramesGoOnSaying) {
  std::vector<SharedAttributes> frames(30, frame_with({{"Ann", 0.7}, {"Bob", 1.4}}));
  frames.insert(frames.end(), 60, frame_with({{"Bob", 0.6}, {"Ann", 1.5}}));
  EXPECT_EQ(name_after(frames), "Bob");
}

TEST(IdentityPool, WhoIsNotListedIsAsFarAwayAsTheLast) {
  IdentityPool pool;
  pool.add(frame_with({{"Ann", 0.8}, {"Bob", 1.2}}));
  pool.add(frame_with({{"Eve", 1.1}, {"Bob", 1.4}}));
  const auto pooled = pool.pooled(frame_with({{"Eve", 1.1}}));
  // Ann: 0.8 and 1.4; Eve: 1.2 and 1.1; Bob: 1.2 and 1.4.
  ASSERT_EQ(pooled->identities.size(), 3u);
  EXPECT_EQ(pooled->identities[0].name, "Ann");
  EXPECT_NEAR(pooled->identities[0].distance, 1.1, 1e-12);
  EXPECT_EQ(pooled->identities[1].name, "Eve");
  EXPECT_NEAR(pooled->identities[1].distance, 1.15, 1e-12);
  EXPECT_NEAR(pooled->identities[2].distance, 1.3, 1e-12);
}

TEST(IdentityPool, ANameOnceGivenDoesNotFlickerAtTheLimit) {
  IdentityPool pool;
  pool.add(frame_with({{"Ann", 0.99}}));
  int changes = 0;
  std::string name = pool.pooled({}).name();
  for (int i = 0; i < 100; ++i) {
    pool.add(frame_with({{"Ann", i % 2 ? 0.96 : 1.05}}));
    changes += pool.pooled({}).name() != name;
    name = pool.pooled({}).name();
  }
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(name, "Ann");
}

}  // namespace
}  // namespace sightline
