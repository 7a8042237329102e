#include "media/content_checks.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace sightline::media {
namespace {

constexpr std::size_t kMostExpanded = std::size_t{32} << 20;
constexpr std::size_t kMostTexts = 10'000;   // FFmpeg compares each with all others
constexpr std::size_t kLargestRatio = 1032;  // highest ratio of deflate

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};

std::size_t number(std::span<const std::uint8_t> bytes) {
  return std::size_t{bytes[0]} << 24 | std::size_t{bytes[1]} << 16 | std::size_t{bytes[2]} << 8 | bytes[3];
}

struct Chunks {
  std::vector<std::span<const std::uint8_t>> compressed;  ///< parts that FFmpeg expands
  std::size_t texts = 0;
};

/// Compressed parts are behind a name, a zero and the method.
Chunks chunks_of(std::span<const std::uint8_t> png) {
  constexpr std::size_t kFrame = 12;  // bytes of a chunk besides its data: length, type, checksum
  Chunks found;
  constexpr std::size_t kSignature = 8;
  if (png.size() >= kSignature && (png[0] == 0x89 || png[0] == 0x8A))
    png = png.subspan(kSignature);  // PNG, MNG
  while (png.size() >= kFrame) {
    const std::size_t length = number(png);
    if (length > png.size() - kFrame) break;
    const std::string_view type(reinterpret_cast<const char*>(png.data()) + 4, 4);
    const std::span data = png.subspan(8, length);
    const auto name_end = std::ranges::find(data, 0);
    if (type == "tEXt" || type == "zTXt" || type == "iTXt") ++found.texts;
    if ((type == "iCCP" || type == "zTXt") && data.end() - name_end > 2)
      found.compressed.push_back(data.subspan(static_cast<std::size_t>(name_end - data.begin()) + 2));
    png = png.subspan(kFrame + length);
  }
  return found;
}

}  // namespace

bool has_giant_chunks(std::span<const std::uint8_t> png) {
  const auto [chunks, texts] = chunks_of(png);
  if (texts > kMostTexts) return true;
  std::size_t compressed = 0;
  for (const auto& chunk : chunks) compressed += chunk.size();
  if (compressed <= kMostExpanded / kLargestRatio) return false;
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> inflate(libdeflate_alloc_decompressor());
  if (!inflate) throw std::bad_alloc();
  std::size_t left = kMostExpanded;
  const std::unique_ptr<std::uint8_t[]> room(new std::uint8_t[kMostExpanded]);
  for (const auto& chunk : chunks) {
    std::size_t expanded = 0;
    const libdeflate_result result =
        libdeflate_zlib_decompress(inflate.get(), chunk.data(), chunk.size(), room.get(), left, &expanded);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return true;
    if (result == LIBDEFLATE_SUCCESS) {
      left -= expanded;
    } else {  // damaged: FFmpeg expands the data before the damage
      const std::size_t most = std::min(left, chunk.size() * kLargestRatio);
      if (most == left) return true;
      left -= most;
    }
  }
  return false;
}

}  // namespace sightline::media
