#include "texture/tiles/jpeg_luma.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it before itself

#include <jpeglib.h>

namespace sightline::tiles {

namespace {

// One picture's decoder, for tables that one brings are not to be there for the next. libjpeg is C code and
// ends a call by a jump: between `setjmp` and what may jump, nothing has a destructor.
class JpegDecoder {
 public:
  JpegDecoder() {
    jpeg_.err = jpeg_std_error(&handlers_);
    handlers_.error_exit = on_error;
    handlers_.emit_message = on_message;
    jpeg_.client_data = this;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Whether the data is of a known kind.
  bool decode(std::span<const std::uint8_t> tables, std::span<const std::uint8_t> data,
              ImageView<std::uint8_t>& target) noexcept {
    volatile bool is_known = false;
    if (setjmp(failed_) == 0) {
      jpeg_create_decompress(&jpeg_);
      if (!tables.empty()) {
        jpeg_mem_src(&jpeg_, tables.data(), tables.size());
        jpeg_read_header(&jpeg_, FALSE);
      }
      jpeg_mem_src(&jpeg_, data.data(), data.size());
      jpeg_read_header(&jpeg_, TRUE);
      is_known = jpeg_.num_components == 3 && jpeg_.data_precision == 8 && !jpeg_has_multiple_scans(&jpeg_) &&
                 jpeg_.image_width == static_cast<JDIMENSION>(target.width()) &&
                 jpeg_.image_height == static_cast<JDIMENSION>(target.height());
      if (is_known) read_rows(target);
    }
    return is_known;
  }

  const char* error() const { return error_.data(); }
  const char* warning() const { return warning_.data(); }

 private:
  static JpegDecoder& of(j_common_ptr jpeg) { return *static_cast<JpegDecoder*>(jpeg->client_data); }

  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    JpegDecoder& decoder = of(jpeg);
    jpeg->err->format_message(jpeg, decoder.error_.data());
    std::longjmp(decoder.failed_, 1);
  }
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;  // no damage
    JpegDecoder& decoder = of(jpeg);
    if (decoder.warning_[0] == '\0') jpeg->err->format_message(jpeg, decoder.warning_.data());
  }

  void read_rows(ImageView<std::uint8_t>& target) {
    jpeg_.jpeg_color_space = JCS_YCbCr;  // whatever other markers say: the caller knows
    jpeg_.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&jpeg_);
    constexpr int kRows = 16;
    std::array<JSAMPROW, kRows> rows{};
    while (jpeg_.output_scanline < jpeg_.output_height) {
      const auto first = static_cast<int>(jpeg_.output_scanline);
      const int count = std::min(kRows, target.height() - first);
      for (int i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = target.row(first + i);
      jpeg_read_scanlines(&jpeg_, rows.data(), static_cast<JDIMENSION>(count));
    }
    jpeg_finish_decompress(&jpeg_);
  }

  using Text = std::array<char, JMSG_LENGTH_MAX>;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr handlers_{};
  std::jmp_buf failed_{};
  Text error_{};
  Text warning_{};
};

}  // namespace

JpegLumaOutcome decode_jpeg_luma(std::span<const std::uint8_t> tables, std::span<const std::uint8_t> data,
                                 ImageView<std::uint8_t> target) {
  JpegDecoder decoder;
  const bool is_known = decoder.decode(tables, data, target);
  return {is_known, decoder.error(), decoder.warning()};
}

}  // namespace sightline::tiles
