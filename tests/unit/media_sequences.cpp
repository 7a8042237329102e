// Numbered pictures, and matrices of colour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/gray_png.hpp"
#include "media/picture_sequence.hpp"
#include "media/reader.hpp"
#include "media/scaler.hpp"
#include "support/log_capture.hpp"
#include "support/temp_dir.hpp"

namespace sightline::media {
namespace {

class MediaSequence : public testing::Test {
 protected:
  void make(const std::vector<int>& numbers, const char* format) {
    for (const int number : numbers) {
      char name[64];
      std::snprintf(name, sizeof name, format, number);
      write_gray_png(folder_ / name, Image<std::uint8_t>(64, 48).view());
    }
  }
  std::size_t read(const std::string& pattern) {
    Reader reader(folder_ / pattern);
    std::size_t pictures = 0;
    while (reader.read()) ++pictures;
    return pictures;
  }
  test::TempDir folder_;
};

TEST_F(MediaSequence, BeginsWithAnyNumber) {
  make({100, 101, 102}, "i%03d.png");
  EXPECT_EQ(read("i%03d.png"), 3u);
  make({1234567, 1234568}, "k%d.png");
  EXPECT_EQ(read("k%d.png"), 2u);
}

TEST_F(MediaSequence, NamesWhatIsMissing) {
  make({1, 2, 3, 6, 7, 10}, "i%03d.png");
  sightline::test::LogCapture log;
  EXPECT_EQ(read("i%03d.png"), 3u);
  EXPECT_THAT(log.str(), testing::AllOf(testing::HasSubstr("picture 4"), testing::HasSubstr("3 pictures")));
}

TEST_F(MediaSequence, CountsTheFilesThatThePatternPrints) {
  make({7, 8}, "i%03d.png");
  make({9}, "i%d.png");     // not with three digits
  make({9}, "i%03d.txt");   // of another kind
  make({1000}, "i%d.png");  // as %03d prints it
  const auto found = find_sequence(folder_ / "i%03d.png");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 7);
  EXPECT_EQ(found->end, 9);
  EXPECT_EQ(found->further, 1);
  for (const std::string pattern : {"j%03d.png", "i%%03d.png", "i%s.png", "i%03d-%d.png", "i.png"})
    EXPECT_FALSE(find_sequence(folder_ / pattern)) << pattern;
}

TEST(MediaMatrix, OfEveryTag) {
  const auto shares = [](AVColorSpace tag, int height) {
    const FramePtr picture = make_picture(AV_PIX_FMT_YUV420P, 64, height);
    picture->colorspace = tag;
    return luma_shares(*picture).red;
  };
  EXPECT_EQ(shares(AVCOL_SPC_BT709, 48), kBt709.red);
  EXPECT_EQ(shares(AVCOL_SPC_BT2020_NCL, 48), kBt2020.red);
  EXPECT_EQ(shares(AVCOL_SPC_BT2020_CL, 48), kBt2020.red);
  EXPECT_EQ(shares(AVCOL_SPC_SMPTE240M, 48), kSmpte240m.red);
  EXPECT_EQ(shares(AVCOL_SPC_FCC, 48), kFcc.red);
  EXPECT_EQ(shares(AVCOL_SPC_BT470BG, 48), kBt601.red);
  EXPECT_EQ(shares(AVCOL_SPC_UNSPECIFIED, 48), kBt601.red);
  EXPECT_EQ(shares(AVCOL_SPC_UNSPECIFIED, 720), kBt709.red);
}

}  // namespace
}  // namespace sightline::media
