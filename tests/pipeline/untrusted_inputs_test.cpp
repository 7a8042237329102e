// The program with inputs that want more than to be read, that never begin, and that are named with
// passwords.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/http_server.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::load;
using media::test::make_clip;
using media::test::store;

constexpr int kInputError = 3;
constexpr const char* kPassword = "Se7cret";

class UntrustedInput : public testing::Test {
 protected:
  std::string clip(const std::string& name) {
    make_clip(folder_ / name, "testsrc=size=160x200:rate=10:duration=1");
    return folder_ / name;
  }
  std::string file(const std::string& name, const std::string& text) {
    store(folder_ / name, text);
    return folder_ / name;
  }
  std::string fifo() {
    const std::string name = folder_ / "pipe.mp4";
    mkfifo(name.c_str(), 0600);
    return name;
  }
  static std::string text_of(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Commands that read a video, without the input's name.
  std::vector<Words> commands() {
    store(folder_ / "truth.txt", std::string("1,1,10,10,40,80,1,-1,-1,-1\n"));
    return {{"detect"},
            {"live", "--headless"},
            {"measure"},
            {"measure", "--stages"},
            {"faces", "add", "--name", "Ann", "--gallery", folder_ / "faces.db"},
            {"evaluate", "frames", "--truth", folder_ / "truth.txt", "--truth-format", "mot"}};
  }
  TempDir folder_;
};

// It took 3.5 GB, and one SIGTERM did not end it.
TEST_F(UntrustedInput, PlaylistThatNamesItselfTakesNoMemory) {
  const std::string list = file("holiday.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nholiday.mp4\n");
  const long usual = run({"detect", file("notes.mp4", "some words")}).peak_kilobytes;
  for (const Words& more : {Words(), {"--allow-playlists"}}) {
    const Outcome outcome = expect_run(kInputError, Words{"detect", list} + more);
    EXPECT_LT(outcome.peak_kilobytes, usual + 100'000);
  }
  for (const Words& command : commands()) expect_run(kInputError, command + std::vector{list});
}

TEST_F(UntrustedInput, StandardInputOpensNothingElse) {
  HttpServer server([](const std::string&) { return HttpServer::ok("x"); });
  const std::string part = clip("a.mp4");
  for (const std::string& text :
       {"<?xml version=\"1.0\"?><MPD type=\"static\"><Period><AdaptationSet "
        "contentType=\"video\"><Representation "
        "id=\"1\" mimeType=\"video/mp4\"><BaseURL>" +
            server.url("/a.mp4") + "</BaseURL></Representation></AdaptationSet></Period></MPD>",
        std::string(
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 50000 RTP/AVP 96\n"
            "a=rtpmap:96 H264/90000\n"),
        "ffconcat version 1.0\nfile " + part + "\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + server.url("/a.mp4") + "\n#EXT-X-ENDLIST\n"}) {
    RunSetup setup;
    setup.input = file("input", text);
    expect_run(kInputError, {"detect", "-", "--allow-playlists"}, setup);
  }
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(UntrustedInput, SilentServerTimesOut) {
  HttpServer server([](const std::string&) { return std::string(); });
  for (const Words& command : commands()) {
    const bool is_live = command.front() == "live";
    const Words timeout{is_live ? "--give-up-after" : "--timeout", "0.3"};
    expect_run(kInputError, command + timeout + std::vector{server.url("/hang")});
  }
}

// SIGTERM, while opening waits for a writer or a server.
TEST_F(UntrustedInput, OneSignalEndsOpening) {
  HttpServer server([](const std::string&) { return std::string(); });
  const std::string pipe = fifo();
  for (const std::string& input : {pipe, server.url("/hang")}) {
    for (const Words& command : commands()) {
      const std::size_t before = server.requests().size();
      Program program(command + std::vector{input});
      if (input == pipe) {
        // The FIFO can be opened for writing once the program has it open.
        int writer = -1;
        EXPECT_TRUE(
            program.wait_until([&] { return (writer = open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) >= 0; }));
        program.send(SIGTERM);
        EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM) << command.front();
        close(writer);
      } else {
        EXPECT_TRUE(program.wait_until([&] { return server.requests().size() > before; }));
        program.send(SIGTERM);
        EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM) << command.front();
      }
    }
  }
  expect_run(kInputError, {"texture", pipe});
}

// An X server that takes the connection and says nothing: Xlib's wait cannot be interrupted.
TEST_F(UntrustedInput, GraceEndsWhatCannotBeInterrupted) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int display = 200;
  do address.sin_port = htons(static_cast<std::uint16_t>(6000 + ++display));
  while (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && display < 900);
  ASSERT_EQ(listen(listener, 1), 0);
  Program program({"detect", "screen:127.0.0.1:" + std::to_string(display)});
  pollfd waiting{listener, POLLIN, 0};
  ASSERT_TRUE(program.wait_until([&] { return poll(&waiting, 1, 0) > 0; }));
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM);
  close(listener);
}

TEST_F(UntrustedInput, HangupFinishesOutputs) {
  const std::string results = folder_ / "a.jsonl", video = folder_ / "a.mp4";
  Program program({"live", "--headless", "lavfi:testsrc=size=160x200:rate=25", "-d", results, "--overwrite",
                   "--record", video});
  ASSERT_TRUE(program.wait_until([&] { return text_of(results).size() > 1000; }));
  program.send(SIGHUP);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGHUP);
  EXPECT_GT(parse_lines(text_of(results)).size(), 3u);
  EXPECT_GT(media::test::read_all(video).size(), 0u);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
}

TEST_F(UntrustedInput, HangupIsIgnoredUnderNohup) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignored, &before);
  Program program({"live", "--headless", "lavfi:testsrc=size=160x200:rate=25", "-d", folder_ / "a.jsonl"});
  sigaction(SIGHUP, &before, nullptr);
  ASSERT_TRUE(program.wait_until([&] { return text_of(folder_ / "a.jsonl").size() > 1000; }));
  program.send(SIGHUP);
  const std::size_t size = text_of(folder_ / "a.jsonl").size();
  EXPECT_TRUE(program.wait_until([&] { return text_of(folder_ / "a.jsonl").size() > size + 2000; }));
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 128 + SIGTERM);
}

TEST_F(UntrustedInput, PasswordsAppearNowhere) {
  const std::vector<char> bytes = load(clip("a.mp4"));
  const std::string body(bytes.begin(), bytes.end());
  HttpServer server([&](const std::string& request) {
    return request.find("/missing") == std::string::npos ? HttpServer::ok(body)
                                                         : std::string("HTTP/1.1 404 No\r\n\r\n");
  });
  const std::string secret = std::string("/a.mp4?token=") + kPassword;
  const std::string url = server.url(secret, std::string("user:") + kPassword + "@127.0.0.1");
  const std::string missing =
      server.url("/missing" + secret, std::string("user:") + kPassword + "@127.0.0.1");
  const auto expect_clean = [&](const std::string& text, const std::string& what) {
    EXPECT_EQ(text.find(kPassword), std::string::npos) << what << ": " << text;
  };
  for (const char* name : {"a.jsonl", "a.csv", "a.json"}) {
    const Outcome outcome =
        expect_run(0, {"detect", url, "-v", "-d", folder_ / name, "--report", folder_ / "a.html", "--trace",
                       folder_ / "a.trace", "--contact-sheet", folder_ / "a.png", "--overwrite"});
    expect_clean(outcome.err, "messages");
    EXPECT_NE(text_of(folder_ / name).find("127.0.0.1"), std::string::npos) << text_of(folder_ / name);
    for (const std::string& written : {std::string(name), std::string("a.html"), std::string("a.trace")})
      expect_clean(text_of(folder_ / written), written);
  }
  run({"detect", url, "-f", "coco", "-d", folder_ / "coco.json"});
  EXPECT_NE(text_of(folder_ / "coco.json").find("127.0.0.1"), std::string::npos);
  expect_clean(text_of(folder_ / "coco.json"), "coco");
  run({"measure", url, "--schedules", "cpu", "--repeats", "1", "--seconds", "0.1", "--overwrite", "--json",
       folder_ / "m.json"});
  expect_clean(text_of(folder_ / "m.json"), "measure");
  for (const Words& command : commands()) {
    const Words once{command.front() == "live" ? "--give-up-after" : "--timeout", "1"};
    const Outcome outcome = expect_run(kInputError, command + once + std::vector{missing});
    expect_clean(outcome.out + outcome.err, command.front());
  }
  expect_clean(text_of(folder_ / "faces.db"), "gallery");
  expect_clean(run({"texture", url}).err, "texture");
  expect_clean(run({"detect", "a.mp4", "--unknown", url}).err, "usage");
}

TEST_F(UntrustedInput, EndlessAndSilentFilesAreRefused) {
  RunSetup setup;
  setup.timeout = 20;
  const std::string picture = clip("a.mp4");
  for (const std::string& special : {fifo(), std::string("/dev/zero"), folder_.path()}) {
    for (const std::string option : {"boxes", "mot", "coco", ""}) {
      Words truth{"evaluate", "frames", picture, "--truth", special};
      if (!option.empty()) truth.insert(truth.end(), {"--truth-format", option});
      const Outcome outcome = run(truth, setup);
      EXPECT_EQ(outcome.exit_code, kInputError) << special << option << outcome.err;
    }
    for (const char* const config : {"people", "faces"}) {
      const Outcome outcome = run({"detect", picture, "-c", config, "--model", special}, setup);
      EXPECT_EQ(outcome.exit_code, 4) << special << outcome.err;
    }
    const Outcome imported =
        expect_run(kInputError, {"faces", "import", special, "--gallery", folder_ / "f.db"}, setup);
    EXPECT_EQ(imported.err.find("unexpected"), std::string::npos);
  }
}

TEST_F(UntrustedInput, CredentialsOfTheEnvironment) {
  const std::vector<char> bytes = load(clip("a.mp4"));
  const std::string body(bytes.begin(), bytes.end());
  HttpServer server([&](const std::string& request) {
    return request.find("Authorization: Basic ") != std::string::npos
               ? HttpServer::ok(body)
               : std::string(
                     "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n"
                     "Connection: close\r\n\r\n");
  });
  const std::string netrc = file("netrc", "machine 127.0.0.1 login u password p\n");
  fs::permissions(netrc, fs::perms::owner_read | fs::perms::owner_write);
  expect_run(kInputError, {"detect", server.url("/a.mp4")});
  expect_run(0, {"detect", server.url("/a.mp4"), "--netrc", netrc});
  RunSetup setup;
  setup.environment = {"NETRC=" + netrc};
  expect_run(0, {"detect", server.url("/a.mp4")}, setup);
}

}  // namespace
}  // namespace sightline::test
