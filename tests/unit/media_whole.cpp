// Whole files and files that are cut short: both are told, by what each format says of its own end.

#include <algorithm>
#include <cstdio>  // jpeglib.h needs it before itself
#include <cstdlib>
#include <string>
#include <string_view>

#include <jpeglib.h>

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

TEST_F(MediaWhole, CutPicturesAreDamaged) {
  for (const char* type : {"png", "jpg", "bmp", "tiff", "ppm", "pam", "gif", "webp", "qoi", "sun", "jls",
                           "exr", "sgi", "pcx", "tga", "dpx", "xwd", "pfm"}) {
    const std::string name = std::string("a.") + type;
    Content bytes;
    try {
      bytes = made(name, "testsrc2=size=160x120:rate=1:duration=1");
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ExitCode::input) << error.what();  // no encoder here
      continue;
    }
    EXPECT_EQ(errors_of(bytes, name), 0) << name;
    const std::size_t behind = type == std::string("tga") ? 26 : type == std::string("qoi") ? 8 : 0;
    for (const std::size_t cut :
         {bytes.size() / 3, bytes.size() / 2, bytes.size() * 9 / 10, bytes.size() - behind - 5})
      EXPECT_GT(errors_of(first(bytes, cut), name), 0) << name << " " << cut << " of " << bytes.size();
  }
}

// Without a part in the middle, or with zeros in its place.
TEST_F(MediaWhole, PicturesWithHolesAreDamaged) {
  for (const char* type : {"png", "gif", "qoi", "jls"}) {
    const std::string name = std::string("a.") + type;
    const Content bytes = made(name, "testsrc2=size=160x120:rate=1:duration=1");
    EXPECT_EQ(errors_of(bytes, name), 0) << name;
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 3);
    Content less = bytes, zeroed = bytes;
    less.erase(less.begin() + (middle - bytes.begin()), less.begin() + 2 * (middle - bytes.begin()));
    EXPECT_GT(errors_of(less, name), 0) << name;
    std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), zeroed.end(), '\0');
    if (type == std::string("qoi")) continue;  // zeros are pixels
    EXPECT_GT(errors_of(zeroed, name), 0) << name;
  }
}

TEST_F(MediaWhole, AFrameOfAGifWithoutItsSecondHalf) {
  Content bytes = made("a.gif", kVideo);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), 40, '\0');
  EXPECT_GT(errors_of(bytes, "a.gif"), 0);
}

Content jpeg_of(Size size, bool is_progressive, bool is_flat, bool is_arithmetic = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* data = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&jpeg, &data, &bytes);
  jpeg.image_width = static_cast<JDIMENSION>(size.width);
  jpeg.image_height = static_cast<JDIMENSION>(size.height);
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  jpeg.optimize_coding = is_arithmetic ? FALSE : TRUE;
  jpeg.arith_code = is_arithmetic ? TRUE : FALSE;
  if (is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(size.width), 77);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; !is_flat && x < size.width; ++x)
      row[static_cast<std::size_t>(x)] = static_cast<JSAMPLE>((x * y / 16 + 3 * x) % 256);
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  Content content(data, data + bytes);
  jpeg_destroy_compress(&jpeg);
  std::free(data);
  return content;
}

TEST_F(MediaWhole, JpegsOfEveryKind) {
  const std::string mark("\xff\xd9"), scan("\xff\xda");
  for (const bool is_progressive : {false, true}) {
    const Content flat = jpeg_of({1500, 1000}, is_progressive, true);  // whose data is zeros
    EXPECT_EQ(errors_of(flat, "a.jpg"), 0) << is_progressive;
    const Content bytes = jpeg_of({160, 120}, is_progressive, false);
    EXPECT_EQ(errors_of(bytes, "a.jpg"), 0) << is_progressive;
    EXPECT_EQ(errors_of(bytes, "a"), 0) << is_progressive;
    for (const std::size_t lost : {3, 8, 20, 200})
      EXPECT_GT(errors_of(first(bytes, bytes.size() - lost), "a.jpg"), 0) << is_progressive << " " << lost;
    for (const std::size_t from : {bytes.size() / 2, bytes.size() - 100}) {
      Content zeroed = bytes;
      std::fill(zeroed.begin() + static_cast<std::ptrdiff_t>(from), zeroed.end(), '\0');
      EXPECT_GT(errors_of(zeroed, "a.jpg"), 0) << is_progressive << " " << from;
      EXPECT_GT(errors_of(zeroed, "a"), 0) << is_progressive << " " << from;
    }
    Content hole = bytes;
    std::fill_n(hole.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), 100, '\0');
    EXPECT_GT(errors_of(hole, "a.jpg"), 0) << is_progressive;
  }
  const Content baseline = jpeg_of({160, 120}, false, false);
  EXPECT_EQ(errors_of(first(baseline, baseline.size() - mark.size()), "a.jpg"), 0);  // as some programs do
  const Content progressive = jpeg_of({160, 120}, true, false);
  auto from = progressive.begin();
  for (int scans = 0;; ++scans) {
    from = std::search(from, progressive.end(), scan.begin(), scan.end());
    if (from == progressive.end()) {
      EXPECT_GT(scans, 2);
      break;
    }
    const auto length = static_cast<std::size_t>(from - progressive.begin());
    EXPECT_GT(errors_of(first(progressive, length), "a.jpg"), 0) << scans;
    ++from;
  }
}

TEST_F(MediaWhole, WhatIsNotSupportedIsNotCalledDamaged) {
  using namespace std::string_literals;
  const auto refused = [&](const Content& bytes, const std::string& name, const std::string& kind) {
    store(dir_ / name, bytes);
    const std::string text = sightline::test::error_of(ExitCode::input, [&] { Reader(dir_ / name); });
    for (const std::string& words : {kind, std::string("not supported")})
      EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find("damaged"), std::string::npos) << text;
  };
  for (const std::string name : {"a.jpg", "a"})
    refused(jpeg_of({160, 120}, false, false, true), name, "arithmetic");
  const std::string webp =
      "RIFF\x60\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x1f\0\0\x1f\0\0ANIM\x06\0\0\0\0\0\0\0\0\0ANMF\x20\0\0\0"s +
      std::string(44, '\0');
  for (const std::string name : {"a.webp", "a"})
    refused(Content(webp.begin(), webp.end()), name, "animated WebP");
  const std::string avif =
      "\0\0\0\x14"
      "ftypavif\0\0\0\0mif1\0\0\0\x40meta\0\0\0\0\0\0\0\x14infegrid"s +
      std::string(200, '\0');
  for (const std::string name : {"a.avif", "a"}) refused(Content(avif.begin(), avif.end()), name, "AVIF");
  const std::string dicom = std::string(128, '\0') + "DICM" + std::string(3000, '\0');
  refused(Content(dicom.begin(), dicom.end()), "a.dcm", "DICOM");
  const std::string document = "%PDF-1.4\n" + std::string(3000, ' ');
  refused(Content(document.begin(), document.end()), "a.pdf", "PDF");
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
