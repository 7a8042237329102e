#include "media/byte_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fault.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(int file, bool is_seekable, Interrupted interrupted)
      : file_(file), is_seekable_(is_seekable), interrupted_(std::move(interrupted)) {}
  ~FileBytes() override {
    if (file_ != STDIN_FILENO) ::close(file_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  int read(std::uint8_t* buffer, int size) override {
    constexpr int kCheckInterval = 50;  // ms
    for (;;) {
      if (interrupted_()) return AVERROR_EXIT;
      if (!is_seekable_) {
        pollfd input{file_, POLLIN, 0};
        const int ready = poll(&input, 1, kCheckInterval);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        if (fault::strikes(fault::Kind::read, "read")) return AVERROR(EIO);
      }
      const ssize_t count = ::read(file_, buffer, static_cast<std::size_t>(size));
      if (count > 0) return static_cast<int>(count);
      if (count == 0) return AVERROR_EOF;
      if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
    }
  }

  std::int64_t seek(std::int64_t offset, int whence) override {
    struct stat facts {};
    if (whence & AVSEEK_SIZE) return fstat(file_, &facts) == 0 ? facts.st_size : AVERROR(errno);
    const off_t position = lseek(file_, offset, whence & ~AVSEEK_FORCE);
    return position < 0 ? AVERROR(errno) : position;
  }

  bool is_seekable() const override { return is_seekable_; }

 private:
  const int file_;
  const bool is_seekable_;
  const Interrupted interrupted_;
};

class MemoryByteSource final : public ByteSource {
 public:
  explicit MemoryByteSource(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  int read(std::uint8_t* buffer, int size) override {
    const std::size_t count = std::min(static_cast<std::size_t>(size), bytes_.size() - at_);
    if (count == 0) return AVERROR_EOF;
    std::memcpy(buffer, bytes_.data() + at_, count);
    at_ += count;
    return static_cast<int>(count);
  }

  std::int64_t seek(std::int64_t offset, int whence) override {
    const auto size = static_cast<std::int64_t>(bytes_.size());
    if (whence & AVSEEK_SIZE) return size;
    whence &= ~AVSEEK_FORCE;
    if (whence == SEEK_CUR) offset += static_cast<std::int64_t>(at_);
    if (whence == SEEK_END) offset += size;
    if (offset < 0) return AVERROR(EINVAL);
    at_ = static_cast<std::size_t>(std::min(offset, size));
    return offset;
  }

  bool is_seekable() const override { return true; }

 private:
  const std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_content(std::vector<std::uint8_t> content) {
  return std::make_unique<MemoryByteSource>(std::move(content));
}

std::unique_ptr<ByteSource> open_file(const std::string& path, Interrupted interrupted, int& code) {
  // Without O_NONBLOCK, the call itself would wait for a FIFO's writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) {
    code = AVERROR(errno);
    if (file >= 0) ::close(file);
    return nullptr;
  }
  return std::make_unique<FileBytes>(file, S_ISREG(facts.st_mode), std::move(interrupted));
}

std::unique_ptr<ByteSource> open_standard_input(Interrupted interrupted) {
  return std::make_unique<FileBytes>(STDIN_FILENO, false, std::move(interrupted));
}

}  // namespace sightline::media
