// Landmarks on OpenCL devices against the CPU, bit for bit.
#include <gtest/gtest.h>

#include <vector>

#include "faces/landmarks/opencl/finder.hpp"
#include "kernels/landmarks_model.hpp"
#include "kernels/opencl_test.hpp"
#include "opencl/data.hpp"

namespace sightline::landmarks {
namespace {

// In all boxes of a frame.
class OpenClLandmarks : public test::ExactDevicesTest {
 protected:
  void compare(const Model& model, std::span<const Square> squares) {
    const PaddedImage frame = test::padded_image({150, 110}, test::Pattern::noise, 4);
    std::vector<DeviceSquare> boxes;
    std::vector<Shape> expected;
    for (const Square& square : squares) {
      boxes.push_back(device_square(square));
      Patch patch;
      reference::sample(frame.view(), square, patch);
      expected.push_back(reference::find(model, patch, model.mean));
    }
    for (const opencl::DeviceInfo& info : devices_) {
      SCOPED_TRACE(info.name);
      const opencl::Context& context = test::shared_context(info);
      opencl::Queue queue(context);
      const DeviceModel device_model(context, model, nullptr);
      DeviceFinder finder(device_model);
      constexpr int kStride = 160;
      std::vector<std::uint8_t> luma(static_cast<std::size_t>(kStride) * 110);
      for (int y = 0; y < 110; ++y)
        std::copy_n(frame.view().row(y), 150, luma.data() + std::ptrdiff_t{y} * kStride);
      opencl::Buffer pixels, device_boxes;
      opencl::upload(queue, pixels, luma);
      opencl::upload(queue, device_boxes, boxes);
      // One more than there are boxes, which nobody is to write.
      std::vector<Shape> found(boxes.size() + 1);
      for (Shape& shape : found) shape.fill(-77);
      const Shape untouched = found.back();
      const opencl::Buffer shapes(context, opencl::bytes_of(found));
      queue.write_now(shapes, found.data(), opencl::bytes_of(found));
      finder.enqueue(queue, pixels, {150, 110}, kStride, device_boxes, boxes.size(), shapes);
      queue.read(shapes, found.data(), opencl::bytes_of(found));
      queue.finish();
      EXPECT_EQ(found.back(), untouched);
      for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(found[i], expected[i]) << "box " << i;
    }
  }
};
/// So small that a simulator gets through it.
using OpenClSmallLandmarks = OpenClLandmarks;

TEST_F(OpenClSmallLandmarks, EqualTheCpus) {
  compare(random_model(2, 2, 5, 20, 1), std::span(kSquares).subspan(0, 2));
}

TEST_F(OpenClLandmarks, EqualTheCpusOfAllDepths) {
  for (const int depth : {1, 4, kMaxDepth}) {
    compare(random_model(depth, 3, depth == 4 ? 200 : 3, kMaxPixels, static_cast<unsigned>(depth)), kSquares);
  }
}

}  // namespace
}  // namespace sightline::landmarks
