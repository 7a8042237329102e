#include "media/content_checks.hpp"

#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it before itself

#include <jpeglib.h>

#include <jerror.h>

namespace sightline::media {
namespace {

// libjpeg is C code and ends a call by a jump: between `setjmp` and what may jump, nothing has a destructor.
class JpegCheck {
 public:
  JpegCheck() {
    jpeg_.err = jpeg_std_error(&handlers_);
    handlers_.error_exit = on_error;
    handlers_.emit_message = on_message;
    jpeg_.client_data = this;
  }
  ~JpegCheck() { jpeg_destroy_decompress(&jpeg_); }
  JpegCheck(const JpegCheck&) = delete;
  JpegCheck& operator=(const JpegCheck&) = delete;

  bool is_damaged(std::span<const std::uint8_t> content) noexcept {
    volatile bool has_begun = false;
    if (setjmp(failed_) != 0) return has_begun && is_damaged_;
    jpeg_create_decompress(&jpeg_);
    jpeg_mem_src(&jpeg_, content.data(), content.size());
    jpeg_read_header(&jpeg_, TRUE);
    constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;  // the decoder keeps 2 bytes a sample
    if (std::int64_t{jpeg_.image_width} * jpeg_.image_height > kMostPixels) return false;
    has_begun = true;
    jpeg_read_coefficients(&jpeg_);
    return is_damaged_;
  }

 private:
  static JpegCheck& of(j_common_ptr jpeg) { return *static_cast<JpegCheck*>(jpeg->client_data); }

  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    // Kinds that are not read, and no memory, are no damage.
    const int code = jpeg->err->msg_code;
    JpegCheck& check = of(jpeg);
    if (code != JERR_SOF_UNSUPPORTED && code != JERR_BAD_PRECISION && code != JERR_OUT_OF_MEMORY &&
        code != JERR_NOT_COMPILED && code != JERR_ARITH_NOTIMPL)
      check.is_damaged_ = true;
    std::longjmp(check.failed_, 1);
  }
  static void on_message(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR && code != JWRN_BOGUS_ICC)
      of(jpeg).is_damaged_ = true;
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr handlers_{};
  std::jmp_buf failed_{};
  bool is_damaged_ = false;
};

}  // namespace

bool is_jpeg_damaged(std::span<const std::uint8_t> content) {
  return JpegCheck().is_damaged(content);
}

}  // namespace sightline::media
