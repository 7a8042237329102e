// Copies' times by their size.
#include "pipeline/measurement/transfer_model.hpp"

#include <gtest/gtest.h>

namespace sightline::pipeline {
namespace {

// 10 microseconds and a gigabyte a second.
TransferCurve made_up_curve() {
  return TransferCurve({{1e6, 1010e-6}, {1e3, 11e-6}, {1e5, 110e-6}});
}

TEST(Transfers, AreOnTheLineThroughWhatWasMeasured) {
  const TransferCurve curve = made_up_curve();
  EXPECT_DOUBLE_EQ(curve.seconds(1e5), 110e-6);
  EXPECT_NEAR(curve.seconds(5e4), 60e-6, 1e-12);
  EXPECT_NEAR(curve.seconds(5e6), 5010e-6, 1e-12) << "beyond the largest";
  EXPECT_DOUBLE_EQ(curve.seconds(1), 11e-6) << "below the smallest";
  for (const double bytes : {1e3, 5e4, 3e5, 7e6}) EXPECT_NEAR(curve.bytes(curve.seconds(bytes)), bytes, 1e-3);
  EXPECT_EQ(curve.bytes(1e-6), 0);
}

TEST(Transfers, LargerOnesAreNoFaster) {
  const TransferCurve curve({{100, 5}, {200, 4}, {400, 6}});
  EXPECT_DOUBLE_EQ(curve.seconds(200), 5);
  EXPECT_DOUBLE_EQ(curve.seconds(300), 5.5);
  EXPECT_DOUBLE_EQ(curve.bytes(5), 100) << "the fewest that take as long";
}

TEST(Transfers, OneOrNoPointWillDo) {
  EXPECT_EQ(TransferCurve().seconds(100), 0);
  EXPECT_EQ(TransferCurve().bytes(1), 0);
  const TransferCurve one({{100, 2}});
  EXPECT_EQ(one.seconds(1e6), 2);
  EXPECT_EQ(one.bytes(3), 100);
}

TEST(Transfers, BothWaysHaveTheirOwnSpeed) {
  const TransferModel model{TransferCurve({{0, 1}, {10, 2}}), TransferCurve({{0, 2}, {10, 4}})};
  EXPECT_DOUBLE_EQ(model.upload_of_download(3), 1.5);
  EXPECT_FALSE(model.empty());
  EXPECT_TRUE(TransferModel{}.empty());
}

TEST(Transfers, FollowFromWhatADeviceWasFoundToDo) {
  characterisation::Characteristics device;
  EXPECT_TRUE(transfer_model(device).empty());
  // GB/s; the best repeat counts.
  const auto add = [&](const char* id, std::vector<characterisation::Point> points) {
    characterisation::Curve& curve = device.curves.emplace_back();
    curve.id = id;
    curve.is_rate = true;
    curve.points = std::move(points);
  };
  add("transfer.pinned.up", {{4096, {0.1, 0.2, 0.4096}}, {1e6, {5, 9, 10}}});
  add("transfer.pinned.down", {{1e6, {1, 1, 2}}});
  const TransferModel model = transfer_model(device);
  EXPECT_NEAR(model.upload.seconds(4096), 10e-6, 1e-12);
  EXPECT_NEAR(model.upload.seconds(1e6), 100e-6, 1e-12);
  EXPECT_NEAR(model.upload_of_download(500e-6), 100e-6, 1e-12);
}

}  // namespace
}  // namespace sightline::pipeline
