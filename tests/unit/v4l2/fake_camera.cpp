// Stands in front of the C library's open and ioctl. The device is memory without a name, so that mapping and
// closing it are the kernel's own.
#include "fake_camera.hpp"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <string_view>
#include <vector>

namespace sightline::test {
namespace {

constexpr std::uint32_t kBuffers = 4, kWidth = 64, kHeight = 48, kBytes = kWidth * kHeight * 2;
constexpr std::uint32_t kSpacing = 8192;  // of the buffers: whole pages
constexpr double kPeriod = 1.0 / 50;

struct State {
  FakeCamera setup{.plugged_in = false};
  int handle = -1;
  bool blocks = false;
  std::deque<std::uint32_t> waiting;
  int delivered = 0;
  double next = 0;
};
State state;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int failed(int code) {
  errno = code;
  return -1;
}

int open_camera(int flags) {
  if (!state.setup.plugged_in) return failed(ENOENT);
  state.handle = memfd_create("camera", MFD_CLOEXEC);
  if (ftruncate(state.handle, kBuffers * kSpacing) != 0) return -1;
  state.blocks = !(flags & O_NONBLOCK);
  state.waiting.clear();
  state.delivered = 0;
  state.next = now() + kPeriod;
  return state.handle;
}

int take_buffer(v4l2_buffer& buffer) {
  const FakeCamera& setup = state.setup;
  if (setup.gone_after > 0 && state.delivered >= setup.gone_after) return failed(ENODEV);
  const bool silent = setup.silent_after > 0 && state.delivered >= setup.silent_after;
  while (silent || now() < state.next || state.waiting.empty()) {
    if (!state.blocks) return failed(EAGAIN);
    usleep(10'000);  // for ever where it is silent, as a driver does
  }
  buffer.index = state.waiting.front();
  state.waiting.pop_front();
  ++state.delivered;
  state.next += kPeriod;
  const std::vector<std::uint8_t> picture(kBytes, static_cast<std::uint8_t>(100 + 4 * state.delivered));
  if (pwrite(state.handle, picture.data(), kBytes, buffer.index * kSpacing) != kBytes) return failed(EIO);
  buffer.bytesused = kBytes;
  const bool damaged = setup.damaged_every > 0 && state.delivered % setup.damaged_every == 0;
  buffer.flags = damaged ? V4L2_BUF_FLAG_ERROR : 0;
  const double time = now() - setup.age;
  buffer.timestamp.tv_sec = static_cast<time_t>(time);
  buffer.timestamp.tv_usec =
      static_cast<suseconds_t>((time - static_cast<double>(buffer.timestamp.tv_sec)) * 1e6);
  return 0;
}

int answer(unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      static_cast<v4l2_capability*>(argument)->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
      return 0;
    case VIDIOC_G_INPUT:
      *static_cast<int*>(argument) = 0;
      return 0;
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT: {
      auto& format = static_cast<v4l2_format*>(argument)->fmt.pix;
      if (request == VIDIOC_S_FMT && format.pixelformat != V4L2_PIX_FMT_YUYV) return failed(EINVAL);
      format.width = kWidth;
      format.height = kHeight;
      format.pixelformat = V4L2_PIX_FMT_YUYV;
      format.field = V4L2_FIELD_NONE;
      format.sizeimage = kBytes;
      return 0;
    }
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM:
      static_cast<v4l2_streamparm*>(argument)->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
      static_cast<v4l2_streamparm*>(argument)->parm.capture.timeperframe = {1, 50};
      return 0;
    case VIDIOC_REQBUFS:
      static_cast<v4l2_requestbuffers*>(argument)->count = kBuffers;
      return 0;
    case VIDIOC_QUERYBUF: {
      auto& buffer = *static_cast<v4l2_buffer*>(argument);
      buffer.length = kBytes;
      buffer.m.offset = buffer.index * kSpacing;
      return 0;
    }
    case VIDIOC_QBUF:
      state.waiting.push_back(static_cast<v4l2_buffer*>(argument)->index);
      return 0;
    case VIDIOC_DQBUF:
      return take_buffer(*static_cast<v4l2_buffer*>(argument));
    case VIDIOC_ENUMINPUT:
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return 0;
    default:
      return failed(ENOTTY);
  }
}

int open_any(const char* path, int flags, unsigned mode) {
  if (std::string_view(path) == kFakeCamera) return open_camera(flags);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

void set_up(const FakeCamera& camera) {
  state = {};
  state.setup = camera;
}

int buffers_with_fake_camera() {
  return static_cast<int>(state.waiting.size());
}

}  // namespace sightline::test

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  return sightline::test::open_any(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  return sightline::test::open_any(path, flags, mode);
}

int ioctl(int handle, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  using namespace sightline::test;
  if (handle >= 0 && handle == state.handle && (request >> 8 & 0xff) == 'V') return answer(request, argument);
  return static_cast<int>(syscall(SYS_ioctl, handle, request, argument));
}
}
