// Files that several decoders read side by side: to the byte what one decoder gives.
#include "pipeline/runs/parted_video.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "pipeline/runs/input_decoding.hpp"
#include "pipeline/runs/reader_source.hpp"
#include "support/child_process.hpp"
#include "support/media.hpp"
#include "support/pipeline.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

#ifdef SIGHTLINE_FAULTS

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::ReadOptions;
using media::VideoPart;
using media::test::encode_clip;
using testing::HasSubstr;
using testing::Not;

const Words kSixSeconds{"-f",       "lavfi",
                        "-i",       "testsrc2=size=160x96:rate=25:duration=6,noise=alls=20:allf=t",
                        "-pix_fmt", "yuv420p"};
const Words kLongInput{"-f",       "lavfi",
                       "-i",       "testsrc2=size=176x144:rate=25:duration=24,noise=alls=20:allf=t",
                       "-pix_fmt", "yuv420p"};
const Words kGroupsOf25{"-c:v", "libx264", "-preset", "fast", "-g", "25", "-bf", "3", "-sc_threshold", "0"};

/// Results of a detector that finds the value of a pixel.
struct Searched {
  std::vector<FrameResult> results;
  bool is_complete = true;
  std::int64_t number = 0;
  pipeline::PartedVideo::Continuation continuation = {};
};

class PartedVideo : public testing::Test {
 protected:
  static Searched search_whole(const std::string& file, const ReadOptions& options) {
    media::Reader reader(file, options);
    pipeline::ReaderSource source(reader);
    pipeline::test::FakeDetector detector;
    pipeline::test::Collector collector;
    pipeline::Pipeline pipeline(detector, nullptr, pipeline::test::on_cpu(4));
    pipeline.run({&source, file, {&collector}, {}});
    return {collector.results};
  }

  static Searched search_parts(const std::string& file, const ReadOptions& options,
                               const std::string& decoder, const std::vector<VideoPart>& parts,
                               const pipeline::PartedVideo::Place& reached = {}, std::size_t kept = 3,
                               const std::string& other_decoder = "software") {
    pipeline::test::FakeDetector detector;
    pipeline::test::Collector collector;
    // Decoders of both kinds read what `auto` reads.
    pipeline::PartedVideo video(file, parts, options, {{decoder, 0}, {decoder, 0}, {other_decoder, 1}},
                                reached, {&collector});
    EXPECT_GT(video.size(), 2U);
    video.keep(kept);
    pipeline::Pipeline pipeline(detector, nullptr, pipeline::test::on_cpu(6));
    pipeline.run(std::vector{video.stream(0), video.stream(1), video.stream(2)});
    const bool is_complete = video.finish();
    EXPECT_EQ(is_complete, video.problem().empty()) << video.problem();
    EXPECT_EQ(video.counts().frames, std::ssize(collector.results));
    return {collector.results, is_complete, video.number(), video.continuation()};
  }

  /// The results from `first` to `last` (one past) of the whole file are those of the parts.
  static void expect_same(const Searched& parts, const Searched& whole, std::size_t first, std::size_t last) {
    ASSERT_EQ(parts.results.size(), last - first);
    for (std::size_t i = first; i < last; ++i)
      ASSERT_EQ(difference(parts.results[i - first], whole.results[i]), "") << "result " << i;
  }
  static void expect_same(const Searched& parts, const Searched& whole) {
    EXPECT_TRUE(parts.is_complete);
    expect_same(parts, whole, 0, whole.results.size());
  }

  static std::vector<VideoPart> parts_of(const std::string& file) {
    const std::vector<VideoPart> parts = media::divide_video(file, {}, 25).parts;
    EXPECT_GE(parts.size(), 5U);
    return parts;
  }

  /// One file for all tests, which do not write to it.
  static std::string h264() {
    static const TempDir folder;
    static const std::string file = encode_clip(folder, kSixSeconds, kGroupsOf25, "h264.mp4");
    return file;
  }
  static std::string copied(const TempDir& folder, const std::string& file, const std::string& name) {
    return encode_clip(folder, {"-i", file}, {"-c", "copy"}, name);
  }

  TempDir folder_;
};

TEST_F(PartedVideo, GivesTheResultsOfOneDecoder) {
  const std::vector<std::string> files{
      h264(), copied(folder_, h264(), "h264.mkv"),
      encode_clip(folder_, kSixSeconds,
                  {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                   "log-level=none:open-gop=1:keyint=25:min-keyint=25:bframes=4"},
                  "hevc.mkv"),
      encode_clip(
          folder_, kSixSeconds,
          {"-c:v", "libvpx-vp9", "-g", "25", "-auto-alt-ref", "1", "-lag-in-frames", "12", "-cpu-used", "8"},
          "vp9.webm")};
  std::vector<ReadOptions> readings(5);
  readings[1].every = 7;
  readings[2].start = 1.5;
  readings[3].start = 1;  // a key frame
  readings[3].duration = 4.2;
  readings[4].every = 3;
  readings[4].start = 0.7;
  readings[4].duration = 4;
  const std::vector<std::string> decoders{"fake:", "fake:prove", "fake:fail@12,damage@40"};
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::vector<VideoPart> parts = parts_of(files[f]);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const Searched whole = search_whole(files[f], readings[i]);
      for (std::size_t d = 0; d < decoders.size(); ++d) {
        if (!is_thorough() && d != (f + i) % decoders.size()) continue;
        SCOPED_TRACE(files[f] + ", reading " + std::to_string(i) + ", " + decoders[d]);
        expect_same(search_parts(files[f], readings[i], decoders[d], parts), whole);
      }
    }
  }
}

// 150 frames are two parts for software, and too few for several decoders of a device.
TEST_F(PartedVideo, DecodersArePlannedAsTheyRun) {
  const std::string file = h264();
  const auto measured = [&](const std::string& decoder, int threads, std::size_t beside) {
    ReadOptions reading;
    reading.decoder = decoder;
    const StreamInfo info = media::Reader(file, reading).info();
    return pipeline::decoding_of(
               {.name = file, .reading = reading, .info = info, .threads = threads, .beside = beside})
        .measure(5, 1, nullptr);
  };
  const auto expect = [&](const std::vector<pipeline::DecoderCost>& costs, const std::string& processor,
                          int count) {
    ASSERT_EQ(costs.size(), 1U);
    EXPECT_EQ(costs.front().processor, processor);
    EXPECT_EQ(costs.front().count, count);
    EXPECT_GT(costs.front().seconds, 0);
    EXPECT_LT(costs.front().joules, 0) << "no meter";
  };
  expect(measured("software", 8, 0), "CPU", 2);
  expect(measured("software", 2, 0), "CPU", 1);
  expect(measured("software", 8, 3), "CPU", 3);
  expect(measured("fake:", 8, 0), "fake", 1);
}

TEST_F(PartedVideo, GoesOnBehindWhatWasReadBefore) {
  const std::string file = h264();
  const Searched whole = search_whole(file, {});
  for (const std::size_t before : {1, 24, 25, 26, 60}) {
    SCOPED_TRACE(before);
    const FrameResult& last = whole.results[before - 1];
    const Searched parts = search_parts(file, {}, "fake:", parts_of(file), {last.frame, last.time});
    expect_same(parts, whole, before, whole.results.size());
    EXPECT_EQ(parts.number, std::ssize(whole.results));
  }
}

TEST_F(PartedVideo, IsReadWholeByThoseThatAreKept) {
  const std::string file = h264();
  expect_same(search_parts(file, {}, "fake:", parts_of(file), {}, 1), search_whole(file, {}));
}

TEST_F(PartedVideo, EndsInFrontOfPartsThatDoNotMeet) {
  const std::string file = h264();
  std::vector<VideoPart> parts = parts_of(file);
  parts[1].frames += parts[2].frames;  // 50
  parts.erase(parts.begin() + 2);
  // The frame behind the second part, as its decoder sees it.
  const Searched some = search_parts(file, {}, "fake:wrong@51", parts, {}, 3, "fake:wrong@51");
  EXPECT_FALSE(some.is_complete);
  EXPECT_EQ(some.number, 75);
  EXPECT_EQ(some.continuation.number, 25);
  EXPECT_NEAR(some.continuation.start, 1, 1e-6);
  expect_same(some, search_whole(file, {}), 0, 75);
}

TEST_F(PartedVideo, EndsWhereFramesToBeLeftOutAreUnknown) {
  const std::string file = h264();
  std::vector<VideoPart> parts = parts_of(file);
  --parts[1].frames;
  EXPECT_TRUE(search_parts(file, {}, "fake:", parts).is_complete);
  ReadOptions options;
  options.every = 7;
  const Searched some = search_parts(file, options, "fake:", parts);
  EXPECT_FALSE(some.is_complete);
  EXPECT_EQ(some.number, 50);
  EXPECT_EQ(some.continuation.number, 25);
  expect_same(some, search_whole(file, options), 0, 8);
}

TEST_F(PartedVideo, MayBeDividedAnywhere) {
  const std::string file = h264();
  const Searched whole = search_whole(file, {});
  for (const double begin : {0.5, 1.0, 1.52, 1.5213}) {
    SCOPED_TRACE(begin);
    std::vector<VideoPart> parts = parts_of(file);
    parts[2].begin = begin;
    expect_same(search_parts(file, {}, "fake:", parts), whole);
  }
}

// One decoder and several read such files alike, or several end in front of the problem.
TEST_F(PartedVideo, IndicesMayLie) {
  using Bytes = std::vector<char>;
  const auto at = [](Bytes& file, std::string_view name, std::ptrdiff_t offset) {
    const auto found = std::find_end(file.begin(), file.end(), name.begin(), name.end());
    EXPECT_NE(found, file.end());
    return found + std::ssize(name) + offset;
  };
  // Adds to the last byte of each entry of a list, whose entries begin with `head`.
  const auto add = [&](Bytes& file, std::string_view list, std::string_view head, std::ptrdiff_t last,
                       int more) {
    for (auto next = at(file, list, 0);;) {
      next = std::search(next, file.end(), head.begin(), head.end());
      if (next == file.end()) return;
      next += last;
      *next = static_cast<char>(*next + more);
    }
  };
  const std::string mp4 = h264(), mkv = copied(folder_, mp4, "copy.mkv");
  struct Lie {
    const char* name;
    const std::string& file;
    std::function<void(Bytes&)> tell;
  };
  const std::string_view cues("\x1C\x53\xBB\x6B");
  const Lie lies[]{
      {"all frames are key frames", mp4, [&](Bytes& file) { *at(file, "stss", -4) = 'f'; }},
      {"other frames are key frames", mp4,
       [&](Bytes& file) {
         for (int i = 1; i < 6; ++i) *at(file, "stss", 11 + 4 * i) += 2;
       }},
      {"frames last longer", mp4, [&](Bytes& file) { *at(file, "stts", 15) += 64; }},
      {"key frames are later", mkv, [&](Bytes& file) { add(file, cues, "\xB3\x82", 3, 80); }},
      {"clusters are elsewhere", mkv, [&](Bytes& file) { add(file, cues, "\xF1\x83", 4, 20); }},
  };
  for (const auto& [name, file, tell] : lies) {
    SCOPED_TRACE(name);
    Bytes bytes = media::test::load(file);
    tell(bytes);
    const std::string copy = folder_ / "lies" + fs::path(file).extension().string();
    media::test::store(copy, bytes);
    const Searched whole = search_whole(copy, {});
    EXPECT_GE(whole.results.size(), 130U);  // the edit list of the third one cuts it
    const std::vector<VideoPart> parts = media::divide_video(copy, {}, 25).parts;
    if (parts.size() < 3) continue;
    const Searched some = search_parts(copy, {}, "fake:", parts);
    expect_same(some, whole, 0, some.is_complete ? whole.results.size() : some.results.size());
    media::Reader rest(copy, {});
    rest.continue_at(some.continuation.number, some.continuation.start);
    for (auto i = static_cast<std::size_t>(some.continuation.number);
         !some.is_complete && i < whole.results.size(); ++i) {
      const std::optional<Frame> frame = rest.read();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->number(), whole.results[i].frame);
      EXPECT_EQ(frame->time(), whole.results[i].time);
    }
  }
}

/// A batch job with parts of a video that are divided again.
class VideoJob {
 public:
  VideoJob(const std::string& video, const std::string& decoder) {
    expect_run(
        0, "",
        Words{"batch", "plan", video, "--job", job_, "--chunk", "300", "--decoder", decoder} + kFindsSome);
  }
  Outcome work(const Words& options) const {
    return expect_run(0, "", Words{"batch", "work", job_, "-v", "--device", "none"} + options);
  }
  Outcome merge(const Words& options = {}) const {
    return run(Words{"batch", "merge", job_, "--format", "jsonl", "--output", "-"} + options);
  }

 private:
  TempDir folder_;
  const std::string job_ = folder_ / "job";
};

/// The program with a video that is long enough for three decoders.
class PartedRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    encode_clip(*folder_, {"-i", encode_clip(*folder_, kLongInput, kGroupsOf25, "clip.mkv")}, {"-c", "copy"},
                "clip.mp4");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string clip(const std::string& container = "mkv") { return *folder_ / ("clip." + container); }
  static Outcome detect(const std::string& file, const std::string& decoder, const Words& options = {},
                        int threads = 3) {
    return run(Words{"detect", file, "-d", "-", "-v", "--device", "none", "--decoder", decoder, "--threads",
                     std::to_string(threads)} +
               kFindsSome + options);
  }
  /// A copy with damage.
  /// @param place  share of the file in front of it
  static std::string damaged_clip(double place) {
    std::string file = *folder_ / "damaged.mp4";
    std::vector<char> bytes = media::test::load(clip("mp4"));
    const auto at = static_cast<std::size_t>(place * static_cast<double>(bytes.size()));
    for (std::size_t i = 0; i < 4000; ++i) bytes[at + i] = static_cast<char>(i * 37 + i / 256);
    media::test::store(file, bytes);
    return file;
  }
  /// The line with such an end; empty if there is none.
  static std::string line_with(const std::string& text, const std::string& end) {
    const std::size_t at = text.find(end);
    if (at == std::string::npos) return {};
    return text.substr(text.rfind('\n', at) + 1, at + end.size() - text.rfind('\n', at) - 1);
  }
  /// The summary of decode errors.
  static std::string errors_in(const std::string& log) {
    const std::size_t at = log.find(" decode error");
    const std::size_t begin = log.rfind(": ", at);
    return at == std::string::npos ? "" : log.substr(begin, log.find('\n', at) - begin);
  }

  static std::unique_ptr<TempDir> folder_;
};

std::unique_ptr<TempDir> PartedRun::folder_;

TEST_F(PartedRun, WritesWhatSoftwareWrites) {
  struct Case {
    Words options;
    std::vector<std::string> decoders{"fake:"};
  };
  for (const auto& [options, decoders] :
       {Case{{"--track"}, {"fake:prove", "fake:fail@30"}}, Case{{"-f", "csv", "--every", "7"}},
        Case{{"--track", "--start", "3.5", "--duration", "20"}},
        Case{{"--start", "1", "--every", "2", "--in-flight", "6"}}}) {
    SCOPED_TRACE(testing::PrintToString(options));
    const Outcome software = detect(clip(), "software", options);
    EXPECT_GT(software.out.size(), 1'000U);
    EXPECT_THAT(software.err, Not(HasSubstr("side by side")));
    for (const std::string& decoder : decoders) {
      const Outcome parts = detect(clip(), decoder, options);
      EXPECT_THAT(parts.err, HasSubstr(" parts side by side, the first ones by fake")) << decoder;
      EXPECT_THAT(parts.err, Not(HasSubstr("one decoder decodes"))) << decoder;
      EXPECT_EQ(parts.exit_code, software.exit_code) << decoder;
      EXPECT_TRUE(parts.out == software.out) << decoder;
    }
  }
}

TEST_F(PartedRun, CountsDigestsAndComparesAsOneDecoder) {
  store(*folder_ / "areas.toml",
        std::string("zones.all = { polygon = [[-1,-1],[2,-1],[2,2],[-1,2]], inertia = 1 }\n"));
  const Words options{"--track", "--zones", *folder_ / "areas.toml", "--digest"};
  const Outcome one = detect(clip(), "software", options);
  store(*folder_ / "golden.jsonl", one.out);
  const Outcome parts = detect(clip(), "fake:", options + Words{"--expect", *folder_ / "golden.jsonl"});
  EXPECT_THAT(parts.err, HasSubstr(" parts side by side"));
  EXPECT_EQ(parts.exit_code, 0) << parts.err;
  EXPECT_TRUE(parts.out == one.out);
  for (const char* const end : {"inside\n", "clip.mkv\n"}) {  // counts, and the digest of the run
    const std::string line = line_with(one.err, end);
    EXPECT_NE(line, "");
    EXPECT_THAT(parts.err, HasSubstr(line));
  }
}

TEST_F(PartedRun, UsesSoftwareWhereTheCpuHasThreads) {
  for (const Words& options : {Words{"--track"}, Words{"--start", "2", "--every", "3"}}) {
    const Outcome one = detect(clip(), "software", options);
    for (const char* const decoder : {"software", "auto"}) {
      const Outcome parts = detect(clip(), decoder, options, 6);
      EXPECT_THAT(parts.err, HasSubstr("up to 4 decoders decode 8 parts side by side")) << decoder;
      EXPECT_EQ(parts.exit_code, 0);
      EXPECT_TRUE(parts.out == one.out) << decoder;
    }
  }
}

TEST_F(PartedRun, LeavesDamageToOneDecoder) {
  for (const auto& [place, option] :
       {std::pair{0.1, "--track"}, std::pair{0.6, "--keep-going"}, std::pair{0.95, "--track"}}) {
    if (!is_thorough() && place < 0.5) continue;
    SCOPED_TRACE(place);
    const std::string file = damaged_clip(place);
    // Several threads of one decoder conceal damage in another way in each run.
    const Outcome parts = detect(file, "fake:", {option}, 1);
    const Outcome one =
        detect(file, "fake:", {option, "--contact-sheet", *folder_ / "sheet.png", "--overwrite"}, 1);
    EXPECT_THAT(parts.err, HasSubstr("side by side"));
    EXPECT_THAT(parts.err, HasSubstr("one decoder decodes all frames behind frame "));
    EXPECT_THAT(one.err, Not(HasSubstr("side by side")));
    EXPECT_NE(one.exit_code, 0);
    EXPECT_EQ(parts.exit_code, one.exit_code) << parts.err;
    EXPECT_TRUE(parts.out == one.out);
    EXPECT_NE(errors_in(one.err), "");
    EXPECT_EQ(errors_in(parts.err), errors_in(one.err));
  }
}

TEST_F(PartedRun, IsEvaluatedAsWithOneDecoder) {
  // Some frames are marked, among them one that is not there.
  std::string marks = detect(clip(), "software", {"-f", "mot", "--every", "7"}).out;
  marks += "601,-1,10,10,32,64,1,-1,-1,-1\n";
  const std::string truth = *folder_ / "truth.txt";
  media::test::store(truth, marks);
  const auto evaluate = [&](const std::string& file, const std::string& decoder, int threads,
                            const Words& options) {
    const Outcome outcome = run(Words{"evaluate", "frames", file, "--truth", truth, "-v", "--device", "none",
                                      "--decoder", decoder, "--threads", std::to_string(threads)} +
                                kFindsSome + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("'601'"));
    return outcome;
  };
  const auto expect_same = [&](const std::string& decoder, int threads, const Words& options) {
    SCOPED_TRACE(decoder);
    const Outcome one = evaluate(clip(), "software", 3, options);
    EXPECT_THAT(one.err, Not(HasSubstr("side by side")));
    const Outcome parts = evaluate(clip(), decoder, threads, options);
    EXPECT_THAT(parts.err, HasSubstr("parts side by side"));
    EXPECT_THAT(parts.err, Not(HasSubstr("one decoder decodes")));
    EXPECT_EQ(parts.out, one.out);
  };
  expect_same("fake:", 3, {});
  expect_same("software", 6, {"--unlisted-empty"});
  if (!is_thorough()) return;
  const Outcome parts = evaluate(damaged_clip(0.6), "fake:", 1, {});
  EXPECT_THAT(parts.err, HasSubstr("one decoder decodes all frames behind frame "));
  EXPECT_EQ(parts.out, evaluate(damaged_clip(0.6), "fake:", 1, {"--in-flight", "2"}).out);
}

TEST_F(PartedRun, ComputesPartsOfABatchJob) {
  for (const auto& [decoder, threads] :
       {std::pair<std::string, std::string>{"software", "6"}, {"fake:", "3"}}) {
    if (!is_thorough() && decoder == "fake:") continue;
    SCOPED_TRACE(decoder);
    const VideoJob job(clip(), decoder);
    EXPECT_THAT(job.work({"--threads", threads, "--in-flight", "2"}).err, Not(HasSubstr("side by side")));
    // It fails where a part is not equal to the one that is there.
    const Outcome parts = job.work({"--threads", threads, "--verify"});
    EXPECT_THAT(parts.err, HasSubstr("parts side by side"));
    EXPECT_THAT(parts.err, Not(HasSubstr("one decoder decodes")));
    EXPECT_TRUE(job.merge().out == detect(clip(), "software").out);
  }
}

TEST_F(PartedRun, LeavesDamageInABatchJobToOneDecoder) {
  const std::string file = damaged_clip(0.6);
  const VideoJob job(file, "fake:");
  const Outcome parts = job.work({"--threads", "1"});
  EXPECT_THAT(parts.err, HasSubstr("one decoder decodes all frames behind frame "));
  const Outcome one = detect(file, "fake:", {"--keep-going", "--in-flight", "2"}, 1);
  const Outcome merged = job.merge({"--keep-going"});
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_NE(errors_in(one.err), "");
  EXPECT_EQ(errors_in(merged.err), errors_in(one.err));
  EXPECT_TRUE(merged.out == one.out);
}

TEST_F(PartedRun, IsForFilesWithEnoughFramesAndSlots) {
  for (const Words& options : {Words{"--in-flight", "3"}, Words{"--duration", "4"}, Words{"--loop", "1"}})
    EXPECT_THAT(detect(clip(), "fake:", options).err, Not(HasSubstr("side by side")));
}

TEST_F(PartedRun, IsCompleteUpToItsLastFrameWhenItIsStopped) {
  const std::string detections = *folder_ / "found.jsonl";
  Program program({"detect", clip(), "-d", detections, "--device", "none", "--decoder", "fake:", "--min-size",
                   "48", "--scale-step", "1.02", "--exact", "--threads", "1"});
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(detections); }));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_TRUE(outcome.exit_code == 128 + SIGINT || outcome.exit_code == 0) << outcome.err;
  const std::vector<Json> lines = parse_lines(bytes_of(detections));
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].at("frame").get<std::size_t>(), i + 1);
}

TEST_F(PartedRun, EndsWhenNobodyReadsItsResults) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.output_handle = ends[1];
  Program program(Words{"detect", clip(), "-d", "-", "--device", "none", "--decoder", "fake:"} + kFindsSome,
                  setup);
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace sightline::test

#endif
