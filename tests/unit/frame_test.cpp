// Frames whose pixels lie elsewhere than in the decoder's memory.
#include "frame/frame.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.hpp"
#include "media/decoded_picture.hpp"
#include "media/ffmpeg.hpp"
#include "support/errors.hpp"

namespace sightline::test {
namespace {

Image<std::uint8_t> some_image(int width, int height) {
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.view().at(x, y) = static_cast<std::uint8_t>(7 * x + 31 * y);
  return image;
}

class HostPixels : public FrameStorage {
 public:
  explicit HostPixels(const Image<std::uint8_t>& image) : image_(image) {}
  PictureView view() const override { return image_.view(); }

 private:
  const Image<std::uint8_t>& image_;
};

// Memory of a device that only `copied_to` reads.
class DevicePixels : public FrameStorage {
 public:
  explicit DevicePixels(const Image<std::uint8_t>& image) : image_(image) {}
  MemoryDomain domain() const override { return MemoryDomain::cuda; }
  PictureView view() const override {
    const GrayView pixels = image_.view();
    return GrayView(nullptr, pixels.width(), pixels.height(), pixels.stride());
  }
  LumaRange luma_range() const override { return LumaRange::limited; }
  int copies() const { return copies_; }

 protected:
  std::unique_ptr<const FrameStorage> copied_to(MemoryDomain domain) const override {
    if (domain != MemoryDomain::host) return nullptr;
    ++copies_;
    return std::make_unique<HostPixels>(image_);
  }

 private:
  const Image<std::uint8_t>& image_;
  mutable std::atomic<int> copies_ = 0;
};

// Nothing can read it.
class LostPixels : public DevicePixels {
 public:
  using DevicePixels::DevicePixels;

 protected:
  std::unique_ptr<const FrameStorage> copied_to(MemoryDomain) const override { return nullptr; }
};

TEST(Frame, OfAnotherDomainIsCopiedToTheHostOnce) {
  const Image<std::uint8_t> image = some_image(37, 21);
  const auto pixels = std::make_shared<DevicePixels>(image);
  const Frame frame(pixels, 3, 0.5, "name");
  EXPECT_EQ(frame.domain(), MemoryDomain::cuda);
  EXPECT_EQ(frame.size(), (Size{37, 21}));
  EXPECT_EQ(frame.luma_range(), LumaRange::limited);
  EXPECT_EQ(frame.in(MemoryDomain::cuda), pixels.get());
  EXPECT_EQ(frame.in(MemoryDomain::vaapi), nullptr);
  EXPECT_EQ(pixels->copies(), 0);
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back(
        [copy = frame.renumbered(i), &image] { EXPECT_EQ(copy.gray().data(), image.view().data()); });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(pixels->copies(), 1);
}

TEST(Frame, ThatCannotBeCopiedIsAnErrorOfTheDevice) {
  const Image<std::uint8_t> image = some_image(8, 8);
  const Frame frame(std::make_shared<LostPixels>(image), 1, 0);
  expect_error(ExitCode::device, "copied", [&] { static_cast<void>(frame.view()); });
}

TEST(Frame, OfNobodysDecoderHasADescriptionOfFfmpegs) {
  const auto image = std::make_shared<const Image<std::uint8_t>>(some_image(33, 17));
  std::shared_ptr<const AVFrame> picture;
  {
    const Frame frame = frame_of_gray(image);
    EXPECT_TRUE(frame.shares_pixels_with(frame.retimed(2)));
    EXPECT_FALSE(frame.shares_pixels_with(frame_of_gray(image)));
    EXPECT_EQ(frame.storage<media::DecodedPicture>(), nullptr);
    picture = media::picture_of(frame);
  }
  ASSERT_EQ(picture->format, AV_PIX_FMT_GRAY8);
  EXPECT_EQ(picture->data[0], image->view().data());
  EXPECT_EQ(picture->color_range, AVCOL_RANGE_JPEG);
  EXPECT_EQ(media::picture_of(Frame()), nullptr);
}

}  // namespace
}  // namespace sightline::test
