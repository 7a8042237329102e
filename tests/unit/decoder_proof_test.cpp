// Tests of hardware decoders: whatever a decoder does is told apart, remembered, and heeded by `auto`.
#include "media/decoder_proof.hpp"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "base/json_store.hpp"
#include "base/process_policy.hpp"
#include "media/ffmpeg.hpp"
#include "support/log_capture.hpp"
#include "support/media.hpp"
#include "support/variable.hpp"

namespace sightline::media::test {
namespace {

using sightline::test::LogCapture;
using sightline::test::Variable;
using testing::HasSubstr;
using testing::Not;

using ProofKind = DecoderProof::Outcome;

class DecoderProofs : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "no process is copied under ThreadSanitizer";
#endif
  }
};

void expect_proof(const DecoderProof& proof, DecoderProof::Outcome outcome, const std::string& reason) {
  EXPECT_STREQ(to_string(proof.outcome), to_string(outcome)) << proof.reason;
  EXPECT_THAT(proof.reason, HasSubstr(reason));
}

#ifdef SIGHTLINE_FAULTS

TEST_F(DecoderProofs, EveryClipIsDecodedInSoftware) {
  for (const std::string codec : kProvedCodecs) {
    SCOPED_TRACE(codec);
    const DecoderProof proof = prove_decoder("fake:", codec);
    EXPECT_EQ(proof.codec, codec);
    expect_proof(proof, ProofKind::proved, "36 frames are equal to those of software");
  }
}

TEST_F(DecoderProofs, FaultsAreToldApart) {
  expect_proof(prove_decoder("fake:wrong@5", "h264"), ProofKind::wrong,
               "frame 5: plane 0 differs in row 181, byte 161");
  expect_proof(prove_decoder("fake:wrong@36", "hevc 10 bit"), ProofKind::wrong, "frame 36: plane 0");
  expect_proof(prove_decoder("fake:lose@36", "vp8"), ProofKind::wrong, "35 frames instead of 36");
  expect_proof(prove_decoder("fake:lose@3", "vp9"), ProofKind::wrong, "frame 3: plane 0");
  expect_proof(prove_decoder("fake:fail@5", "h264"), ProofKind::failed, "external library");
  expect_proof(prove_decoder("fake:damage@5", "h264"), ProofKind::failed, "Invalid data");
  expect_proof(prove_decoder("fake:refuse", "h264"), ProofKind::unsupported, "the fake refuses");
  expect_proof(prove_decoder("fake:crash@5", "h264"), ProofKind::crashed, "it crashed (Aborted)");
  expect_proof(prove_decoder("fake:hang@5", "h264", std::chrono::milliseconds(100)), ProofKind::hangs,
               "it did not answer within 0.1 s");
}

TEST_F(DecoderProofs, NothingIsTestedInAProcessThatMayNotBeCopied) {
  set_process_policy({});
  const DecoderProof proof = prove_decoder("fake:crash@1", "h264");
  set_process_policy(kOwnProcess);
  expect_proof(proof, ProofKind::untested, "no process can be made");
}

#endif

TEST_F(DecoderProofs, ADeviceThatIsNotThereIsUnavailable) {
  expect_proof(prove_decoder("cuda:99", "h264"), ProofKind::unavailable, "cannot open cuda:99");
  expect_error(ExitCode::usage, "is not a decoder", [] { prove_decoder("gpu", "h264"); });
}

TEST_F(DecoderProofs, AMissingClipIsAnError) {
  expect_error(ExitCode::failed, "decoder-clips/mjpeg.mkv", [] { prove_decoder("cuda:99", "mjpeg"); });
}

/// Results are kept in a folder of its own.
class DecoderProofMemory : public testing::Test {
 protected:
  static std::string failure_of(const std::string& decoder, AVCodecID codec,
                                AVPixelFormat format = AV_PIX_FMT_YUV420P) {
    const CodecParametersPtr parameters(avcodec_parameters_alloc());
    parameters->codec_id = codec;
    parameters->format = format;
    return remembered_failure(decoder, *parameters);
  }

  TempDir folder_;
  Variable cache_{"XDG_CACHE_HOME", folder_ / "cache"};
};

TEST_F(DecoderProofMemory, KeepsWhatADecoderMustNotBeUsedFor) {
  EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_H264), "");
  for (const ProofKind outcome : {ProofKind::wrong, ProofKind::hangs, ProofKind::crashed}) {
    remember_proof("cuda:0", {"h264", outcome, "frame 5"});
    EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_H264), std::string(to_string(outcome)) + ": frame 5");
  }
  EXPECT_EQ(failure_of("cuda:1", AV_CODEC_ID_H264), "");
  EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_HEVC), "");
  for (const ProofKind outcome : {ProofKind::proved, ProofKind::unavailable, ProofKind::unsupported,
                                  ProofKind::failed, ProofKind::untested}) {
    remember_proof("cuda:0", {"h264", ProofKind::wrong, ""});
    remember_proof("cuda:0", {"h264", outcome, ""});
    EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_H264), "") << to_string(outcome);
  }
  remember_proof("cuda:0", {"hevc 10 bit", ProofKind::crashed, ""});
  EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P), "");
  EXPECT_NE(failure_of("cuda:0", AV_CODEC_ID_HEVC, AV_PIX_FMT_YUV420P10), "");
}

TEST_F(DecoderProofMemory, ForgetsWhatWasTestedWithAnotherDriver) {
  remember_proof("cuda:0", {"h264", ProofKind::wrong, "frame 5"});
  {
    const Variable devices("CUDA_VISIBLE_DEVICES", "7");
    EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_H264), "");
  }
  const JsonStore store(cache_file("decoders.json"));
  nlohmann::json entry = store.find("cuda:0 h264");
  ASSERT_TRUE(entry.contains("state")) << entry;
  entry["state"] = "another driver";
  store.store("cuda:0 h264", entry);
  EXPECT_EQ(failure_of("cuda:0", AV_CODEC_ID_H264), "");
}

#ifdef SIGHTLINE_FAULTS

/// What the log says when a decoder is asked for.
std::string log_of_decoding(const std::string& clip) {
  LogCapture log;
  spdlog::default_logger()->set_level(spdlog::level::debug);
  ReadOptions options;
  options.decoder = "fake:";
  EXPECT_EQ(read_all(clip, options).size(), 50U);
  return log.str();
}

TEST_F(DecoderProofMemory, AutoLeavesOutADecoderThatFailed) {
  const std::string clip = folder_ / "clip.mp4";
  make_clip(clip, kClip);
  EXPECT_THAT(log_of_decoding(clip), HasSubstr("is decoded by fake"));
  remember_proof("fake", {"h264", ProofKind::wrong, "frame 5"});
  const std::string log = log_of_decoding(clip);
  EXPECT_THAT(log, HasSubstr("h264 is decoded in software, not by fake, which failed in `sightline devices "
                             "--decoders` (wrong: frame 5)"));
  EXPECT_THAT(log, Not(HasSubstr("is decoded by fake")));
}

#endif

}  // namespace
}  // namespace sightline::media::test
