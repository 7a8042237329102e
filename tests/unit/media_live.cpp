// Live inputs: screens, the network, silence, and the times of frames. Cameras are in media_cameras.cpp.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "media/ffmpeg.hpp"
#include "media/live_packets.hpp"
#include "support/media.hpp"
#include "support/variable.hpp"
#include "support/xvfb.hpp"
#include "unit/media_live_support.hpp"

namespace sightline::media {
namespace {

using namespace test;
using sightline::test::ChildProcess;
using sightline::test::find_program;
using sightline::test::Xvfb;

/// A listening socket of the loopback. Connections are taken by the kernel; nobody needs to answer.
class Listener {
 public:
  Listener() : handle_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(handle_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(handle_, 4) != 0 ||
        getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no socket");
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(handle_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int port() const { return port_; }
  std::string url(const std::string& scheme) const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + (scheme == "tcp" ? "" : "/live");
  }
  int accept_one() const { return accept4(handle_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  int handle_;
  int port_ = 0;
};

/// Serves one client in a thread; `serve` gets the connection.
class Server {
 public:
  explicit Server(std::function<void(int)> serve)
      : thread_([this, serve = std::move(serve)] {
          const int connection = listener_.accept_one();
          if (connection < 0) return;
          serve(connection);
          close(connection);
        }) {}
  ~Server() { thread_.join(); }
  std::string url() const { return listener_.url("tcp"); }

 private:
  Listener listener_;
  std::thread thread_;
};

bool send_all(int connection, const std::vector<char>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = send(connection, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

/// Opens what a server that has only just been started will serve.
Reader open_when_ready(const std::string& url, const ReadOptions& options, ChildProcess& server) {
  for (const double until = now() + 20;;) {
    try {
      return Reader(url, options);
    } catch (const Error& error) {
      if (now() > until || !server.is_running())
        throw std::runtime_error(error.what() + std::string(" / ") + server.output());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

void expect_live_times(const std::vector<Frame>& frames, double seconds_old) {
  std::int64_t before = 0;
  for (const Frame& frame : frames) {
    const FrameTimes& times = frame.times();
    EXPECT_GT(times.captured, before);
    EXPECT_GE(times.decoded, times.captured);
    EXPECT_LT(static_cast<double>(times.decoded - times.captured) * 1e-9, seconds_old);
    EXPECT_LT(now() - static_cast<double>(times.decoded) * 1e-9, 20);
    EXPECT_GE(now(), static_cast<double>(times.decoded) * 1e-9);
    before = times.captured;
  }
}

TEST(MediaLive, KindsOfInput) {
  TempDir dir;
  fs::create_directory(dir / "http:");
  for (const char* input :
       {"/dev/video0", "/dev/video987", "screen:", "screen::99", "rtsp://camera/1",
        "http://127.0.0.1:80/a.mjpg", "https://host/a", "udp://@:1234", "tcp://host:1", "srt://h:1"})
    EXPECT_TRUE(is_live(input)) << input;
  for (const std::string& input : {std::string("-"), std::string("lavfi:testsrc"), std::string("a.mp4"),
                                   std::string("img%03d.png"), dir.path(), std::string("file:///tmp/a.mp4"),
                                   std::string(""), std::string("://x"), std::string("/dev/null")})
    EXPECT_FALSE(is_live(input)) << input;
}

TEST(MediaLive, OnlyDevicesAreAsked) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc=size=64x48:rate=25:duration=0.2,format=yuv420p");
  make_clip(dir / "images/", "testsrc=size=64x48:rate=25:duration=0.2");
  const auto refuse = [](const std::string& input, auto change) {
    ReadOptions options;
    change(options.capture);
    expect_error(ExitCode::usage, [&] { Reader(input, options); });
  };
  const auto size = [](CaptureOptions& o) { o.size = {640, 480}; };
  const auto rate = [](CaptureOptions& o) { o.frame_rate = 30; };
  const auto format = [](CaptureOptions& o) { o.pixel_format = "mjpeg"; };
  for (const std::string& input :
       {dir / "a.mkv", dir / "images", dir / "images/%06d.png", std::string("lavfi:testsrc"),
        std::string("-"), std::string("http://127.0.0.1:1/")}) {
    refuse(input, size);
    refuse(input, rate);
    refuse(input, format);
  }
  refuse("screen:", format);
  refuse("screen:", [](CaptureOptions& o) { o.size = {640, 0}; });
  refuse("screen:", [](CaptureOptions& o) { o.frame_rate = -1; });
  ReadOptions impatient;
  impatient.patience = -1;
  expect_error(ExitCode::usage, "0 s", [&] { Reader("lavfi:testsrc", impatient); });
}

TEST(MediaLive, CameraThatIsNotThere) {
  expect_error(ExitCode::input, [] { Reader("/dev/video987"); });
}

class MediaScreen : public testing::Test {
 protected:
  void SetUp() override {
    if (!Xvfb::is_installed()) GTEST_SKIP() << "Xvfb is not installed";
  }
};

TEST_F(MediaScreen, Whole) {
  Xvfb x("320x200x24");
  Reader reader("screen:" + x.display(), live(5));
  EXPECT_EQ(reader.info().size, (Size{320, 200}));
  std::vector<Frame> frames;
  std::int64_t closest = INT64_MAX;  // of the times to those that the grabber wrote down
  for (int i = 0; i < 10; ++i) {
    std::optional<Frame> frame = reader.read();
    ASSERT_TRUE(frame);
    const std::int64_t told = captured_at(picture_of(*frame)->pts, Moment::now()).value_or(0);
    closest = std::min(closest, std::abs(frame->times().captured - told));
    frames.push_back(std::move(*frame));
  }
  EXPECT_LT(closest, 50'000);
  EXPECT_GT(mean(to_gray(frames[9]).view()), 240);  // the server's white
  expect_live_times(frames, 1);
  // Ten frames of 29.97 a second: the times are those of the capture, not of our reading.
  const double span = static_cast<double>(frames[9].times().captured - frames[0].times().captured) * 1e-9;
  EXPECT_GT(span, 0.2);
}

TEST_F(MediaScreen, OfTheEnvironment) {
  Xvfb x("320x200x24");
  sightline::test::Variable display("DISPLAY", x.display());
  EXPECT_EQ(Reader("screen:", live(5)).info().size, (Size{320, 200}));
  display.set({});
  expect_error(ExitCode::input, "DISPLAY", [] { Reader("screen:"); });
}

TEST_F(MediaScreen, PartAtARate) {
  Xvfb x("320x200x24");
  ReadOptions options = live(5);
  options.capture.size = {100, 50};
  options.capture.frame_rate = 50;
  Reader reader("screen:" + x.display() + ".0+30,20", options);
  EXPECT_EQ(reader.info().size, (Size{100, 50}));
  EXPECT_EQ(reader.info().frame_rate.value(), 50);
  EXPECT_EQ(read_some(reader, 5).size(), 5u);
  options.capture.size = {400, 50};
  expect_error(ExitCode::input, "--size", [&] { Reader("screen:" + x.display(), options); });
}

TEST_F(MediaScreen, NoServer) {
  expect_error(ExitCode::input, [] { Reader("screen::6543", live(2)); });
}

TEST_F(MediaScreen, ServerThatGoes) {
  Xvfb x("320x200x24");
  Reader reader("screen:" + x.display(), live(1));
  EXPECT_EQ(read_some(reader, 3).size(), 3u);
  x.server().kill();
  const double start = now();
  try {
    EXPECT_LT(read_some(reader, 1000).size(), 100u);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.what();
  }
  EXPECT_LT(now() - start, 10);
}

TEST(MediaLive, HttpStreamAndItsEnd) {
  if (find_program("ffmpeg").empty()) GTEST_SKIP() << "the program ffmpeg is not installed";
  const std::string url = Listener().url("http");
  ChildProcess server({"ffmpeg",   "-nostdin",    "-v",
                       "error",    "-re",         "-f",
                       "lavfi",    "-i",          "testsrc2=size=320x240:rate=25",
                       "-pix_fmt", "yuv420p",     "-c:v",
                       "libx264",  "-preset",     "ultrafast",
                       "-tune",    "zerolatency", "-g",
                       "25",       "-f",          "mpegts",
                       "-listen",  "1",           url});
  ReadOptions options = live(10);
  Reader reader = open_when_ready(url, options, server);
  EXPECT_EQ(reader.info().size, (Size{320, 240}));
  const std::vector<Frame> frames = read_some(reader, 30);
  EXPECT_EQ(frames.size(), 30u);
  EXPECT_EQ(reader.decode_errors(), 0);
  expect_live_times(frames, 5);
  server.kill();
  const double start = now();
  while (reader.read()) {
  }
  EXPECT_LT(now() - start, 5);
}

// FLV may hold streams that begin late, and FFmpeg would look for them for five seconds.
TEST(MediaLive, AnalysisIsShort) {
  TempDir dir;
  make_clip(dir / "a.flv", "testsrc=size=64x48:rate=25:duration=20,format=yuv420p");
  const std::vector<char> clip = load(dir / "a.flv");
  std::atomic<bool> over{false};
  Server server([&](int connection) {  // in about 16 s
    const std::size_t part = clip.size() / 320;
    for (std::size_t at = 0; at < clip.size() && !over; at += part) {
      const auto from = clip.begin() + static_cast<std::ptrdiff_t>(at);
      const auto left = static_cast<std::ptrdiff_t>(std::min(part, clip.size() - at));
      if (!send_all(connection, {from, from + left})) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const double start = now();
  Reader reader(server.url(), live(5));
  const double took = now() - start;
  over = true;
  EXPECT_LT(took, 3);
}

TEST(MediaLive, SilentServer) {
  const Listener listener;
  for (const char* scheme : {"tcp", "http", "rtsp"}) {
    const double start = now();
    expect_error(ExitCode::input, "0.3 s", [&] { Reader(listener.url(scheme), live(0.3)); });
    EXPECT_GE(now() - start, 0.3) << scheme;
    EXPECT_LT(now() - start, 3) << scheme;
  }
}

TEST(MediaLive, SilentServerAndStop) {
  const Listener listener;
  std::atomic<bool> stop{false};
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  ReadOptions options = live(0);
  options.stop = &stop;
  const double start = now();
  expect_error(ExitCode::failed, "stopped", [&] { Reader(listener.url("http"), options); });
  EXPECT_LT(now() - start, 3);
  stopper.join();
}

TEST(MediaLive, StreamThatFallsSilent) {
  TempDir dir;
  make_clip(dir / "a.ts", "testsrc=size=64x48:rate=25:duration=2,format=yuv420p");
  const std::vector<char> clip = load(dir / "a.ts");
  std::atomic<bool> over{false};
  Server server([&](int connection) {
    send_all(connection, clip);
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  Reader reader(server.url(), live(0.4));
  EXPECT_GT(read_some(reader, 20).size(), 10u);
  const double start = now();
  expect_error(ExitCode::input, "0.4 s", [&] { read_some(reader, 1000); });
  EXPECT_LT(now() - start, 3);
  over = true;
}

// Null packets of MPEG-TS: FFmpeg reads them and returns nothing.
TEST(MediaLive, OtherDataIsNoSilence) {
  TempDir dir;
  make_clip(dir / "a.ts", "testsrc=size=64x48:rate=25:duration=2,format=yuv420p");
  const std::vector<char> clip = load(dir / "a.ts");
  Server server([&](int connection) {
    send_all(connection, clip);
    std::vector<char> padding(188 * 7, '\xff');
    for (std::size_t at = 0; at < padding.size(); at += 188) {
      padding[at] = 0x47;
      padding[at + 1] = 0x1f;
      padding[at + 3] = 0x10;
    }
    for (int i = 0; i < 30 && send_all(connection, padding); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  Reader reader(server.url(), live(0.5));
  EXPECT_EQ(read_some(reader, 1000).size(), 50u);  // 1.5 s without a picture are among them
}

TEST(MediaLive, JoinsInTheMiddle) {
  TempDir dir;
  make_clip(dir / "a.ts",
            "testsrc2=size=64x48:rate=25:duration=22,format=yuv420p");  // keys at 0, 10 and 20 s
  std::vector<char> clip = load(dir / "a.ts");
  // From somewhere in the first group of pictures, 100 and more before the next key frame.
  clip.erase(clip.begin(), clip.begin() + static_cast<std::ptrdiff_t>(clip.size() / 188 / 12 * 188));
  Server server([&](int connection) { send_all(connection, clip); });
  Reader reader(server.url(), live(5));
  EXPECT_GT(read_some(reader, 1000).size(), 250u);
  EXPECT_EQ(reader.decode_errors(), 0);
}

TEST(MediaLive, SilentStandardInput) {
  TempDir dir;
  make_clip(dir / "a.ts", "testsrc=size=64x48:rate=25:duration=2,format=yuv420p");
  const std::vector<char> clip = load(dir / "a.ts");
  for (const bool begins : {false, true}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    if (begins) {
      ASSERT_EQ(write(ends[1], clip.data(), clip.size()), static_cast<ssize_t>(clip.size()));
    }
    const int old = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    const double start = now();
    expect_error(ExitCode::input, "0.3 s", [] {
      Reader reader("-", live(0.3));
      while (reader.read()) {
      }
    });
    EXPECT_LT(now() - start, 3);
    dup2(old, STDIN_FILENO);
    for (const int handle : {old, ends[0], ends[1]}) close(handle);
  }
}

TEST(MediaLive, FilesHaveTimesToo) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc2=size=64x48:rate=25:duration=1,format=yuv420p");
  for (const Frame& frame : read_all(dir / "a.mkv", live(0))) {
    EXPECT_GT(frame.times().captured, 0);
    EXPECT_GE(frame.times().decoded, frame.times().captured);
  }
  for (const Frame& frame : read_all(dir / "a.mkv")) EXPECT_EQ(frame.times().decoded, 0);
}

TEST(MediaLive, ClocksOfDevices) {
  constexpr std::int64_t second = 1'000'000;
  const Moment moment{5000 * second * 1000, 1'700'000'000 * second};
  // By the clock since the start of the machine, and by the one on the wall.
  EXPECT_EQ(captured_at(5000 * second - 20'000, moment), 5000 * second * 1000 - 20'000'000);
  EXPECT_EQ(captured_at(1'700'000'000 * second - 20'000, moment), 5000 * second * 1000 - 20'000'000);
  EXPECT_EQ(captured_at(5000 * second, moment), moment.steady);
  EXPECT_FALSE(captured_at(5000 * second + 1, moment));  // from the future
  EXPECT_FALSE(captured_at(4990 * second, moment));      // too old
  EXPECT_FALSE(captured_at(0, moment));
  EXPECT_FALSE(captured_at(INT64_MIN + 1, moment));
  const Moment here = Moment::now();
  EXPECT_NEAR(static_cast<double>(here.steady) * 1e-9, now(), 1);
}

// B frames come out of the decoder in another order than their packets go in.
TEST(MediaLive, ArrivalsFollowTheirPictures) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc2=size=64x48:rate=25:duration=2,format=yuv420p");
  AVFormatContext* raw = nullptr;
  ASSERT_EQ(avformat_open_input(&raw, (dir / "a.mkv").c_str(), nullptr, nullptr), 0);
  const InputContextPtr input(raw);
  ASSERT_GE(avformat_find_stream_info(raw, nullptr), 0);
  const AVCodec* const codec = avcodec_find_decoder(raw->streams[0]->codecpar->codec_id);
  const CodecContextPtr decoder(avcodec_alloc_context3(codec));
  ASSERT_GE(avcodec_parameters_to_context(decoder.get(), raw->streams[0]->codecpar), 0);
  enable_arrivals(*decoder);
  ASSERT_EQ(avcodec_open2(decoder.get(), codec, nullptr), 0);
  std::vector<std::int64_t> shown;  // by their packets' numbers
  std::vector<std::int64_t> times{0};
  const auto receive = [&] {
    for (const FramePtr frame = make_av_frame(); avcodec_receive_frame(decoder.get(), frame.get()) == 0;) {
      shown.push_back(arrival_of(*frame));
      EXPECT_EQ(times.at(static_cast<std::size_t>(arrival_of(*frame))), frame->pts);
    }
  };
  for (const PacketPtr packet = make_av_packet(); av_read_frame(raw, packet.get()) == 0;
       av_packet_unref(packet.get())) {
    set_arrival(*packet, *decoder, static_cast<std::int64_t>(times.size()));
    times.push_back(packet->pts);
    ASSERT_EQ(avcodec_send_packet(decoder.get(), packet.get()), 0);
    receive();
  }
  avcodec_send_packet(decoder.get(), nullptr);
  receive();
  EXPECT_EQ(shown.size(), 50u);
  EXPECT_FALSE(std::is_sorted(shown.begin(), shown.end())) << "the clip has no B frames";
}

// As V4L2 delivers damaged pictures: with a buffer of no bytes, or none.
TEST(MediaLive, EmptyPacketsAreDamageAndNoEnd) {
  TempDir dir;
  make_clip(dir / "a.jpg", "testsrc=size=64x48:rate=1:duration=1");
  const std::vector<char> picture = load(dir / "a.jpg");
  const AVCodec* const codec = avcodec_find_decoder(AV_CODEC_ID_MJPEG);
  const CodecContextPtr decoder(avcodec_alloc_context3(codec));
  ASSERT_EQ(avcodec_open2(decoder.get(), codec, nullptr), 0);
  const PacketPtr good = make_av_packet(), none = make_av_packet(), hollow = make_av_packet();
  const FramePtr frame = make_av_frame();
  ASSERT_EQ(av_new_packet(good.get(), static_cast<int>(picture.size())), 0);
  std::copy(picture.begin(), picture.end(), good->data);
  ASSERT_EQ(av_new_packet(hollow.get(), 0), 0);
  for (const PacketPtr* empty : {&none, &hollow}) {
    EXPECT_EQ(send_data(*decoder, **empty), AVERROR_INVALIDDATA);
    EXPECT_EQ(send_data(*decoder, *good), 0);
    EXPECT_EQ(avcodec_receive_frame(decoder.get(), frame.get()), 0);
  }
}

TEST(MediaLive, BorrowedPacketsAreGivenBack) {
  std::vector<std::uint8_t> lent{1, 2, 3, 4, 5};
  bool returned = false;
  const PacketPtr packet = make_av_packet();
  packet->buf = av_buffer_create(
      lent.data(), lent.size(), [](void* flag, std::uint8_t*) { *static_cast<bool*>(flag) = true; },
      &returned, 0);
  packet->data = lent.data();
  packet->size = 5;
  auto copier = std::make_unique<PacketCopier>();
  copier->own(*packet);
  EXPECT_TRUE(returned);
  ASSERT_EQ(packet->size, 5);
  lent.assign(5, 99);
  copier.reset();  // as when the camera is closed with its frames still shown
  EXPECT_EQ(std::vector<std::uint8_t>(packet->data, packet->data + 5),
            (std::vector<std::uint8_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(std::all_of(packet->data + 5, packet->data + 5 + AV_INPUT_BUFFER_PADDING_SIZE,
                          [](std::uint8_t byte) { return byte == 0; }));
}

TEST(MediaLive, PixelFormatChangesMidStream) {
  if (find_program("ffmpeg").empty()) GTEST_SKIP() << "the program ffmpeg is not installed";
  TempDir dir;
  std::vector<char> both;
  for (const char* format : {"yuvj420p", "yuvj444p"}) {
    const std::string part = dir / (std::string(format) + ".mjpeg");
    ChildProcess maker({"ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                        "testsrc=size=64x48:rate=25:duration=0.2", "-pix_fmt", format, part});
    ASSERT_EQ(maker.wait(20), 0) << maker.output();
    const std::vector<char> pictures = load(part);
    both.insert(both.end(), pictures.begin(), pictures.end());
  }
  store(dir / "both.mjpeg", both);
  const std::vector<Frame> frames = read_all(dir / "both.mjpeg", live(0));
  ASSERT_EQ(frames.size(), 10u);
  for (const Frame& frame : frames) EXPECT_EQ(frame.size(), (Size{64, 48}));
  EXPECT_NE(picture_of(frames[0])->format, picture_of(frames[9])->format);
}

}  // namespace
}  // namespace sightline::media
