#include "texture/tiles/tiff_tags.hpp"

#include <tiff.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <set>

#include "base/error.hpp"

namespace sightline::tiles {

namespace {

constexpr std::uint64_t kMostOfDirectory = std::uint64_t{512} << 20;
constexpr std::uint64_t kMostShared = std::uint64_t{256} << 20;  // limit of all directories, beyond the
                                                                 // file's size
constexpr std::size_t kMostDirectories = 65535;
constexpr std::uint64_t kMostEntries = 4096;  // libtiff refuses directories that have more

/// Bytes of a value in memory.
std::uint64_t value_bytes(std::uint64_t tag, std::uint64_t type) {
  switch (tag) {
    case TIFFTAG_STRIPOFFSETS:
    case TIFFTAG_STRIPBYTECOUNTS:
    case TIFFTAG_TILEOFFSETS:
    case TIFFTAG_TILEBYTECOUNTS:
      return 8;
    default:
      break;
  }
  constexpr std::array<std::uint8_t, 19> kBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < kBytes.size() ? kBytes[type] : 0;
}

class Walk {
 public:
  explicit Walk(const std::filesystem::path& file) : stream_(file, std::ios::binary) {
    std::error_code ignored;
    size_ = std::filesystem::file_size(file, ignored);
    if (ignored) size_ = 0;
  }

  /// False where a limit is passed.
  bool is_within_limits() {
    std::uint64_t offset = first_directory();
    std::set<std::uint64_t> seen;
    std::uint64_t all = 0;
    while (offset != 0 && seen.size() < kMostDirectories && seen.insert(offset).second) {
      std::uint64_t next = 0;
      const std::uint64_t bytes = add_directory(offset, next);
      all += bytes;
      if (bytes > kMostOfDirectory || all > std::max(kMostShared, size_)) return false;
      offset = next;
    }
    return true;
  }

 private:
  std::uint64_t first_directory() {
    is_big_endian_ = number(0, 2) == 0x4D4D;  // "MM"; reads the same in both orders
    is_big_ = number(2, 2) == 43;
    return is_big_ ? number(8, 8) : number(4, 4);
  }

  std::uint64_t add_directory(std::uint64_t offset, std::uint64_t& next) {
    const std::uint64_t entries = is_big_ ? number(offset, 8) : number(offset, 2);
    if (!stream_ || entries > kMostEntries) return 0;
    const std::uint64_t begin = offset + (is_big_ ? 8 : 2);
    const std::uint64_t step = is_big_ ? 20 : 12;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < entries; ++i) bytes += bytes_of_entry(begin + i * step);
    next = number(begin + entries * step, is_big_ ? 8 : 4);
    if (!stream_) next = 0;
    return bytes;
  }

  std::uint64_t bytes_of_entry(std::uint64_t offset) {
    const std::uint64_t each = value_bytes(number(offset, 2), number(offset + 2, 2));
    const std::uint64_t count = is_big_ ? number(offset + 4, 8) : number(offset + 4, 4);
    // Tags beyond the file's end are not read.
    return each * std::min(count, size_);
  }

  /// Zero behind the end of the file.
  std::uint64_t number(std::uint64_t offset, std::size_t bytes) {
    std::array<unsigned char, 8> raw{};
    if (offset > size_) stream_.setstate(std::ios::failbit);
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(bytes));
    if (!stream_) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value |= std::uint64_t{raw[is_big_endian_ ? bytes - 1 - i : i]} << (8 * i);
    return value;
  }

  std::ifstream stream_;
  std::uint64_t size_ = 0;
  bool is_big_ = false;
  bool is_big_endian_ = false;
};

}  // namespace

void check_tag_sizes(const std::filesystem::path& file) {
  if (!Walk(file).is_within_limits())
    throw Error(ExitCode::input, "'" + file.string() + "' has tags of more than 512 MiB",
                "convert it: vips tiffsave '" + file.string() + "' converted.tif --keep none");
}

}  // namespace sightline::tiles
