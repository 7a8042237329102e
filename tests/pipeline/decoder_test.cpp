// The decoder changes no result of the program.
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

class DecoderOption : public testing::Test {
 protected:
  DecoderOption() {
    media::WriteOptions encoding;
    encoding.preset = "ultrafast";
    media::test::make_clip(clip_, "testsrc2=size=160x200:rate=10:duration=3", encoding);
  }
  std::string detections(const std::string& decoder, const std::string& message = "") const {
    const Outcome outcome = expect_run(
        0, message,
        {"detect", clip_, "--device", "none", "--threshold", "-2", "-d", "-", "--decoder", decoder});
    return outcome.out;
  }

  TempDir folder_;
  const std::string clip_ = folder_ / "clip.mp4";
};

TEST_F(DecoderOption, ChangesNoResult) {
  const std::string software = detections("software");
  EXPECT_NE(software, "");
#ifdef SIGHTLINE_FAULTS
  EXPECT_EQ(detections("fake:prove"), software);
  EXPECT_EQ(detections("fake:fail@12", "h264 is decoded in software from picture 12 on, not by fake"),
            software);
#endif
  EXPECT_EQ(detections("cuda:99", "cannot open cuda:99"), software);
  EXPECT_EQ(detections("auto"), software);
}

TEST_F(DecoderOption, IsChecked) {
  for (const char* const command : {"detect", "live", "measure"})
    expect_run(2, "'gpu' is not a decoder", {command, clip_, "--decoder", "gpu"});
}

}  // namespace
}  // namespace sightline::test
