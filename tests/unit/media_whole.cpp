// Whole files and files that are cut short: both are told, by what each format says of its own end.

#include <algorithm>
#include <string>
#include <string_view>

#include "support/media.hpp"

namespace sightline::media {
namespace {

using namespace test;

using Content = std::vector<char>;

Content first(const Content& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

Content followed_by(Content bytes, const Content& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

const Content kTrailer = [] {
  const std::string text = "what another program has appended, longer than any head of a chunk or page\n";
  return Content(text.begin(), text.end());
}();

/// Replaces the first place of a text in a file.
void patch(Content& bytes, std::string_view from, std::string_view to) {
  ASSERT_EQ(from.size(), to.size());
  const auto found = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
  ASSERT_NE(found, bytes.end());
  std::copy(to.begin(), to.end(), found);
}

class MediaWhole : public testing::Test {
 protected:
  /// How many errors reading a file of this content has; its pictures are counted in `pictures_`.
  std::int64_t errors_of(const Content& bytes, const std::string& name) {
    store(dir_ / name, bytes);
    pictures_ = 0;
    try {
      Reader reader(dir_ / name);
      pictures_ = read_all(reader).size();
      return reader.decode_errors();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return 1;
    }
  }
  Content made(const std::string& name, const std::string& graph) {
    make_clip(dir_ / name, graph);
    return load(dir_ / name);
  }

  TempDir dir_;
  std::size_t pictures_ = 0;
};

const std::string kVideo = "testsrc2=size=160x120:rate=10:duration=3";

TEST_F(MediaWhole, VideosAreWholeUpToTheirLastByte) {
  for (const std::string type : {"mkv", "webm", "avi", "ogv", "gif", "y4m", "mp4", "mov"}) {
    const std::string name = "a." + type;
    Content bytes;
    try {
      bytes = made(name, kVideo);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::input) << error.what();  // no encoder here
      continue;
    }
    EXPECT_EQ(errors_of(bytes, name), 0) << name;
    EXPECT_EQ(pictures_, 30u) << name;
    if (type != "y4m") {  // of which FFmpeg takes any byte for a frame
      EXPECT_EQ(errors_of(followed_by(bytes, kTrailer), name), 0) << name;
      EXPECT_EQ(pictures_, 30u) << name;
    }
    if (type == "mp4" || type == "mov") continue;  // their index may be behind the pictures
    for (const std::size_t cut : {bytes.size() / 2, bytes.size() * 9 / 10, bytes.size() - 2})
      EXPECT_GT(errors_of(first(bytes, cut), name), 0) << name << " " << cut;
  }
}

TEST_F(MediaWhole, LengthsInTagsAreNotBelieved) {
  Content bytes = made("a.mkv", kVideo);
  patch(bytes, "00:00:03.000000000", "01:00:03.000000000");
  EXPECT_EQ(errors_of(bytes, "a.mkv"), 0);
  EXPECT_EQ(pictures_, 30u);
}

TEST_F(MediaWhole, MatroskaOfALiveRecorder) {
  Content bytes = made("a.mkv", kVideo);
  const std::string segment("\x18\x53\x80\x67", 4);
  const auto found = std::search(bytes.begin(), bytes.end(), segment.begin(), segment.end());
  ASSERT_NE(found, bytes.end());
  ASSERT_EQ(found[4], 1);  // a length of 8 bytes
  std::fill(found + 5, found + 12, '\xff');
  EXPECT_EQ(errors_of(bytes, "a.mkv"), 0);
  EXPECT_EQ(errors_of(followed_by(bytes, kTrailer), "a.mkv"), 0);
  EXPECT_GT(errors_of(first(bytes, bytes.size() * 8 / 10), "a.mkv"), 0);
  EXPECT_GT(errors_of(first(bytes, bytes.size() - 1), "a.mkv"), 0);
}

TEST_F(MediaWhole, BytesBehindAPictureDoNotMatter) {
  const Content zeros(3000, '\0');
  for (const char* type :
       {"png", "jpg", "bmp", "tiff", "ppm", "pam", "gif", "webp", "qoi", "sun", "jls", "exr", "sgi", "pcx"}) {
    const std::string name = std::string("a.") + type;
    const std::string other = std::string("b_") + type;  // recognised by its content
    Content bytes;
    try {
      bytes = made(name, "testsrc2=size=160x120:rate=1:duration=1");
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::input) << error.what();  // no encoder here
      continue;
    }
    for (const Content& more : {Content(), kTrailer, zeros}) {
      EXPECT_EQ(errors_of(followed_by(bytes, more), name), 0) << name << " " << more.size();
      EXPECT_EQ(pictures_, 1u) << name << " " << more.size();
    }
    if (name == "a.png") {
      EXPECT_EQ(errors_of(followed_by(bytes, kTrailer), other), 0) << other;
      EXPECT_EQ(pictures_, 1u) << other;
    }
  }
}

}  // namespace
}  // namespace sightline::media
