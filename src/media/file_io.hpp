#pragma once
/// Internal to src/media: an open file as FFmpeg reads or writes it, which would open it by its name.

#include <cstdint>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// The file is read or written from its beginning, where it has one to go to. Thread-safety: one thread at a
/// time.
class FileIo {
 public:
  enum class Access { read, write };
  /// @param descriptor  stays open, and its owner's
  FileIo(int descriptor, Access access);
  FileIo(const FileIo&) = delete;
  FileIo& operator=(const FileIo&) = delete;

  /// For AVFormatContext::pb; with AVFMT_FLAG_CUSTOM_IO, FFmpeg leaves it to its owner.
  AVIOContext* context() const { return context_.get(); }

 private:
  static int read(void* self, std::uint8_t* bytes, int size) noexcept;
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  static int write(void* self, const std::uint8_t* bytes, int size) noexcept;
#else
  static int write(void* self, std::uint8_t* bytes, int size) noexcept;
#endif
  static std::int64_t seek(void* self, std::int64_t offset, int whence) noexcept;

  const int descriptor_;
  const bool is_seekable_;
  std::int64_t position_ = 0;
  IoPtr context_;
};

}  // namespace sightline::media
