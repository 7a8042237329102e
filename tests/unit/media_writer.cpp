// Writer: what is written can be read again; what cannot be written is said.
#include "media/writer.hpp"

#include <cstring>
#include <iterator>

#include "media/audio_track.hpp"
#include "media/ffmpeg.hpp"
#include "support/media.hpp"
#include "support/unprivileged.hpp"

namespace sightline::media {
namespace {

using namespace test;

class RoundTrip : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RoundTrip, KeepsFramesSizesTimesAndLuma) {
  const auto [name, encoder] = GetParam();
  TempDir dir;
  WriteOptions options;
  options.encoder = encoder;
  options.quality = 12;
  ASSERT_EQ(make_clip(dir / name, kClip, options), 50);
  const auto source = read_all("lavfi:" + kClip), written = read_all(dir / name);
  ASSERT_EQ(written.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    EXPECT_EQ(written[i].size(), source[i].size());
    EXPECT_NEAR(written[i].time(), source[i].time(), 1e-3);
    EXPECT_LT(mean_difference(written[i], source[i]), 4);
    EXPECT_EQ(written[i].luma_range(), source[i].luma_range());
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, RoundTrip,
                         testing::Values(std::pair{"a.mp4", "libx264"}, std::pair{"a.mkv", "libx264"},
                                         std::pair{"a.mov", "libx264"}, std::pair{"a.avi", "mpeg4"},
                                         std::pair{"a.ts", "libx264"}, std::pair{"a.mkv", "ffv1"}));

TEST(MediaWriter, ContainerChoosesItsEncoder) {
  TempDir dir;
  make_clip(dir / "a.webm", "testsrc=size=64x48:rate=25:duration=0.2");
  EXPECT_EQ(Reader(dir / "a.webm").info().codec.substr(0, 2), "vp");
}

TEST(MediaWriter, FullRangeStaysFullRange) {
  TempDir dir;
  make_clip(dir / "a.jpg", "color=white:size=64x48:rate=1:duration=1");
  Reader jpeg(dir / "a.jpg");
  ASSERT_TRUE(jpeg.info().color.full_range);
  const Frame frame = *jpeg.read();
  Writer writer(dir / "a.mp4", jpeg.info());
  writer.write(frame);
  writer.finish();
  const Frame back = *Reader(dir / "a.mp4").read();
  EXPECT_EQ(back.luma_range(), LumaRange::full);
  EXPECT_NEAR(mean(back.gray()), 255, 2);
}

TEST(MediaWriter, RgbBecomesLimitedRange) {
  TempDir dir;
  make_clip(dir / "a.mp4", "color=white:size=64x48:rate=25:duration=0.2,format=rgb24");
  const Frame back = *Reader(dir / "a.mp4").read();
  EXPECT_EQ(back.luma_range(), LumaRange::limited);
  EXPECT_NEAR(mean(back.gray()), 235, 2);
  for (const std::uint8_t value : to_rgb(back)) ASSERT_NEAR(value, 255, 3);
}

TEST(MediaWriter, OddSizesAreRoundedUpWithoutASeam) {
  TempDir dir;
  for (const Size size : {Size{1, 1}, Size{33, 21}, Size{64, 47}, Size{35, 48}}) {
    {
      Writer writer(dir / "odd.mp4", info_of(size));
      for (int i = 0; i < 3; ++i) writer.write(gray_frame(size, 200, i / 25.0));
      writer.finish();
    }
    const auto frames = read_all(dir / "odd.mp4");
    ASSERT_EQ(frames.size(), 3u);
    const Size even{(size.width + 1) / 2 * 2, (size.height + 1) / 2 * 2};
    ASSERT_EQ(frames[0].size(), even);
    const GrayView gray = frames[0].gray();
    EXPECT_NEAR(gray.at(even.width - 1, even.height - 1), gray.at(0, 0), 3);
  }
}

TEST(MediaWriter, OddSizesOfImagesAreKept) {
  TempDir dir;
  Writer(dir / "odd.png", info_of({33, 21})).write(gray_frame({33, 21}, 200));
  EXPECT_EQ(Reader(dir / "odd.png").info().size, (Size{33, 21}));
}

TEST(MediaWriter, VariableRateIsKept) {
  TempDir dir;
  const std::vector<double> times{3, 3.01, 3.3, 5.9, 5.93, 10};
  for (const char* name : {"a.mp4", "a.mov", "a.mkv", "a.ts"}) {
    {
      Writer writer(dir / name, info_of({64, 48}));
      for (const double time : times) writer.write(gray_frame({64, 48}, 100, time));
      writer.finish();
    }
    const auto frames = read_all(dir / name);
    ASSERT_EQ(frames.size(), times.size()) << name;
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_NEAR(frames[i].time(), times[i] - 3, 1.1e-3) << name;
  }
}

TEST(MediaWriter, TimesThatDoNotRiseAreMadeTo) {
  TempDir dir;
  {
    Writer writer(dir / "a.mp4", info_of({64, 48}));
    for (int i = 0; i < 5; ++i) writer.write(gray_frame({64, 48}, 100, 1));
    writer.finish();
  }
  EXPECT_EQ(read_all(dir / "a.mp4").size(), 5u);
}

TEST(MediaWriter, DestructorLeavesAPlayableFile) {
  TempDir dir;
  for (const char* name : {"a.mp4", "a.mkv"}) {
    {
      Reader reader("lavfi:" + kClip);
      Writer writer(dir / name, reader.info());
      for (int i = 0; i < 20; ++i) writer.write(*reader.read());
    }
    EXPECT_EQ(read_all(dir / name).size(), 20u) << name;
  }
}

// It is written in fragments, so that it can be played if the process is killed; whole, it is as players like
// it.
TEST(MediaWriter, AWholeFileHasOneIndex) {
  for (const char* name : {"a.mp4", "a.mov"}) {
    SCOPED_TRACE(name);
    const TempDir dir;
    const auto has = [&](const std::string& file, std::string_view box) {
      const std::vector<char> bytes = load(dir / file);
      return std::string_view(bytes.data(), bytes.size()).find(box) != std::string_view::npos;
    };
    Writer writer(dir / name, info_of({64, 48}));
    for (int i = 0; i < 300; ++i) writer.write(gray_frame({64, 48}, static_cast<std::uint8_t>(i), i / 25.0));
    EXPECT_TRUE(has(sightline::test::unfinished(dir / name).filename(), "moof"));
    writer.finish();
    EXPECT_TRUE(has(name, "moov"));
    EXPECT_FALSE(has(name, "moof"));
    const std::vector<Frame> frames = read_all(dir / name);
    ASSERT_EQ(frames.size(), 300u);
    for (std::size_t i = 0; i < frames.size(); ++i)
      EXPECT_NEAR(frames[i].time(), static_cast<double>(i) / 25, 1e-6);
    EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
  }
}

// Somebody else may write to the folder, and plant links to files of the user's.
TEST(MediaWriter, LinksAtNamesThatCanBeGuessedAreNotFollowed) {
  const TempDir dir;
  store(dir / "precious", std::string("precious"));
  for (const char* name :
       {"a.mp4.part", "a.mp4.part2", "b1.png.tmp", "b2.png.tmp", "b1.png.part", "c.png.tmp"})
    fs::create_symlink("precious", dir / name);
  for (const char* name : {"a.mp4", "b%d.png", "c.png"}) {
    Writer writer(dir / name, info_of({64, 48}));
    for (int i = 0; i < (name[0] == 'c' ? 1 : 2); ++i) writer.write(gray_frame({64, 48}, 100, i / 25.0));
    writer.finish();
  }
  EXPECT_EQ(load(dir / "precious").size(), 8u);
  for (const char* name : {"a.mp4", "b1.png", "b2.png", "c.png"})
    EXPECT_FALSE(read_all(dir / name).empty()) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 11) << "nothing else is left";
}

void write_frames(const std::string& file, int count, double seconds, const WriteOptions& options = {}) {
  Writer writer(file, info_of({64, 48}), options);
  for (int i = 0; i < count; ++i)
    writer.write(gray_frame({64, 48}, static_cast<std::uint8_t>(5 * i), i * seconds));
  writer.finish();
}

TEST(MediaWriter, NamesWithColonsAreFiles) {
  const TempDir dir;
  for (const char* name :
       {"2026-11-25T12:30:00.mp4", "cam:1.mkv", "http:a.mov", "a:b.png", "pipe:1.jpg", ":.ts"}) {
    for (const bool live : {false, true}) {
      const std::string file = dir / name;
      WriteOptions options;
      options.live = live;
      write_frames(file, 1, 1, options);
      ASSERT_TRUE(fs::exists(file)) << name;
      EXPECT_EQ(read_all(file).size(), 1u) << name;
      fs::remove(file);
    }
  }
  write_frames("file://" + dir / "a.mkv", 1, 1);
  EXPECT_TRUE(fs::exists(dir / "a.mkv"));
}

TEST(MediaWriter, SetsOfFilesAreRefused) {
  const TempDir dir;
  for (const char* name : {"a.m3u8", "a.mpd"}) {
    test::expect_error(ExitCode::usage, [&] { write_frames(dir / name, 5, 0.04); });
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

// The encoder's first packet comes many frames, and so many seconds, after the first frame.
TEST(MediaWriter, ATimeLapseBeginsWithItsFirstFrame) {
  const TempDir dir;
  for (const char* name : {"a.mp4", "a.mov", "a.mkv"}) {
    for (const double seconds : {2.0, 20.0, 60.0}) {
      write_frames(dir / name, 40, seconds);
      const std::vector<Frame> frames = read_all(dir / name);
      ASSERT_EQ(frames.size(), 40u) << name;
      for (std::size_t i = 0; i < frames.size(); ++i)
        ASSERT_NEAR(frames[i].time(), static_cast<double>(i) * seconds, 1e-3) << name << ' ' << seconds;
      fs::remove(dir / name);
    }
  }
}

TEST(MediaWriter, WhatIsNotPermittedSaysSo) {
  const TempDir dir;
  fs::permissions(dir.path(), fs::perms(0755));
  fs::create_directory(dir / "closed");
  fs::permissions(dir / "closed", fs::perms(0555));
  const sightline::test::Unprivileged user;
  for (const char* name : {"a.mp4", "a.mkv", "a.png", "%d.jpg"})
    expect_error(ExitCode::failed, [&] { write_frames(dir / "closed/" + name, 1, 1); });
}

// The head of the file says where each stream begins, and so waits for it; not for ever.
TEST(MediaWriter, SoundThatNeverComesKeepsNothingInMemory) {
  const TempDir dir;
  make_clip(dir / "a.mkv", kClip + "[out0];sine=duration=2[out1]", {}, true);
  ReadOptions read;
  read.keep_audio = true;
  Reader silent(dir / "a.mkv", read);
  WriteOptions options;
  options.audio = silent.audio();
  const std::string sound = dir / "a.mov";  // takes the sound as it is
  Writer writer(sound, info_of({64, 48}), options);
  const auto frame = [&](int i) { writer.write(gray_frame({64, 48}, 100, i / 25.0)); };
  for (int i = 0; i < 250; ++i) frame(i);
  EXPECT_EQ(fs::file_size(sightline::test::unfinished(sound)), 0u) << "it waits";
  for (int i = 250; i < 500; ++i) frame(i);
  EXPECT_GT(fs::file_size(sightline::test::unfinished(sound)), 0u);
  writer.finish();
  EXPECT_EQ(read_all(sound).size(), 500u);
}

/// Adds silence to a clip, as broadcasts have it: AAC with a head in each packet and none for all.
void add_broadcast_sound(const std::string& clip, const std::string& to) {
  AVFormatContext* raw = nullptr;
  ASSERT_GE(avformat_open_input(&raw, clip.c_str(), nullptr, nullptr), 0);
  const InputContextPtr input(raw);
  const CodecContextPtr encoder(avcodec_alloc_context3(avcodec_find_encoder(AV_CODEC_ID_AAC)));
  encoder->sample_rate = 44100;
  encoder->sample_fmt = AV_SAMPLE_FMT_FLTP;
  encoder->ch_layout = AV_CHANNEL_LAYOUT_MONO;
  encoder->time_base = {1, 44100};
  ASSERT_GE(avcodec_open2(encoder.get(), nullptr, nullptr), 0);
  ASSERT_GE(avformat_alloc_output_context2(&raw, nullptr, "mpegts", to.c_str()), 0);
  const std::unique_ptr<AVFormatContext, FreeByPointer<avformat_free_context>> output(raw);
  ASSERT_GE(avcodec_parameters_copy(avformat_new_stream(raw, nullptr)->codecpar, input->streams[0]->codecpar),
            0);
  ASSERT_GE(avcodec_parameters_from_context(avformat_new_stream(raw, nullptr)->codecpar, encoder.get()), 0);
  ASSERT_GE(avio_open(&output->pb, to.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(output.get(), nullptr), 0);
  const PacketPtr packet = make_av_packet();
  const auto write = [&](int stream, AVRational base) {
    packet->stream_index = stream;
    av_packet_rescale_ts(packet.get(), base, output->streams[stream]->time_base);
    ASSERT_GE(av_interleaved_write_frame(output.get(), packet.get()), 0);
  };
  while (av_read_frame(input.get(), packet.get()) >= 0) write(0, input->streams[0]->time_base);
  const FramePtr silence = make_av_frame();
  silence->format = encoder->sample_fmt;
  silence->ch_layout = encoder->ch_layout;
  silence->nb_samples = encoder->frame_size;
  ASSERT_GE(av_frame_get_buffer(silence.get(), 0), 0);
  std::memset(silence->data[0], 0, static_cast<std::size_t>(silence->nb_samples) * sizeof(float));
  for (silence->pts = 0; silence->pts < 2 * 44100; silence->pts += silence->nb_samples) {
    ASSERT_GE(avcodec_send_frame(encoder.get(), silence.get()), 0);
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) write(1, encoder->time_base);
  }
  ASSERT_GE(av_write_trailer(output.get()), 0);
  avio_closep(&output->pb);
}

TEST(MediaWriter, SoundOfABroadcastIsCopied) {
  const TempDir dir;
  make_clip(dir / "a.ts", kClip);
  ASSERT_NO_FATAL_FAILURE(add_broadcast_sound(dir / "a.ts", dir / "b.ts"));
  ReadOptions read;
  read.keep_audio = true;
  for (const char* name : {"c.mp4", "c.mov", "c.mkv"}) {
    SCOPED_TRACE(name);
    Reader reader(dir / "b.ts", read);
    WriteOptions options;
    options.audio = reader.audio();
    Writer writer(dir / name, reader.info(), options);
    while (auto frame = reader.read()) writer.write(*frame);
    writer.finish();
    EXPECT_GT(writer.audio_packets(), 80);
    const Reader again(dir / name);
    EXPECT_TRUE(again.info().has_audio);
    EXPECT_NEAR(again.info().duration.value_or(0), 2, 0.2);
    EXPECT_EQ(read_all(dir / name).size(), 50u);
  }
}

TEST(MediaWriter, MovedOntoFinishesTheOldFile) {
  TempDir dir;
  Writer writer(dir / "a.mp4", info_of({64, 48}));
  writer.write(gray_frame({64, 48}, 100));
  writer = Writer(dir / "b.mp4", info_of({64, 48}));
  EXPECT_EQ(read_all(dir / "a.mp4").size(), 1u);
  writer.write(gray_frame({64, 48}, 100));
  writer.finish();
  writer.finish();
  expect_error(ExitCode::failed, "closed", [&] { writer.write(gray_frame({64, 48}, 100)); });
  EXPECT_EQ(read_all(dir / "b.mp4").size(), 1u);
}

TEST(MediaWriter, SoundIsCopied) {
  TempDir dir;
  const std::string graph =
      "testsrc=size=64x48:rate=25:duration=2,format=yuv420p[out0];sine=frequency=440:duration=2[out1]";
  make_clip(dir / "a.mkv", graph, {}, true);
  ReadOptions options;
  options.keep_audio = true;
  Reader reader(dir / "a.mkv", options);
  ASSERT_TRUE(reader.info().has_audio);
  ASSERT_TRUE(reader.audio());
  WriteOptions write;
  write.audio = reader.audio();
  Writer writer(dir / "b.mkv", reader.info(), write);
  while (auto frame = reader.read()) writer.write(*frame);
  writer.finish();
  EXPECT_GT(reader.audio()->pushed(), 10);
  EXPECT_EQ(reader.audio()->dropped(), 0);
  EXPECT_EQ(writer.audio_packets(), reader.audio()->pushed());

  Reader again(dir / "b.mkv", options);
  EXPECT_EQ(read_all(again).size(), 50u);
  EXPECT_EQ(again.audio()->pushed(), reader.audio()->pushed());
}

TEST(MediaWriter, SoundOfAPartStartsWithThePart) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc=size=64x48:rate=25:duration=4,format=yuv420p[out0];sine=duration=4[out1]",
            {}, true);
  ReadOptions options;
  options.keep_audio = true;
  const auto sound_of = [&](const std::string& path) {
    Reader reader(path, options);
    while (reader.read()) {
    }
    return reader.audio()->pushed();
  };
  const std::int64_t all = sound_of(dir / "a.mkv");
  options.start = 1;
  options.duration = 2;
  EXPECT_NEAR(static_cast<double>(sound_of(dir / "a.mkv")), static_cast<double>(all) / 2, 2);
  options.loop = 1;
  Reader reader(dir / "a.mkv", options);
  WriteOptions write;
  write.audio = reader.audio();
  Writer writer(dir / "b.mkv", reader.info(), write);
  while (auto frame = reader.read()) writer.write(*frame);
  writer.finish();
  EXPECT_NEAR(static_cast<double>(writer.audio_packets()), static_cast<double>(all), 3);
  const Reader again(dir / "b.mkv");
  ASSERT_TRUE(again.info().duration);
  EXPECT_NEAR(*again.info().duration, 4, 0.15);
}

TEST(MediaWriter, SoundThatTheContainerCannotHoldIsLeftOut) {
  TempDir dir;
  make_clip(dir / "a.webm", "testsrc=size=64x48:duration=1,format=yuv420p[out0];sine=duration=1[out1]", {},
            true);
  EXPECT_FALSE(Reader(dir / "a.webm").info().has_audio);
  EXPECT_EQ(read_all(dir / "a.webm").size(), 25u);
}

TEST(MediaWriter, SoundThatNobodyTakesIsBounded) {
  ReadOptions options;
  options.keep_audio = true;
  options.loop = 30;
  Reader reader("lavfi:color=size=16x16:rate=2:duration=20[out0];sine=duration=20[out1]", options);
  while (reader.read()) {
  }
  EXPECT_GT(reader.audio()->pushed(), static_cast<std::int64_t>(AudioTrack::kMaxPackets));
  EXPECT_GE(reader.audio()->dropped(),
            reader.audio()->pushed() - static_cast<std::int64_t>(AudioTrack::kMaxPackets));
}

TEST(MediaWriter, Unwritable) {
  TempDir dir;
  expect_error(ExitCode::failed, "/none/a.mp4", [&] { Writer(dir / "none/a.mp4", info_of({64, 48})); });
  expect_error(ExitCode::failed, "/none/", [&] { Writer(dir / "none/%d.png", info_of({64, 48})); });
  expect_error(ExitCode::usage, "type", [&] { Writer(dir / "a.unheardof", info_of({64, 48})); });
  expect_error(ExitCode::usage, "nosuchencoder", [&] {
    WriteOptions options;
    options.encoder = "nosuchencoder";
    Writer(dir / "a.mp4", info_of({64, 48}), options);
  });
  expect_error(ExitCode::usage, "preset", [&] {
    WriteOptions options;
    options.preset = "lightning";
    Writer(dir / "a.mp4", info_of({64, 48}), options);
  });
  expect_error(ExitCode::usage, [&] {
    WriteOptions options;
    options.encoder = "mpeg4";
    Writer(dir / "a.webm", info_of({64, 48}), options);
  });
  EXPECT_TRUE(fs::is_empty(dir.path()));  // nothing is left of what failed
}

TEST(MediaWriter, DoesNotWriteOverItsInput) {
  TempDir dir;
  make_clip(dir / "a.mp4", kClip);
  fs::create_hard_link(dir / "a.mp4", dir / "b.mp4");
  fs::create_symlink(dir / "a.mp4", dir / "c.mp4");
  const auto before = load(dir / "a.mp4");
  WriteOptions options;
  options.input = dir / "a.mp4";
  for (const char* name : {"a.mp4", "b.mp4", "c.mp4"})
    expect_error(ExitCode::usage, [&] { Writer(dir / name, info_of({64, 48}), options); });
  EXPECT_EQ(load(dir / "a.mp4"), before);
  EXPECT_FALSE(is_same_file(dir / "a.mp4", dir / "none.mp4"));
}

TEST(MediaWriter, FullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  TempDir dir;
  for (const char* name : {"a.mkv", "a.mp4"}) {
    fs::create_symlink("/dev/full", dir / name);
    expect_error(ExitCode::failed, [&] {
      Reader reader("lavfi:testsrc2=size=320x240:duration=4");
      Writer writer(dir / name, reader.info());
      while (auto frame = reader.read()) writer.write(*frame);
      writer.finish();
    });
    // And nothing escapes the destructor.
    EXPECT_NO_THROW({
      try {
        Writer writer(dir / name, info_of({64, 48}));
        writer.write(gray_frame({64, 48}, 100));
      } catch (const Error&) {  // the header may be what does not fit
      }
    });
  }
}

TEST(MediaWriter, BoxesAreInTheFile) {
  TempDir dir;
  const std::vector<std::string> labels{"person"};
  const std::vector<Detection> objects{{{20, 40, 60, 40}, 1.5, 0}};
  {
    Writer writer(dir / "a.mkv", info_of({128, 96}));
    writer.write(gray_frame({128, 96}, 40), objects, labels);
    writer.write(gray_frame({128, 96}, 40, 0.04));
    writer.finish();
  }
  const auto frames = read_all(dir / "a.mkv");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_GT(mean(frames[0].gray()), mean(frames[1].gray()) + 5);
  EXPECT_NEAR(frames[0].gray().at(50, 60), frames[1].gray().at(50, 60), 12);  // the inside stays
}

}  // namespace
}  // namespace sightline::media
