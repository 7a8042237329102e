#include "media/file_io.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace sightline::media {

FileIo::FileIo(int descriptor, Access access)
    : descriptor_(descriptor), is_seekable_(::lseek(descriptor, 0, SEEK_CUR) >= 0) {
  const bool writes = access == Access::write;
  context_ = make_io(1 << 16, writes, this, writes ? nullptr : read, writes ? write : nullptr,
                     is_seekable_ ? seek : nullptr);
}

int FileIo::read(void* self, std::uint8_t* bytes, int size) noexcept {
  FileIo& io = *static_cast<FileIo*>(self);
  ssize_t done = 0;
  do {
    done = ::pread(io.descriptor_, bytes, static_cast<std::size_t>(size), io.position_);
  } while (done < 0 && errno == EINTR);
  if (done < 0) return AVERROR(errno);
  io.position_ += done;
  return done == 0 ? AVERROR_EOF : static_cast<int>(done);
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
int FileIo::write(void* self, const std::uint8_t* bytes, int size) noexcept {
#else
int FileIo::write(void* self, std::uint8_t* bytes, int size) noexcept {
#endif
  FileIo& io = *static_cast<FileIo*>(self);
  for (int done = 0; done < size;) {
    const auto rest = static_cast<std::size_t>(size - done);
    const ssize_t some = io.is_seekable_ ? ::pwrite(io.descriptor_, bytes + done, rest, io.position_)
                                         : ::write(io.descriptor_, bytes + done, rest);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return some == 0 ? AVERROR(EIO) : AVERROR(errno);
    done += static_cast<int>(some);
    io.position_ += some;
  }
  return size;
}

std::int64_t FileIo::seek(void* self, std::int64_t offset, int whence) noexcept {
  FileIo& io = *static_cast<FileIo*>(self);
  struct stat status {};
  const bool needs_size = (whence & AVSEEK_SIZE) != 0 || (whence & ~AVSEEK_FORCE) == SEEK_END;
  if (needs_size && ::fstat(io.descriptor_, &status) != 0) return AVERROR(errno);
  if ((whence & AVSEEK_SIZE) != 0) return S_ISREG(status.st_mode) ? status.st_size : AVERROR(ENOSYS);
  const int from = whence & ~AVSEEK_FORCE;
  const std::int64_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? io.position_ : status.st_size;
  if (start + offset < 0) return AVERROR(EINVAL);
  return io.position_ = start + offset;
}

}  // namespace sightline::media
