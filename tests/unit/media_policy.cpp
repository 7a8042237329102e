// What an input may make the program open, and for how long: playlists, manifests, redirects, FIFOs,
// passwords.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "media/download.hpp"
#include "media/gray_png.hpp"
#include "media/secrets.hpp"
#include "support/http_server.hpp"
#include "support/media.hpp"
#include "support/variable.hpp"
#include "unit/media_live_support.hpp"

namespace sightline::media {
namespace {

using namespace test;
using sightline::test::HttpServer;

ReadOptions with_playlists() {
  ReadOptions options;
  options.allow_playlists = true;
  options.patience = 5;
  return options;
}

std::string playlist_of(const std::string& part, const std::string& end = "#EXT-X-ENDLIST\n") {
  return "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + part + "\n" + end;
}

class MediaPolicy : public testing::Test {
 protected:
  /// One second of video in a transport stream, 25 frames.
  std::string clip(const std::string& name) {
    make_clip(folder_ / name, "testsrc=size=64x48:rate=25:duration=1,format=yuv420p");
    return folder_ / name;
  }
  std::string text_of(const std::string& file) {
    const std::vector<char> bytes = load(file);
    return {bytes.begin(), bytes.end()};
  }
  std::string file(const std::string& name, const std::string& text) {
    store(folder_ / name, text);
    return folder_ / name;
  }
  /// An Error of this kind, within a few seconds.
  void expect_refused(const std::string& input, const ReadOptions& options = with_playlists()) {
    const double start = now();
    expect_error(ExitCode::input, [&] { Reader(input, options); });
    EXPECT_LT(now() - start, 20) << input;
  }

  TempDir folder_;
};

TEST_F(MediaPolicy, PlaylistsNeedToBeAskedFor) {
  clip("a.ts");
  const std::string list = file("holiday.m3u8", playlist_of("a.ts"));
  expect_error(ExitCode::input, "--allow-playlists", [&] { Reader reader(list); });
  for (const char* scheme : {"", "file:", "file://"})
    EXPECT_EQ(read_all(scheme + list, with_playlists()).size(), 25u) << scheme;
  expect_refused(file("holiday.mp4", playlist_of("a.ts")), {});  // recognised by content, or not at all
}

// FFmpeg reads such a list for ever, and keeps all that it reads.
TEST_F(MediaPolicy, PlaylistThatNamesItself) {
  for (const char* name : {"holiday.mp4", "self.m3u8"})
    for (const char* end : {"", "#EXT-X-ENDLIST\n"}) {
      const std::string list = file(name, playlist_of(name, end));
      expect_refused(list, {});
      expect_refused(list);
    }
}

TEST_F(MediaPolicy, PlaylistWithinAPlaylist) {
  clip("a.ts");
  file("inner.ts", playlist_of("a.ts"));
  expect_refused(file("outer.m3u8", playlist_of("inner.ts")));
}

TEST_F(MediaPolicy, LocalPlaylistWithoutAnEndEnds) {
  clip("a.ts");
  EXPECT_EQ(read_all(file("a.m3u8", playlist_of("a.ts", "")), with_playlists()).size(), 25u);
}

TEST_F(MediaPolicy, LocalPlaylistStaysInItsFolder) {
  HttpServer server([](const std::string&) { return HttpServer::ok("x"); });
  const std::string outside = clip("a.ts");
  fs::create_directory(folder_ / "lists");
  fs::create_symlink(outside, folder_ / "lists/link.ts");
  for (const std::string& part :
       {outside, std::string("../a.ts"), std::string("link.ts"), server.url("/a.ts")})
    expect_refused(file("lists/a.m3u8", playlist_of(part)));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(MediaPolicy, ManifestsAndDescriptionsAreNeverOpened) {
  HttpServer server([](const std::string&) { return HttpServer::ok("x"); });
  clip("a.ts");
  const std::string dash =
      "<?xml version=\"1.0\"?><MPD type=\"static\" mediaPresentationDuration=\"PT1S\"><Period>"
      "<AdaptationSet contentType=\"video\"><Representation id=\"1\" mimeType=\"video/mp4\">"
      "<BaseURL>" +
      server.url("/a.mp4") +
      "</BaseURL></Representation></AdaptationSet>"
      "</Period></MPD>";
  const std::string sdp =
      "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 50000 RTP/AVP 96\n"
      "a=rtpmap:96 H264/90000\n";
  for (const std::string& text : {dash, sdp, std::string("ffconcat version 1.0\nfile a.ts\n")})
    for (const ReadOptions& options : {ReadOptions(), with_playlists()})
      expect_refused(file("a.mp4", text), options);
  EXPECT_TRUE(server.requests().empty());
}

// FFmpeg chooses the decoder of what it does not recognise by the file's extension.
TEST_F(MediaPolicy, DrawingsAreRefused) {
  const std::string drawing =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><rect width=\"8\" "
      "height=\"8\"/></svg>";
  for (const char* const name : {"a.svg", "a.svgz", "a.png", "a", "b1.svg"})
    expect_refused(file(name, drawing));
  expect_refused(file("c.svg", "<?xml version=\"1.0\"?>\n" + drawing));
  expect_refused(file("d.svg", "\n\n" + drawing));
  expect_refused(folder_ / "b%d.svg");
  for (const char* const name : {"a.txt", "a.ans", "a.y", "a.xface"})
    expect_refused(file(name, "\x1b[2Jhello " + std::string(4000, 'x')));
}

/// Zeros as a zlib stream of 1/158 of their size: matches of 258 bytes in the fixed Huffman code.
std::string zeros_deflated(std::size_t count) {
  std::string stream = "\x78\x01";
  unsigned pending = 0;
  int bits = 0;
  const auto put = [&](unsigned value, int width) {  // the lowest bit first
    pending |= value << bits;
    for (bits += width; bits >= 8; bits -= 8, pending >>= 8) stream += static_cast<char>(pending);
  };
  put(0b011, 3);       // the last block, fixed codes
  put(0b00001100, 8);  // a zero
  for (std::size_t done = 1; done < count; done += 258) put(0b10100011, 8), put(0, 5);  // 285, distance 1
  put(0, 7);
  put(0, 7);
  const std::size_t bytes = 1 + (count + 256) / 258 * 258;
  for (const std::size_t part : {bytes % 65521 >> 8, bytes % 65521, std::size_t{0}, std::size_t{1}})
    stream += static_cast<char>(part);  // Adler-32
  return stream;
}

TEST_F(MediaPolicy, PngThatExpandsIsRefused) {
  const std::string plain = folder_ / "plain.png";
  write_gray_png(plain, Image<std::uint8_t>(64, 48).view());
  const auto with = [&](const std::string& type, std::size_t expanded, int times) {
    const std::string data = "x" + std::string(2, '\0') + zeros_deflated(expanded);
    std::string chunk;
    for (int shift = 24; shift >= 0; shift -= 8) chunk += static_cast<char>(data.size() >> shift);
    chunk += type + data + std::string(4, '\0');
    std::string picture = text_of(plain);
    for (int i = 0; i < times; ++i) picture.insert(8 + 25, chunk);
    return file("a.png", picture);
  };
  EXPECT_EQ(read_all(with("iCCP", 1 << 20, 1)).size(), 1u);
  expect_refused(with("iCCP", 100 << 20, 1));
  expect_refused(with("zTXt", 100 << 20, 1));
  expect_refused(with("zTXt", 20 << 20, 3));
  expect_refused(with("tEXt", 1, 10'001));
  expect_refused(with("iTXt", 1, 10'001));
  // Also under another name, and from where it cannot be looked at before.
  fs::copy(folder_ / "a.png", folder_ / "a.dat");
  expect_refused(folder_ / "a.dat");
  const HttpServer server([&](const std::string&) { return HttpServer::ok(text_of(folder_ / "a.png")); });
  expect_refused(server.url("/a.png"));
}

TEST_F(MediaPolicy, PlaylistWithCountlessVariantsIsRefused) {
  clip("a.ts");
  for (const std::string tag : {"#EXT-X-STREAM-INF:BANDWIDTH=1\n", "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"a\"\n",
                                "#EXT-X-MAP:URI=\"a\"\n", "#EXTINF:1,\n"}) {
    std::string text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n";
    for (int i = 0; i < 210'000; ++i) text += tag + "a.ts\n";
    const std::string list = file("a.m3u8", text);
    expect_error(ExitCode::input, [&] { Reader(list, with_playlists()); });
  }
}

// A file of somebody else's may have any name.
TEST_F(MediaPolicy, FilesNamedLikeGraphsAreFiles) {
  const std::string picture = text_of([&] {
    write_gray_png(folder_ / "a.png", Image<std::uint8_t>(64, 48).view());
    return folder_ / "a.png";
  }());
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  for (const char* const name :
       {"lavfi:movie=a.png", "lavfi:testsrc", "screen:", "screen::0", "file:a", "http:a", "concat:a"}) {
    store(name, picture);
    EXPECT_EQ(Reader(name).info().size, (Size{64, 48})) << name;
  }
  fs::current_path(before);
}

TEST_F(MediaPolicy, UnknownProtocols) {
  const std::string list = "concat:" + clip("a.ts") + "|" + folder_ / "a.ts";
  for (const std::string& input : {list, "subfile://,,start,0,end,0,,:" + folder_ / "a.ts",
                                   std::string("ftp://127.0.0.1/a"), std::string("gopher://127.0.0.1/a")})
    expect_refused(input);
  EXPECT_EQ(read_all("file:" + folder_ / "a.ts").size(), 25u);
}

TEST_F(MediaPolicy, RedirectsStayOnTheHost) {
  const std::string body = text_of(clip("a.ts"));
  HttpServer other([&](const std::string&) { return HttpServer::ok(body); });
  HttpServer server([&](const std::string& request) {
    if (request.starts_with("GET /a.ts")) return HttpServer::ok(body);
    if (request.starts_with("GET /loop")) return HttpServer::redirect("/loop");
    return HttpServer::redirect(request.starts_with("GET /here") ? "/a.ts" : other.url("/a.ts", "localhost"));
  });
  EXPECT_EQ(read_all(server.url("/here")).size(), 25u);
  expect_refused(server.url("/elsewhere"));
  expect_refused(server.url("/loop"));
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(MediaPolicy, PlaylistOfAServerStaysOnTheHost) {
  const std::string body = text_of(clip("a.ts"));
  HttpServer other([&](const std::string&) { return HttpServer::ok(body); });
  const std::string elsewhere = other.url("/a.ts", "localhost");
  HttpServer server([&](const std::string& request) {
    if (request.starts_with("GET /a.ts")) return HttpServer::ok(body);
    if (request.starts_with("GET /r.ts")) return HttpServer::redirect(elsewhere);
    if (request.starts_with("GET /good")) return HttpServer::ok(playlist_of("a.ts"));
    if (request.starts_with("GET /redirect")) return HttpServer::ok(playlist_of("r.ts"));
    if (request.starts_with("GET /key"))
      return HttpServer::ok(
          playlist_of("#EXT-X-KEY:METHOD=AES-128,URI=\"" + elsewhere + "\"\n#EXTINF:1,\na.ts"));
    if (request.starts_with("GET /file")) return HttpServer::ok(playlist_of("file://" + folder_ / "a.ts"));
    return HttpServer::ok(playlist_of(elsewhere));
  });
  EXPECT_EQ(read_all(server.url("/good.m3u8"), with_playlists()).size(), 25u);
  for (const char* path : {"/foreign.m3u8", "/redirect.m3u8", "/key.m3u8", "/file.m3u8"})
    expect_refused(server.url(path));
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(MediaPolicy, EndlessPlaylistIsBounded) {
  std::string lines = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n";
  while (lines.size() < (17 << 20)) lines += "#EXTINF:1,\na.ts\n";
  HttpServer server([&](const std::string&) { return HttpServer::ok(lines); });
  expect_refused(server.url("/a.m3u8"));
}

TEST_F(MediaPolicy, RtspRedirectIsRefused) {
  HttpServer other([](const std::string&) { return "RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n"; });
  HttpServer server([&](const std::string&) {
    return "RTSP/1.0 302 Moved\r\nCSeq: 1\r\nLocation: " + other.url("/a", "localhost", "rtsp") + "\r\n\r\n";
  });
  expect_refused(server.url("/a", "127.0.0.1", "rtsp"));
  expect_refused(server.url("/a", "127.0.0.1", "rtsp"), live(5));
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(MediaPolicy, FifoWithoutAWriterCanBeStopped) {
  ASSERT_EQ(mkfifo((folder_ / "a.mp4").c_str(), 0600), 0);
  std::atomic<bool> stop{false};
  ReadOptions options;
  options.stop = &stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  expect_error(ExitCode::failed, "stopped", [&] { Reader(folder_ / "a.mp4", options); });
  stopper.join();
}

TEST_F(MediaPolicy, FifoIsRead) {
  const std::string body = text_of(clip("a.ts"));
  const std::string pipe = folder_ / "pipe.ts";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    store(pipe, body);
  });
  EXPECT_EQ(read_all(pipe).size(), 25u);
  writer.join();
}

TEST_F(MediaPolicy, CredentialsOfAFile) {
  const std::string body = text_of(clip("a.ts"));
  const auto answer = [&](const std::string& request) {
    return request.find("Authorization: Basic dTpwIHc=") != std::string::npos  // u:p w
               ? HttpServer::ok(body)
               : std::string(
                     "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
                     "Content-Length: 0\r\nConnection: close\r\n\r\n");
  };
  HttpServer server(answer);
  expect_refused(server.url("/a.ts"));
  EXPECT_EQ(read_all(server.url("/a.ts", "u:p%20w@127.0.0.1")).size(), 25u);

  const std::string netrc = file("netrc",
                                 "machine camera login x password y\n# a comment\nmachine 127.0.0.1\n"
                                 "  login u\n  password pw\ndefault login z password z\n");
  ReadOptions options;
  options.netrc = netrc;
  fs::permissions(netrc, fs::perms::owner_read | fs::perms::group_read);
  expect_error(ExitCode::usage, netrc, [&] { Reader(server.url("/a.ts"), options); });
  fs::permissions(netrc, fs::perms::owner_read);
  EXPECT_EQ(find_credentials(netrc, "127.0.0.1")->password, "pw");
  EXPECT_EQ(find_credentials(netrc, "elsewhere")->user, "z");
  expect_refused(server.url("/a.ts"), options);
  const std::vector<std::string> requests = server.requests();
  EXPECT_NE(requests.back().find("Authorization: Basic dTpwdw=="), std::string::npos) << requests.back();

  HttpServer camera([](const std::string& request) {
    return request.find("Authorization: ") != std::string::npos
               ? "RTSP/1.0 404 Not Found\r\nCSeq: 1\r\n\r\n"
               : "RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\r\n";
  });
  expect_refused(camera.url("/a", "127.0.0.1", "rtsp"), options);
}

TEST_F(MediaPolicy, CredentialsStayOnTheirServer) {
  const std::string body = text_of(clip("a.ts"));
  const auto answer = [&](const std::string& request) {
    return request.find("Authorization: ") == std::string::npos
               ? std::string(
                     "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n"
                     "Content-Length: 0\r\nConnection: close\r\n\r\n")
               : HttpServer::ok(body);
  };
  HttpServer other(answer);
  HttpServer server([&](const std::string& request) {
    if (request.starts_with("GET /list")) return HttpServer::ok(playlist_of(other.url("/a.ts")));
    return request.starts_with("GET /here") ? HttpServer::redirect("/a.ts")
           : request.starts_with("GET /r")  ? HttpServer::redirect(other.url("/a.ts"))
                                            : answer(request);
  });
  ReadOptions options = with_playlists();
  options.netrc = file("netrc", "machine 127.0.0.1 login u password p\n");
  fs::permissions(options.netrc, fs::perms::owner_read);
  EXPECT_EQ(read_all(server.url("/here"), options).size(), 25u);
  expect_refused(server.url("/r"), options);
  expect_refused(server.url("/list.m3u8"), options);
  expect_refused(server.url("/r", "u:p@127.0.0.1"));
  EXPECT_FALSE(other.requests().empty());
  for (const std::string& request : other.requests())
    EXPECT_EQ(request.find("Authorization"), std::string::npos) << request;
}

TEST(MediaSecrets, AreRedacted) {
  const struct {
    const char* text;
    const char* shown;
  } cases[] = {
      {"rtsp://admin:1234@camera/a", "rtsp://***@camera/a"},
      {"rtsp://admin:p@ss#w?rd@camera:554/a", "rtsp://***@***/a"},
      {"rtsp://admin:p/w@camera/a", "rtsp://***@***/a"},
      {"rtsp://admin:12/34@camera/a", "rtsp://***@***/a"},
      {"rtsp://admin:p/w", "rtsp://***"},
      {"cannot open 'http://u:a'b@h/c'", "cannot open 'http://***@h/c'"},
      {"http://u:a\"b@h/", "http://***@h/"},
      {"cannot open 'http://u:a b@h/c' (x)", "cannot open 'http://***@h/c' (x)"},
      {"'http://camera', 'x@y'", "'http://camera', 'x@y'"},
      {"<http://u:a>b<c@h/>", "<http://***@h/>"},
      {"http://h/a?Access_Token=x&channel=1&password=y#z",
       "http://h/a?Access_Token=***&channel=1&password=***#***"},
      {"http://h/a?pw=x&jwt=y&session=z&code=1&%70wd=q&x",
       "http://h/a?pw=***&jwt=***&session=***&code=***&%70wd=***&***"},
      {"http://h/a?width=640&stream=Zx81kQ9vP2&format=mjpeg", "http://h/a?width=640&stream=***&format=mjpeg"},
      {"http://h/a?width=Ab%22c", "http://h/a?width=***"},
      {"rtsp://h/user=admin_password=x_channel=1", "rtsp://h/***"},
      {"rtsp://h:554/Streaming/Channels/101", "rtsp://h:554/Streaming/Channels/101"},
      {"rtsp://h/h264Preview_01_main", "rtsp://h/h264Preview_01_main"},
      {"http://h:7447/5tWvXb9QzPq0mLxR", "http://h:7447/***"},
      {"http://h/3f9ab21c77de41aa/a%20b.m3u8", "http://h/***/a%20b.m3u8"},
      {"http://h/a;jsessionid=x/b", "http://h/***/b"},
      {"http://proxy/rtsp://u:p@h/a", "http://***@***/a"},
      {"rtmp://h/live2/abcd-efgh", "rtmp://h/live2/***"},
      {"RTMPS://h/live2/abcd/2", "RTMPS://h/live2/***/***"},
      {"srt://h:1?mode=caller&streamid=x&passphrase=y", "srt://h:1?mode=caller&streamid=***&passphrase=***"},
      {"http://[fe80::1]:80/a", "http://[fe80::1]:80/a"},
      {"https://h/a?X-Amz-Signature=x&b=2", "https://h/a?X-Amz-Signature=***&b=***"},
      {"cannot open 'rtsp://u:p@h/a' (x@y), rtsp://v:q@i/",
       "cannot open 'rtsp://***@h/a' (x@y), rtsp://***@i/"},
      {"srt://h:1?passphrase=x y", "srt://h:1?passphrase=*** y"},
      {"/home/me/a@b.mp4?token=x", "/home/me/a@b.mp4?token=x"},
      {"rtsp://camera/a", "rtsp://camera/a"},
      {"http:/u:p@h/a", "http:/***@h/a"},
      {"cannot open 'RTSP:u:p@h' or http//u:p@h/x", "cannot open 'RTSP:***@h' or http//***@h/x"},
      {"http:/h/a and b@c", "http:/h/a and b@c"},
      {"http://h/token/hunter/live", "http://h/token/***/live"},
      {"http://h/Api-Key/hunter", "http://h/Api-Key/***"},
      {"http://h/a?stream=hunter&subtype=main&mode=caller", "http://h/a?stream=***&subtype=main&mode=caller"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(redacted(one.text), one.shown);
    EXPECT_EQ(redacted(one.shown), one.shown);
  }
  EXPECT_EQ(redacted_url("srt://h:1?passphrase=x y"), "srt://h:1?passphrase=***");
  EXPECT_EQ(redacted_url("http://u:a b@h/c"), "http://***@h/c");
}

TEST(MediaSecrets, AreKeptApartFromNames) {
  ReadOptions options;
  EXPECT_EQ(hide_secrets("a:b@c.mp4", options), "a:b@c.mp4");
  EXPECT_EQ(hide_secrets("rtsp://u:p@h/a", options), "rtsp://***@h/a");
  EXPECT_EQ(hide_secrets("rtsp://u:p@h/a", options), "rtsp://***@h/a");
  EXPECT_EQ(options.secret_urls.at("rtsp://***@h/a"), "rtsp://u:p@h/a");
  EXPECT_EQ(hide_secrets("rtsp://u:q@h/a", options), "rtsp://***2@h/a");
  EXPECT_EQ(redacted("rtsp://***2@h/a"), "rtsp://***2@h/a");
  EXPECT_EQ(hide_secrets("lavfi:movie=http\\://u\\:p@h/a", options), "lavfi:movie=http\\://***@h/a");
}

constexpr char kSumOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class Downloads : public testing::Test {
 protected:
  Download wanted(const HttpServer& server, const std::string& path = "/abc") const {
    return {"abc", server.url(path), 3, kSumOfAbc, true, std::chrono::seconds(20)};
  }
  void get(const Download& one) const {
    download(
        one, file_, [this] { return stopped_; }, [](std::uint64_t) {});
  }
  /// Expects an error that names a fact, and that nothing is left.
  void expect_failure(const Download& one, const std::string& fact) const {
    expect_error(ExitCode::failed, fact, [&] { get(one); });
    EXPECT_EQ(left(), std::set<std::string>());
  }
  std::set<std::string> left() const {
    std::set<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ / "networks", error))
      names.insert(entry.path().filename());
    return names;
  }

  TempDir folder_;
  const fs::path file_ = folder_ / "networks/abc.onnx";
  bool stopped_ = false;
};

TEST_F(Downloads, KeepTheFileThatIsRight) {
  const HttpServer server([](const std::string& request) {
    return request.starts_with("GET /abc ") ? HttpServer::ok("abc") : HttpServer::redirect("/abc");
  });
  get(wanted(server));
  EXPECT_EQ(sightline::test::bytes_of(file_), "abc");
  EXPECT_EQ(sha256_of(file_), kSumOfAbc);
  get(wanted(server, "/elsewhere"));
  EXPECT_EQ(left(), std::set<std::string>{"abc.onnx"});
}

TEST_F(Downloads, LeaveNothingOfAnotherFile) {
  const std::string head = "HTTP/1.1 ";
  const HttpServer server([&](const std::string& request) {
    const auto asks = [&](const char* path) { return request.starts_with("GET " + std::string(path)); };
    if (asks("/other ")) return HttpServer::ok("abd");
    if (asks("/longer ")) return HttpServer::ok("abcd");
    if (asks("/shorter ")) return HttpServer::ok("ab");
    if (asks("/broken ")) return head + "200 OK\r\nContent-Length: 3\r\n\r\nab";
    return head + "404 Not Found\r\nContent-Length: 3\r\n\r\nabc";
  });
  expect_failure(wanted(server, "/other"), kSumOfAbc);
  expect_failure(wanted(server, "/longer"), "larger than 3 bytes");
  expect_failure(wanted(server, "/shorter"), "2 of 3 bytes");
  expect_failure(wanted(server, "/broken"), "abc");
  expect_failure(wanted(server), "404");
}

TEST_F(Downloads, KeepToSafeProtocolsAndTheHost) {
  const HttpServer other([](const std::string&) { return HttpServer::ok("abc"); });
  const HttpServer server([&](const std::string& request) {
    if (request.starts_with("GET /file ")) return HttpServer::redirect("file://" + folder_ / "secret");
    if (request.starts_with("GET /ftp ")) return HttpServer::redirect("ftp://127.0.0.1/abc");
    return HttpServer::redirect(other.url("/abc", "localhost"));
  });
  std::ofstream(folder_ / "secret") << "abc";
  for (const char* path : {"/file", "/ftp", "/host"}) expect_failure(wanted(server, path), "abc");
  Download plain = wanted(server);
  plain.may_be_plain = false;
  EXPECT_THROW(get(plain), Error);
  plain.url = "file://" + folder_ / "secret";
  plain.may_be_plain = true;
  EXPECT_THROW(get(plain), Error);
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Downloads, EndWhereTheServerIsSilentAbsentOrTheUserStops) {
  Download absent;
  {
    const HttpServer server([](const std::string&) { return std::string(); });
    Download silent = wanted(server);
    silent.patience = std::chrono::milliseconds(100);
    expect_failure(silent, "sent nothing");
    absent = wanted(server);
    stopped_ = true;
    expect_failure(absent, "stopped");
    stopped_ = false;
  }
  expect_failure(absent, "abc");
}

TEST_F(Downloads, GoThroughTheProxyOfTheEnvironment) {
  const HttpServer proxy([](const std::string&) { return HttpServer::ok("abc"); });
  const sightline::test::Variable variable("http_proxy", proxy.url(""));
  Download one = wanted(proxy);
  one.url = "http://models.invalid/abc";
  get(one);
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_TRUE(proxy.requests()[0].starts_with("GET http://models.invalid/abc ")) << proxy.requests()[0];
}

TEST_F(Downloads, TellThatTheDiskIsFull) {
  const HttpServer server([](const std::string&) { return HttpServer::ok("abc"); });
  const Download one = wanted(server);
  expect_error(ExitCode::failed, "/dev/full", [&] {
    download(
        one, "/dev/full", [] { return false; }, [](std::uint64_t) {});
  });
  std::ofstream(folder_ / "networks") << "a file, not a folder";
  EXPECT_THROW(get(one), Error);
}

}  // namespace
}  // namespace sightline::media
