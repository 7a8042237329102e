#include "drawing/canvas.hpp"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/utf8.hpp"

namespace sightline {
namespace {

struct FreeSurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
struct FreeContext {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using SurfacePtr = std::unique_ptr<cairo_surface_t, FreeSurface>;
using ContextPtr = std::unique_ptr<cairo_t, FreeContext>;

SurfacePtr make_surface(cairo_format_t format, int width, int height) {
  SurfacePtr surface(cairo_image_surface_create(format, width, height));
  if (fault::strikes(fault::Kind::allocate, "cairo_image_surface_create")) throw std::bad_alloc();
  if (const cairo_status_t status = cairo_surface_status(surface.get()); status != CAIRO_STATUS_SUCCESS)
    throw Error(ExitCode::failed, "cannot make a picture of " + std::to_string(width) + "x" +
                                      std::to_string(height) + " pixels (" + cairo_status_to_string(status) +
                                      ")");
  return surface;
}

void set_font(cairo_t* context, double size, FontWeight weight) {
  cairo_select_font_face(context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         weight == FontWeight::bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, size);
}

void set_color(cairo_t* context, const Color& color) {
  cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha);
}

}  // namespace

struct Canvas::Impl {
  SurfacePtr surface;
  ContextPtr context;

  // `pixel(x, y)` gives 0x00RRGGBB.
  template <typename Pixel>
  void draw(Size size, double x, double y, double width, double height, Pixel pixel) {
    if (size.width <= 0 || size.height <= 0 || width <= 0 || height <= 0) return;
    const SurfacePtr image = make_surface(CAIRO_FORMAT_RGB24, size.width, size.height);
    cairo_surface_flush(image.get());
    unsigned char* data = cairo_image_surface_get_data(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    for (int row = 0; row < size.height; ++row)
      for (int column = 0; column < size.width; ++column) {
        const std::uint32_t value = pixel(column, row);
        std::memcpy(
            data + static_cast<std::ptrdiff_t>(row) * stride + 4 * static_cast<std::ptrdiff_t>(column),
            &value, 4);
      }
    cairo_surface_mark_dirty(image.get());
    cairo_t* c = context.get();
    cairo_save(c);
    cairo_rectangle(c, x, y, width, height);
    cairo_clip(c);
    cairo_translate(c, x, y);
    cairo_scale(c, width / size.width, height / size.height);
    cairo_set_source_surface(c, image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c), CAIRO_FILTER_GOOD);
    cairo_pattern_set_extend(cairo_get_source(c), CAIRO_EXTEND_PAD);  // no fading towards the edges
    cairo_paint(c);
    cairo_restore(c);
  }
};

Canvas::Canvas(int width, int height, const Color& background) : impl_(std::make_unique<Impl>()) {
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    throw Error(ExitCode::failed,
                "a picture cannot have " + std::to_string(width) + "x" + std::to_string(height) + " pixels");
  impl_->surface = make_surface(CAIRO_FORMAT_RGB24, width, height);
  impl_->context.reset(cairo_create(impl_->surface.get()));
  set_color(impl_->context.get(), background);
  cairo_paint(impl_->context.get());
}

Canvas::~Canvas() = default;
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;

int Canvas::width() const {
  return cairo_image_surface_get_width(impl_->surface.get());
}
int Canvas::height() const {
  return cairo_image_surface_get_height(impl_->surface.get());
}

void Canvas::fill_rectangle(double x, double y, double width, double height, const Color& color) {
  set_color(impl_->context.get(), color);
  cairo_rectangle(impl_->context.get(), x, y, width, height);
  cairo_fill(impl_->context.get());
}

void Canvas::stroke_rectangle(double x, double y, double width, double height, const Color& color,
                              double line_width) {
  set_color(impl_->context.get(), color);
  cairo_set_line_width(impl_->context.get(), line_width);
  cairo_set_line_join(impl_->context.get(), CAIRO_LINE_JOIN_MITER);
  cairo_rectangle(impl_->context.get(), x, y, width, height);
  cairo_stroke(impl_->context.get());
}

void Canvas::line(double x1, double y1, double x2, double y2, const Color& color, double line_width) {
  set_color(impl_->context.get(), color);
  cairo_set_line_width(impl_->context.get(), line_width);
  cairo_move_to(impl_->context.get(), x1, y1);
  cairo_line_to(impl_->context.get(), x2, y2);
  cairo_stroke(impl_->context.get());
}

void Canvas::text(double x, double y, const std::string& text, double size, const Color& color, Align align,
                  FontWeight weight) {
  if (align != Align::left) x -= text_width(text, size, weight) * (align == Align::center ? 0.5 : 1);
  set_font(impl_->context.get(), size, weight);
  set_color(impl_->context.get(), color);
  cairo_move_to(impl_->context.get(), x, y);
  cairo_show_text(impl_->context.get(), printable(text).c_str());
}

double Canvas::text_width(const std::string& text, double size, FontWeight weight) const {
  set_font(impl_->context.get(), size, weight);
  cairo_text_extents_t extents;
  cairo_text_extents(impl_->context.get(), printable(text).c_str(), &extents);
  return extents.x_advance;
}

void Canvas::draw(GrayView image, double x, double y, double width, double height) {
  impl_->draw(image.size(), x, y, width, height,
              [&](int column, int row) { return image.at(column, row) * std::uint32_t{0x010101}; });
}

void Canvas::draw_rgb(const std::uint8_t* rgb, Size size, double x, double y, double width, double height) {
  impl_->draw(size, x, y, width, height, [&](int column, int row) {
    const std::uint8_t* p = rgb + (static_cast<std::ptrdiff_t>(row) * size.width + column) * 3;
    return static_cast<std::uint32_t>(p[0] << 16 | p[1] << 8 | p[2]);
  });
}

std::string Canvas::png() const {
  const auto put = [](void* to, const unsigned char* bytes, unsigned size) {
    try {
      static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
      return CAIRO_STATUS_SUCCESS;
    } catch (const std::bad_alloc&) {
      return CAIRO_STATUS_NO_MEMORY;
    }
  };
  std::string bytes;
  cairo_status_t status = cairo_status(impl_->context.get());
  if (status == CAIRO_STATUS_SUCCESS) {
    cairo_surface_flush(impl_->surface.get());
    status = cairo_surface_write_to_png_stream(impl_->surface.get(), put, &bytes);
  }
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  if (status == CAIRO_STATUS_SUCCESS) return bytes;
  throw Error(ExitCode::failed,
              std::string("cannot draw the picture (") + cairo_status_to_string(status) + ")");
}

void Canvas::write_png(const std::string& path) const {
  write_whole(path, png(), "picture");
}

TextMask make_text_mask(const std::string& text, double size, FontWeight weight) {
  const std::string shown = printable(text);
  const SurfacePtr probe = make_surface(CAIRO_FORMAT_A8, 1, 1);
  const ContextPtr measure(cairo_create(probe.get()));
  set_font(measure.get(), size, weight);
  cairo_text_extents_t extents;
  cairo_text_extents(measure.get(), shown.c_str(), &extents);

  TextMask mask;
  mask.advance = extents.x_advance;
  if (extents.width <= 0 || extents.height <= 0) return mask;
  // One pixel more on each side than the extents say: antialiasing spills over.
  mask.left = static_cast<int>(std::floor(extents.x_bearing)) - 1;
  mask.top = static_cast<int>(std::floor(extents.y_bearing)) - 1;
  const auto side = [](double end, int start) {
    return static_cast<int>(std::min(std::ceil(end) + 1 - start, static_cast<double>(Canvas::kMaxSide)));
  };
  const int width = side(extents.x_bearing + extents.width, mask.left);
  const int height = side(extents.y_bearing + extents.height, mask.top);
  const SurfacePtr surface = make_surface(CAIRO_FORMAT_A8, width, height);
  const ContextPtr context(cairo_create(surface.get()));
  set_font(context.get(), size, weight);
  cairo_set_source_rgba(context.get(), 1, 1, 1, 1);
  cairo_move_to(context.get(), -mask.left, -mask.top);
  cairo_show_text(context.get(), shown.c_str());
  cairo_surface_flush(surface.get());
  mask.coverage.resize(width, height);
  const unsigned char* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < height; ++y)
    std::memcpy(mask.coverage.view().row(y), data + static_cast<std::ptrdiff_t>(y) * stride,
                static_cast<std::size_t>(width));
  return mask;
}

}  // namespace sightline
