#pragma once
/// Draws diagrams: rectangles, lines, text, images, written as PNG.

#include <cstdint>
#include <memory>
#include <string>

#include "image/view.hpp"

namespace sightline {

/// Red, green, blue and opacity, each 0..1.
struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
  double alpha = 1;
};

/// Colours of picture sheets: background and text.
inline constexpr Color kSheetPaper{0.078, 0.086, 0.102, 1};
inline constexpr Color kSheetInk{0.92, 0.93, 0.95, 1};

/// Horizontal alignment of a string relative to its point.
enum class Align { left, center, right };

enum class FontWeight { normal, bold };

/// A picture to draw on. Coordinates in pixels from the top left corner, y downwards; a coordinate of n is
/// the edge between pixels n - 1 and n. Drawing is clipped.
///
/// Owns its pixels. Thread-safety: one thread at a time; different canvases are independent. Errors: Error
/// (ExitCode::failed) of memory or the file system.
class Canvas {
 public:
  static constexpr int kMaxSide = 32767;

  /// @throws Error (failed) for sizes outside 1..kMaxSide
  Canvas(int width, int height, const Color& background);
  ~Canvas();
  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;

  int width() const;
  int height() const;

  void fill_rectangle(double x, double y, double width, double height, const Color& color);
  /// The line is centred on the rectangle's edge.
  void stroke_rectangle(double x, double y, double width, double height, const Color& color,
                        double line_width = 1);
  void line(double x1, double y1, double x2, double y2, const Color& color, double line_width = 1);
  /// Text in DejaVu Sans, `size` pixels high (from the top of an accent to the bottom of a descender,
  /// roughly), its baseline at y. Bytes that are no UTF-8 show as question marks.
  void text(double x, double y, const std::string& text, double size, const Color& color,
            Align align = Align::left, FontWeight weight = FontWeight::normal);
  /// Advance width of a text in pixels.
  double text_width(const std::string& text, double size, FontWeight weight = FontWeight::normal) const;

  /// Draws an image scaled into the rectangle.
  void draw(GrayView image, double x, double y, double width, double height);
  /// `rgb`: 3 bytes a pixel, row after row without padding.
  void draw_rgb(const std::uint8_t* rgb, Size size, double x, double y, double width, double height);

  /// A PNG file. @throws Error (failed)
  std::string png() const;
  /// @throws Error (failed) saying path and reason
  void write_png(const std::string& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Text as coverage, 0 (none) to 255 (ink), for blending into video.
struct TextMask {
  Image<std::uint8_t> coverage;  ///< may be empty (for a space, say)
  int left = 0;                  ///< x of the mask's left edge from the pen, in pixels
  int top = 0;                   ///< y of the mask's top edge from the baseline, negative upwards
  double advance = 0;            ///< pen movement
};

/// Rasterises text in DejaVu Sans, cut off at Canvas::kMaxSide. Thread-safety: any thread.
TextMask make_text_mask(const std::string& text, double size, FontWeight weight = FontWeight::normal);

}  // namespace sightline
