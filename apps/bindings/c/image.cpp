#include "apps/bindings/c/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "apps/bindings/c/call.hpp"
#include "image/colour.hpp"
#include "media/planes.hpp"

namespace sightline::api {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;  // as ReadOptions::max_pixels
constexpr std::size_t kSmallestImage = offsetof(sl_image, time);
constexpr int kRowsOfHd = 720;  // from here on, video is BT.709

struct FormatInfo {
  sl_format format;
  const char* name;
  int planes;
  int bytes;  // of a pixel in the first plane
};
constexpr FormatInfo kFormats[] = {{SL_GRAY8, "GRAY8", 1, 1},   {SL_GRAY16, "GRAY16", 1, 2},
                                   {SL_BGR24, "BGR24", 1, 3},   {SL_RGB24, "RGB24", 1, 3},
                                   {SL_BGRA32, "BGRA32", 1, 4}, {SL_RGBA32, "RGBA32", 1, 4},
                                   {SL_NV12, "NV12", 2, 1},     {SL_I420, "I420", 3, 1}};

const FormatInfo* info_of(std::uint32_t format) {
  const auto* const found = std::ranges::find_if(
      kFormats, [&](const FormatInfo& one) { return static_cast<std::uint32_t>(one.format) == format; });
  return found == std::end(kFormats) ? nullptr : found;
}

std::int64_t row_bytes(const sl_image& image, const FormatInfo& format, int plane) {
  if (plane == 0) return std::int64_t{image.width} * format.bytes;
  const std::int64_t half = (std::int64_t{image.width} + 1) / 2;
  return format.format == SL_NV12 ? 2 * half : half;
}

void check(const sl_image& image, const std::string& where) {
  const FormatInfo* const format = info_of(image.format);
  if (!format) {
    throw CallError{SL_E_ARGUMENT, fmt::format("format {} is not known", image.format), where,
                    "use one of enum sl_format, such as SL_GRAY8 or SL_BGR24"};
  }
  if (image.width < 1 || image.height < 1) {
    throw CallError{SL_E_ARGUMENT, fmt::format("a size of {}x{} pixels", image.width, image.height), where,
                    "give a width and a height of at least 1"};
  }
  if (std::int64_t{image.width} * image.height > kMostPixels) {
    throw CallError{SL_E_LIMIT,
                    fmt::format("{}x{} pixels, more than {}", image.width, image.height, kMostPixels), where,
                    "search parts of the picture"};
  }
  if (!std::isfinite(image.time))
    throw CallError{SL_E_ARGUMENT, "the time is not a finite number", where, "give seconds, or 0"};
  for (int i = 0; i < format->planes; ++i) {
    if (!image.plane[i])
      throw CallError{SL_E_ARGUMENT, fmt::format("plane {} of {} is NULL", i, format->name), where};
    const std::int64_t bytes = row_bytes(image, *format, i);
    if (image.height > 1 && std::abs(static_cast<std::int64_t>(image.stride[i])) < bytes) {
      throw CallError{SL_E_ARGUMENT,
                      fmt::format("the stride of plane {} is {} bytes, and a row of {} has {}", i,
                                  image.stride[i], format->name, bytes),
                      where, "give the distance of two rows in bytes"};
    }
  }
}

// Pixels of the caller, which outlive the search.
class BorrowedPixels final : public FrameStorage {
 public:
  explicit BorrowedPixels(const PictureView& view, LumaRange range = LumaRange::full)
      : view_(view), range_(range) {}
  PictureView view() const override { return view_; }
  LumaRange luma_range() const override { return range_; }

 private:
  PictureView view_;
  LumaRange range_;
};

// Samples of 16 bits rounded to the nearest of 8 bits, as in src/media/exact_samples.hpp.
std::shared_ptr<const Image<std::uint8_t>> rounded(const sl_image& image) {
  auto gray = std::make_shared<Image<std::uint8_t>>(image.width, image.height);
  std::vector<std::uint16_t> row(static_cast<std::size_t>(image.width));
  for (int y = 0; y < image.height; ++y) {
    // Rows need not be aligned.
    std::memcpy(row.data(), static_cast<const std::byte*>(image.plane[0]) + y * image.stride[0],
                2 * row.size());
    std::ranges::transform(row, gray->view().row(y), [](std::uint16_t value) {
      return static_cast<std::uint8_t>((value * 255u + 32767u) / 65535u);
    });
  }
  return gray;
}

const std::uint8_t* plane_of(const sl_image& image, int plane) {
  return static_cast<const std::uint8_t*>(image.plane[plane]);
}

PictureView view_of(const sl_image& image) {
  const auto packed = [&](PackedFormat format) {
    return PictureView(PackedView{plane_of(image, 0), image.width, image.height, image.stride[0], format});
  };
  const GrayView luma(plane_of(image, 0), image.width, image.height, image.stride[0]);
  ChromaView chroma;
  chroma.u = plane_of(image, 1);
  chroma.u_stride = image.stride[1];
  chroma.weights = yuv_weights(image.height >= kRowsOfHd, false);
  switch (static_cast<sl_format>(image.format)) {
    case SL_BGR24:
      return packed(PackedFormat::bgr24);
    case SL_RGB24:
      return packed(PackedFormat::rgb24);
    case SL_BGRA32:
      return packed(PackedFormat::bgra);
    case SL_RGBA32:
      return packed(PackedFormat::rgba);
    case SL_NV12:
      chroma.v = chroma.u + 1;
      chroma.v_stride = chroma.u_stride;
      chroma.step = 2;
      return {luma, chroma};
    case SL_I420:
      chroma.v = plane_of(image, 2);
      chroma.v_stride = image.stride[2];
      return {luma, chroma};
    case SL_GRAY8:
    case SL_GRAY16:
      break;
  }
  return luma;
}

void swap_red_and_blue(const std::uint8_t* from, int step, int width, std::uint8_t* to) {
  for (int x = 0; x < width; ++x, from += step, to += 3) {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
  }
}

void copy_colours(const std::uint8_t* from, int step, int width, std::uint8_t* to) {
  for (int x = 0; x < width; ++x, from += step, to += 3) std::memcpy(to, from, 3);
}

}  // namespace

Images::Images(const sl_image* images, std::size_t count)
    : first_(reinterpret_cast<const std::byte*>(images)), stride_(0), count_(count) {
  if (count == 0) return;
  stride_ = checked(images, "images").struct_size;
  const auto where = [&](std::size_t index) { return fmt::format("image {}", index + 1); };
  if (stride_ < kSmallestImage || stride_ % alignof(sl_image) != 0) {
    throw CallError{SL_E_ARGUMENT, fmt::format("struct_size is {}", stride_), where(0),
                    "set struct_size to sizeof(sl_image)"};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const sl_image image = at(i);
    if (image.struct_size != stride_)
      throw CallError{SL_E_ARGUMENT, "struct_size differs from that of the first image", where(i)};
    const std::byte* const end = first_ + (i + 1) * stride_;
    const std::byte* const unknown = first_ + i * stride_ + std::min(stride_, sizeof(sl_image));
    if (std::any_of(unknown, end, [](std::byte one) { return one != std::byte{0}; }))
      throw CallError{SL_E_ARGUMENT, "the image has members that this version does not know", where(i),
                      "install the version of libsightline that the program was built for"};
    check(image, where(i));
  }
}

sl_image Images::at(std::size_t index) const {
  sl_image image{};
  std::memcpy(&image, first_ + index * stride_, std::min(stride_, sizeof image));
  return image;
}

std::int64_t Images::to_convert() const {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < count_; ++i) number += at(i).format == SL_GRAY16;
  return number;
}

Frame Images::frame(std::size_t index) const {
  const sl_image image = at(index);
  const auto number = static_cast<std::int64_t>(index) + 1;
  if (image.format == SL_GRAY16) return frame_of_gray(rounded(image), number, image.time);
  const bool is_video = image.format == SL_NV12 || image.format == SL_I420;
  return Frame(
      std::make_shared<BorrowedPixels>(view_of(image), is_video ? LumaRange::limited : LumaRange::full),
      number, image.time);
}

sl_image image_of(const Frame& frame) {
  if (frame.empty()) throw CallError{SL_E_INPUT, "the frame has no pixels", frame.name()};
  const PictureView view = frame.view();
  sl_image image{};
  image.width = view.width();
  image.height = view.height();
  image.time = frame.time();
  const auto set = [&](int plane, const std::uint8_t* data, std::ptrdiff_t stride) {
    image.plane[plane] = data;
    image.stride[plane] = stride;
  };
  if (!view.is_gray()) {
    const PackedView& colour = view.colour();
    constexpr sl_format kPacked[] = {SL_RGB24, SL_BGR24, SL_RGBA32, SL_BGRA32};
    image.format = kPacked[static_cast<std::size_t>(colour.format)];
    set(0, colour.data, colour.stride);
    return image;
  }
  image.format = SL_GRAY8;
  set(0, view.gray().data(), view.gray().stride());
  const std::optional<ChromaView>& chroma = view.chroma();
  if (!chroma || chroma->x != 0 || chroma->y != 0 || chroma->shift_x != 1 || chroma->shift_y != 1)
    return image;
  if (chroma->step == 2 && chroma->v == chroma->u + 1) {
    image.format = SL_NV12;
    set(1, chroma->u, chroma->u_stride);
  } else if (chroma->step == 1) {
    image.format = SL_I420;
    set(1, chroma->u, chroma->u_stride);
    set(2, chroma->v, chroma->v_stride);
  }
  return image;
}

void write_bgr(const Frame& frame, std::uint8_t* to, std::ptrdiff_t stride) {
  if (frame.empty()) throw CallError{SL_E_INPUT, "the frame has no pixels", frame.name()};
  using media::PlaneKind;
  media::PlaneStore scratch;
  const media::DisplayPlanes planes = media::planes_of(frame, scratch);
  const auto [width, height] = planes.size;
  const std::size_t half = static_cast<std::size_t>(width + 1) / 2;
  const bool is_nv12 = planes.kind == PlaneKind::nv12;
  const YuvWeights weights =
      yuv_weights(planes.matrix == media::YuvMatrix::bt709, planes.range == LumaRange::full);
  std::vector<std::uint8_t> bgra(static_cast<std::size_t>(width) * 4 + Image<std::uint8_t>::kSlack);
  std::vector<std::uint8_t> u(half + Image<std::uint8_t>::kSlack), v(u.size());
  for (int y = 0; y < height; ++y, to += stride) {
    const std::uint8_t* const row = planes.data[0] + y * planes.stride[0];
    switch (planes.kind) {
      case PlaneKind::rgb24:
        swap_red_and_blue(row, 3, width, to);
        continue;
      case PlaneKind::rgba:
        swap_red_and_blue(row, 4, width, to);
        continue;
      case PlaneKind::bgr24:
        copy_colours(row, 3, width, to);
        continue;
      case PlaneKind::bgra:
        copy_colours(row, 4, width, to);
        continue;
      case PlaneKind::i420:
      case PlaneKind::nv12:
        break;
    }
    const std::uint8_t* const first = planes.data[1] + y / 2 * planes.stride[1];
    const std::uint8_t* second = is_nv12 ? nullptr : planes.data[2] + y / 2 * planes.stride[2];
    if (is_nv12) {
      for (std::size_t x = 0; x < half; ++x) {
        u[x] = first[2 * x];
        v[x] = first[2 * x + 1];
      }
      second = v.data();
    }
    yuv_to_bgra(row, is_nv12 ? u.data() : first, second, width, weights, bgra.data());
    copy_colours(bgra.data(), 4, width, to);
  }
}

}  // namespace sightline::api

using namespace sightline::api;

sl_status sl_frame_image(const sl_frame* frame, sl_image* image) {
  return guarded(nullptr, [&] {
    const std::uint32_t size = checked(image, "image").struct_size;
    if (size < kSmallestImage) throw CallError{SL_E_ARGUMENT, "struct_size is too small"};
    sl_image all = image_of(checked(frame, "frame").frame);
    all.struct_size = size;
    std::memcpy(image, &all, std::min<std::size_t>(size, sizeof all));
  });
}

sl_status sl_frame_bgr(const sl_frame* frame, void* to, ptrdiff_t stride, sl_error* error) {
  return guarded(error, [&] {
    const sightline::Frame& from = checked(frame, "frame").frame;
    checked(static_cast<std::uint8_t*>(to), "to");
    if (std::abs(stride) < std::ptrdiff_t{3} * from.size().width) {
      throw CallError{SL_E_ARGUMENT,
                      fmt::format("the stride is {} bytes, and a row has {}", stride, 3 * from.size().width)};
    }
    write_bgr(from, static_cast<std::uint8_t*>(to), stride);
  });
}

void sl_frame_free(sl_frame* frame) {
  if (!is_forked()) delete frame;  // the decoder's memory may be locked by a thread that is not here
}
