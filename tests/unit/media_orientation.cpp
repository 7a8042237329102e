// Pictures and videos that are stored sideways, upside down or mirrored: read upright, from every container.
#include "media/orientation.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "image/turn.hpp"
#include "support/media.hpp"
#include "support/tiff.hpp"

namespace sightline::media {
namespace {

using namespace test;

using Content = std::vector<char>;

/// Where the tag Orientation says that a pixel of the upright picture is stored.
std::pair<int, int> stored_place(int orientation, Size stored, int x, int y) {
  const int right = stored.width - 1, bottom = stored.height - 1;
  switch (orientation) {
    case 2:
      return {right - x, y};
    case 3:
      return {right - x, bottom - y};
    case 4:
      return {x, bottom - y};
    case 5:
      return {y, x};
    case 6:
      return {y, bottom - x};
    case 7:
      return {right - y, bottom - x};
    case 8:
      return {right - y, x};
    default:
      return {x, y};
  }
}

void expect_upright(const Image<std::uint8_t>& upright, const Image<std::uint8_t>& stored, int orientation) {
  const Size size = stored.view().size();
  ASSERT_EQ(upright.view().size(), orientation >= 5 ? (Size{size.height, size.width}) : size);
  for (int y = 0; y < upright.view().height(); ++y) {
    for (int x = 0; x < upright.view().width(); ++x) {
      const auto [column, row] = stored_place(orientation, size, x, y);
      ASSERT_EQ(upright.view().at(x, y), stored.view().at(column, row)) << x << ", " << y;
    }
  }
}

Content number(std::uint32_t value, int bytes, bool is_big_endian) {
  Content result;
  for (int i = 0; i < bytes; ++i)
    result.push_back(static_cast<char>(value >> 8 * (is_big_endian ? bytes - 1 - i : i)));
  return result;
}

Content joined(std::initializer_list<Content> parts) {
  Content all;
  for (const Content& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Content text(std::string_view characters) {
  return {characters.begin(), characters.end()};
}

/// EXIF data with another tag before the orientation.
Content exif(int orientation, bool is_big_endian) {
  const auto two = [&](int value) { return number(static_cast<std::uint32_t>(value), 2, is_big_endian); };
  const auto four = [&](int value) { return number(static_cast<std::uint32_t>(value), 4, is_big_endian); };
  return joined({text(is_big_endian ? "MM" : "II"), two(42), four(8), two(2),  //
                 two(0x106), two(3), four(1), two(2), two(0),                  //
                 two(0x112), two(3), four(1), two(orientation), two(0), four(0)});
}

void insert(Content& file, std::size_t at, const Content& bytes) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

void tag_jpeg(Content& file, int orientation) {
  const Content data = joined({text({"Exif\0\0", 6}), exif(orientation, true)});
  insert(file, 2,
         joined({text("\xff\xe1"), number(static_cast<std::uint32_t>(data.size() + 2), 2, true), data}));
}

std::uint32_t crc_of(const Content& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

void tag_png(Content& file, int orientation) {
  const Content data = exif(orientation, false), chunk = joined({text("eXIf"), data});
  insert(file, 33,
         joined({number(static_cast<std::uint32_t>(data.size()), 4, true), chunk,
                 number(crc_of(chunk), 4, true)}));
}

void tag_webp(Content& file, int orientation) {
  const Content data = exif(orientation, true);
  if (file.size() % 2) file.push_back(0);
  insert(file, file.size(),
         joined({text("EXIF"), number(static_cast<std::uint32_t>(data.size()), 4, false), data}));
  const Content size = number(static_cast<std::uint32_t>(file.size() - 8), 4, false);
  std::copy(size.begin(), size.end(), file.begin() + 4);
}

/// Rewrites the matrix of the track, scaled: {a, b, c, d} of (x, y) -> (a x + c y, b x + d y).
void tag_mp4(Content& file, int orientation) {
  constexpr std::array<std::array<int, 4>, 8> kMatrices{{{1, 0, 0, 1},
                                                         {-1, 0, 0, 1},
                                                         {-1, 0, 0, -1},
                                                         {1, 0, 0, -1},
                                                         {0, 1, 1, 0},
                                                         {0, 1, -1, 0},
                                                         {0, -1, -1, 0},
                                                         {0, -1, 1, 0}}};
  const auto box = std::search(file.begin(), file.end(), std::begin("tkhd"), std::end("tkhd") - 1);
  ASSERT_NE(box, file.end());
  const auto matrix = box + (box[4] == 0 ? 44 : 56);
  const std::array<int, 4>& wanted = kMatrices[static_cast<std::size_t>(orientation - 1)];
  for (int i = 0; i < 4; ++i) {
    const Content value =
        number(static_cast<std::uint32_t>(wanted[static_cast<std::size_t>(i)] * 0x10000), 4, true);
    std::copy(value.begin(), value.end(), matrix + (i < 2 ? i : i + 1) * 4);
  }
}

/// The head of an element of a Matroska file.
struct EbmlHead {
  std::size_t size_at = 0, content = 0;
  std::uint64_t id = 0, size = 0;
};

EbmlHead ebml_head(const Content& file, std::size_t at) {
  const auto length = [&](std::size_t place) {
    return static_cast<std::size_t>(std::countl_zero(static_cast<std::uint8_t>(file[place]))) + 1;
  };
  const auto value = [&](std::size_t from, std::size_t to) {
    std::uint64_t result = 0;
    for (; from < to; ++from) result = result << 8 | static_cast<std::uint8_t>(file[from]);
    return result;
  };
  EbmlHead head;
  head.size_at = at + length(at);
  head.content = head.size_at + length(head.size_at);
  head.id = value(at, head.size_at);
  head.size =
      value(head.size_at, head.content) & ((std::uint64_t{1} << 7 * (head.content - head.size_at)) - 1);
  return head;
}

/// Puts a projection into the first video track; what holds it grows.
void tag_matroska(Content& file, int orientation) {
  constexpr std::array<std::pair<int, int>, 8> kYawAndRoll{
      {{0, 0}, {180, 0}, {0, 180}, {180, 180}, {180, 90}, {0, -90}, {180, -90}, {0, 90}}};
  const auto [yaw, roll] = kYawAndRoll[static_cast<std::size_t>(orientation - 1)];
  const auto angle = [](int degrees) {
    return number(std::bit_cast<std::uint32_t>(static_cast<float>(degrees)), 4, true);
  };
  const Content projection =
      joined({text("\x76\x70\x8e\x76\x73\x84"), angle(yaw), text("\x76\x75\x84"), angle(roll)});
  std::size_t at = 0;
  for (const std::uint64_t id : {0x18538067, 0x1654AE6B, 0xAE, 0xE0}) {
    EbmlHead head = ebml_head(file, at);
    while (head.id != id) head = ebml_head(file, head.content + static_cast<std::size_t>(head.size));
    std::uint64_t size = head.size + projection.size();
    for (std::size_t place = head.content - 1; place > head.size_at; --place, size >>= 8)
      file[place] = static_cast<char>(size);
    const int marker = 0x80 >> (head.content - head.size_at - 1);
    ASSERT_LT(size, static_cast<std::uint64_t>(marker));
    file[head.size_at] = static_cast<char>(static_cast<int>(size) | marker);
    at = head.content;
  }
  insert(file, at, projection);
}

/// Adds properties to those of a still picture, and to its first item.
void tag_avif(Content& file, int orientation) {
  constexpr std::array<std::pair<int, int>, 8> kQuartersAndMirror{
      {{0, -1}, {0, 1}, {2, -1}, {0, 0}, {3, 1}, {3, -1}, {1, 1}, {1, -1}}};
  const auto [quarters, mirror] = kQuartersAndMirror[static_cast<std::size_t>(orientation - 1)];
  const auto property = [](std::string_view name, int value) {
    return joined({number(9, 4, true), text(name), {static_cast<char>(value)}});
  };
  Content added;
  if (quarters > 0) added = property("irot", quarters);
  if (mirror >= 0) added = joined({added, property("imir", mirror)});
  std::size_t at = 0;
  for (const std::string_view box : {"meta", "iprp", "ipco"}) {
    const auto name =
        std::search(file.begin() + static_cast<std::ptrdiff_t>(at), file.end(), box.begin(), box.end());
    ASSERT_NE(name, file.end());
    at = static_cast<std::size_t>(name - file.begin()) - 4;
    const std::size_t size =
        static_cast<std::uint8_t>(file[at + 2]) * 256U + static_cast<std::uint8_t>(file[at + 3]);
    const Content grown = number(static_cast<std::uint32_t>(size + added.size()), 4, true);
    std::copy(grown.begin(), grown.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
    at += box == "ipco" ? size : 8;
  }
  // Places of the picture's data are counted from the file's beginning.
  const std::string_view location = "iloc";
  const auto iloc = std::search(file.begin(), file.end(), location.begin(), location.end());
  ASSERT_NE(iloc, file.end());
  const auto extent = iloc + 4 + 4 + 2 + 2 + 2 + 2 + 2;
  std::uint32_t offset = 0;
  for (int i = 0; i < 4; ++i) offset = offset << 8 | static_cast<std::uint8_t>(extent[i]);
  const Content moved = number(offset + static_cast<std::uint32_t>(added.size()), 4, true);
  std::copy(moved.begin(), moved.end(), extent);
  insert(file, at, added);
}

/// Writes what a filter graph generates. False where FFmpeg has no encoder for it.
bool make_file(const std::string& path, const std::string& graph) {
  try {
    if (!path.ends_with(".webp")) return make_clip(path, graph) > 0;
  } catch (const Error&) {
    if (path.ends_with(".avif")) return false;
    throw;
  }
  const AVCodec* const codec = avcodec_find_encoder_by_name("libwebp");
  if (!codec) return false;
  const Frame frame = *Reader("lavfi:" + graph).read();
  const CodecContextPtr encoder(avcodec_alloc_context3(codec));
  encoder->width = frame.size().width;
  encoder->height = frame.size().height;
  encoder->pix_fmt = static_cast<AVPixelFormat>(picture_of(frame)->format);
  encoder->time_base = {1, 25};
  const PacketPtr packet = make_av_packet();
  if (avcodec_open2(encoder.get(), codec, nullptr) < 0 ||
      avcodec_send_frame(encoder.get(), picture_of(frame).get()) < 0 ||
      avcodec_send_frame(encoder.get(), nullptr) < 0 ||
      avcodec_receive_packet(encoder.get(), packet.get()) < 0)
    return false;
  store(path, Content(packet->data, packet->data + packet->size));
  return true;
}

struct Container {
  const char* name;
  void (*tag)(Content&, int);
  const char* format = "yuv420p";
};

class MediaOrientation : public testing::TestWithParam<Container> {};

TEST_P(MediaOrientation, IsReadUpright) {
  const TempDir dir;
  const std::string name = GetParam().name;
  const bool is_video = !name.ends_with(".jpg") && !name.ends_with(".png") && !name.ends_with(".webp") &&
                        !name.ends_with(".avif");
  const std::string plain = dir / ("plain-" + name), tagged = dir / name;
  if (!make_file(plain, "testsrc2=size=66x50:rate=5:duration=" + std::string(is_video ? "0.6" : "0.2") +
                            ",format=" + GetParam().format))
    GTEST_SKIP() << "no encoder";
  const std::vector<Frame> stored = read_all(plain);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    Content file = load(plain);
    GetParam().tag(file, orientation);
    store(tagged, file);
    Reader reader(tagged);
    EXPECT_EQ(reader.info().size, orientation >= 5 ? (Size{50, 66}) : (Size{66, 50}));
    const std::vector<Frame> frames = read_all(reader);
    ASSERT_EQ(frames.size(), stored.size());
    for (std::size_t i = 0; i < frames.size(); ++i)
      expect_upright(to_gray(frames[i]), to_gray(stored[i]), orientation);
    EXPECT_EQ(reader.decode_errors(), 0);
    const Size size = frames[0].size();
    EXPECT_EQ(to_rgb(frames[0]).size(), static_cast<std::size_t>(size.width * size.height * 3));
  }
}

TEST_P(MediaOrientation, IsWrittenUprightWithoutTheTag) {
  const TempDir dir;
  const std::string name = GetParam().name;
  if (!make_file(dir / ("plain-" + name),
                 std::string("testsrc2=size=64x48:rate=5:duration=0.2,format=") + GetParam().format))
    GTEST_SKIP() << "no encoder";
  Content file = load(dir / ("plain-" + name));
  GetParam().tag(file, 6);
  store(dir / name, file);
  Reader reader(dir / name);
  const Frame frame = *reader.read();
  for (const char* written : {"out.png", "out.jpg", "out.mp4"}) {
    WriteOptions options;
    options.quality = 5;
    Writer writer(dir / written, reader.info(), options);
    writer.write(frame);
    writer.finish();
    const Frame back = *Reader(dir / written).read();
    ASSERT_EQ(back.size(), (Size{48, 64})) << written;
    // Testsrc2 has squares in pure colours, whose luma PNG's red, green and blue give only roughly.
    EXPECT_LT(mean_difference(back, frame), 30) << written;
    EXPECT_EQ(av_frame_get_side_data(picture_of(back).get(), AV_FRAME_DATA_DISPLAYMATRIX), nullptr)
        << written;
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, MediaOrientation,
                         testing::Values(Container{"a.jpg", tag_jpeg, "yuvj420p"},
                                         Container{"b.jpg", tag_jpeg, "yuvj422p"},
                                         Container{"a.png", tag_png, "rgb24"},
                                         Container{"gray.png", tag_png, "gray"},
                                         Container{"deep.png", tag_png, "rgb48be"},
                                         Container{"a.webp", tag_webp}, Container{"a.mp4", tag_mp4},
                                         Container{"a.mov", tag_mp4}, Container{"a.mkv", tag_matroska},
                                         Container{"a.webm", tag_matroska}, Container{"a.avif", tag_avif}),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(MediaTurn, PixelsThatAreNotSquareLieOnTheirSide) {
  const TempDir dir;
  make_clip(dir / "plain.mp4", "testsrc2=size=64x48:rate=5:duration=0.4,setsar=4/3,format=yuv420p");
  Content file = load(dir / "plain.mp4");
  tag_mp4(file, 8);
  store(dir / "a.mp4", file);
  Reader reader(dir / "a.mp4");
  EXPECT_EQ(reader.info().sample_aspect, (Rational{3, 4}));
}

TEST(MediaTurn, GoesToTheNearestQuarter) {
  const auto turn = [](std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    return turn_of_matrix(std::array<std::int32_t, 9>{a, b, 0, c, d, 0, 0, 0, 1 << 30});
  };
  EXPECT_EQ(turn(65536, 0, 0, 65536), Turn{});
  EXPECT_EQ(turn(0, 0, 0, 0), Turn{});
  EXPECT_EQ(turn(131072, 0, 0, 131072), Turn{});
  EXPECT_EQ(turn(64000, 9000, -9000, 64000), Turn{});
  EXPECT_EQ(turn(9000, 64000, -64000, 9000), turn_of_orientation(6));
  EXPECT_EQ(turn(std::numeric_limits<std::int32_t>::min(), 0, 0, std::numeric_limits<std::int32_t>::min()),
            turn_of_orientation(3));
}

// Damaged tags are no orientation, and nothing is read beyond the data.
TEST(MediaTurn, TagsThatMakeNoSenseAreUpright) {
  const auto orientation = [](const Content& bytes) {
    const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    return orientation_of_file(AV_CODEC_ID_TIFF, copy);
  };
  const Content whole = exif(6, true);
  EXPECT_EQ(orientation(whole), 6);
  EXPECT_EQ(orientation(exif(0, false)), 0);
  EXPECT_EQ(orientation(exif(9, false)), 1);
  EXPECT_EQ(orientation(exif(22, true)), 1);
  EXPECT_TRUE(turn_of_orientation(0).is_none());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    orientation({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
}

FramePtr random_picture(AVPixelFormat format, Size size) {
  FramePtr picture = make_picture(format, size.width, size.height);
  std::uint32_t state = 1;
  for (const AVBufferRef* buffer : picture->buf)
    for (std::size_t i = 0; buffer && i < buffer->size; ++i)
      buffer->data[i] = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return picture;
}

std::shared_ptr<const AVFrame> turned_quarter(const AVFrame& picture) {
  FramePtr copy(av_frame_clone(&picture));
  AVFrameSideData* const data =
      av_frame_new_side_data(copy.get(), AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(std::int32_t));
  const std::array<std::int32_t, 9> matrix{0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30};
  std::memcpy(data->data, matrix.data(), sizeof matrix);
  return upright(std::shared_ptr<const AVFrame>(std::move(copy)));
}

std::vector<std::uint8_t> bytes_of(const AVFrame& picture) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(av_image_get_buffer_size(format, picture.width, picture.height, 1)));
  av_image_copy_to_buffer(bytes.data(), static_cast<int>(bytes.size()), picture.data, picture.linesize,
                          format, picture.width, picture.height, 1);
  return bytes;
}

// Four quarters give the picture again, to the bit, unless its format had to be converted.
TEST(MediaTurn, MovesThePixelsOfEveryFormat) {
  int exact = 0;
  for (const AVPixFmtDescriptor* format = av_pix_fmt_desc_next(nullptr); format;
       format = av_pix_fmt_desc_next(format)) {
    const AVPixelFormat id = av_pix_fmt_desc_get_id(format);
    if ((format->flags & AV_PIX_FMT_FLAG_HWACCEL) || !sws_isSupportedInput(id)) continue;
    for (const Size size : {Size{12, 8}, Size{17, 9}}) {
      SCOPED_TRACE(format->name);
      const FramePtr original = random_picture(id, size);
      std::shared_ptr<const AVFrame> picture = turned_quarter(*original);
      EXPECT_EQ(picture->width, size.height);
      EXPECT_EQ(picture->height, size.width);
      EXPECT_EQ(picture->nb_side_data, 0);
      for (int i = 0; i < 3; ++i) picture = turned_quarter(*picture);
      if (picture->format != original->format) continue;
      EXPECT_EQ(bytes_of(*picture), bytes_of(*original));
      ++exact;
    }
  }
  EXPECT_GT(exact, 200);
}

}  // namespace
}  // namespace sightline::media
