#include "media/content_checks.hpp"

#include <algorithm>
#include <string_view>

namespace sightline::media {
namespace {

std::string_view head_text(std::span<const std::uint8_t> content) {
  constexpr std::size_t kHead = 1 << 16;
  return {reinterpret_cast<const char*>(content.data()), std::min(content.size(), kHead)};
}

std::string_view part(std::string_view text, std::size_t from, std::size_t count) {
  return from < text.size() ? text.substr(from, count) : std::string_view();
}

/// Marker of a JPEG's frame start, or of arithmetic coding; 0: none.
std::uint8_t jpeg_frame(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  for (std::size_t at = 2; at + 4 <= text.size() && byte(at) == 0xFF;) {
    const std::uint8_t code = byte(at + 1);
    if (code == 0xFF) {
      ++at;
      continue;
    }
    if (code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8) return code;
    at += std::size_t{2} + (std::size_t{byte(at + 2)} << 8 | byte(at + 3));
  }
  return 0;
}

std::optional<Unsupported> unsupported_jpeg(std::string_view text) {
  const std::uint8_t frame = jpeg_frame(text);
  if (frame >= 0xC9)
    return Unsupported{"a JPEG with arithmetic coding", "convert it: jpegtran in.jpg > out.jpg"};
  if (frame >= 0xC5) return Unsupported{"a hierarchical JPEG", "convert it to an ordinary JPEG or PNG"};
  return std::nullopt;
}

std::optional<Unsupported> unsupported_iso_picture(std::string_view text) {
  const std::string_view brand = part(text, 8, 4);
  if (brand == "crx ")
    return Unsupported{"a camera's raw picture", "convert it to a TIFF or JPEG with the camera's software"};
  constexpr std::string_view kBrands[] = {"avif", "avis", "heic", "heix", "heim",
                                          "heis", "mif1", "msf1", "miaf"};
  if (std::ranges::find(kBrands, brand) == std::end(kBrands)) return std::nullopt;
  for (const std::string_view item : {"grid", "iovl"}) {
    if (text.find(item) != std::string_view::npos)
      return Unsupported{"an AVIF or HEIC picture of several tiles",
                         "convert it: avifdec in.avif out.png, or heif-convert in.heic out.png"};
  }
  if (text.find("hvc1") == std::string_view::npos) return std::nullopt;
  return Unsupported{"a HEIC picture", "convert it: heif-convert in.heic out.png"};
}

}  // namespace

std::optional<Unsupported> unsupported_kind(std::span<const std::uint8_t> content) {
  using namespace std::string_view_literals;
  const std::string_view text = head_text(content);
  constexpr std::size_t kFlags = 20;
  constexpr int kAnimated = 2;
  if (text.starts_with("\xff\xd8"sv)) return unsupported_jpeg(text);
  if (part(text, 4, 4) == "ftyp"sv) return unsupported_iso_picture(text);
  if (part(text, 8, 8) == "WEBPVP8X"sv && text.size() > kFlags && (text[kFlags] & kAnimated))
    return Unsupported{"an animated WebP",
                       "convert it to a GIF, or one of its pictures to PNG: webpmux, dwebp"};
  if (text.starts_with("\xff\x0a"sv) || part(text, 4, 4) == "JXL "sv)
    return Unsupported{"a JPEG XL picture", "convert it: djxl in.jxl out.png"};
  if (text.starts_with("II\x2b\0"sv) || text.starts_with("MM\0\x2b"sv))
    return Unsupported{"a BigTIFF that is not a local file", "store it in a file first"};
  if (part(text, 128, 4) == "DICM"sv)
    return Unsupported{"a DICOM picture", "convert it: dcmj2pnm --write-png in.dcm out.png"};
  if (text.starts_with("%PDF"sv))
    return Unsupported{"a PDF document", "convert its pages: pdftoppm in.pdf page"};
  return std::nullopt;
}

}  // namespace sightline::media
