// The list of cameras, on made-up ones.
#include "media/cameras.hpp"

#include <linux/videodev2.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "media/ffmpeg.hpp"
#include "support/media.hpp"

namespace sightline::media {
namespace {

using namespace test;

struct MadeUpMode {
  std::uint32_t width, height;
  std::vector<v4l2_fract> intervals;
};

/// One device node. Sizes are discrete, or a range where `range` is set.
struct MadeUpNode {
  int open_error = 0;
  std::uint32_t capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING;
  std::uint32_t device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  struct Format {
    std::uint32_t code;
    const char* description;
    std::uint32_t flags;
    std::vector<MadeUpMode> modes;
    bool range = false;
    std::uint32_t range_type = V4L2_FRMSIZE_TYPE_STEPWISE;
  };
  std::vector<Format> formats;
};

class MadeUpDevices final : public VideoDevices {
 public:
  explicit MadeUpDevices(std::vector<std::pair<std::string, MadeUpNode>> nodes) : nodes_(std::move(nodes)) {}
  ~MadeUpDevices() override { EXPECT_EQ(open_, 0) << "a device was left open"; }

  std::vector<std::string> paths() const override {
    std::vector<std::string> result;
    for (const auto& node : nodes_) result.push_back(node.first);
    return result;
  }
  int open(const std::string& path) override {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].first == path) {
        if (nodes_[i].second.open_error) return -nodes_[i].second.open_error;
        ++open_;
        return static_cast<int>(i);
      }
    return -ENOENT;
  }
  void close(int) override { --open_; }
  int control(int handle, unsigned long request, void* argument) override {
    const MadeUpNode& node = nodes_.at(static_cast<std::size_t>(handle)).second;
    switch (request) {
      case VIDIOC_QUERYCAP: {
        auto& facts = *static_cast<v4l2_capability*>(argument);
        std::strcpy(reinterpret_cast<char*>(facts.driver), "uvcvideo");
        std::memset(facts.card, 'A', sizeof facts.card);  // a name that fills its place and does not end
        std::strcpy(reinterpret_cast<char*>(facts.bus_info), "usb-1");
        facts.capabilities = node.capabilities | V4L2_CAP_DEVICE_CAPS;
        facts.device_caps = node.device_caps;
        return 0;
      }
      case VIDIOC_ENUM_FMT: {
        auto& entry = *static_cast<v4l2_fmtdesc*>(argument);
        if (entry.type != V4L2_BUF_TYPE_VIDEO_CAPTURE || entry.index >= node.formats.size()) return -EINVAL;
        const MadeUpNode::Format& format = node.formats[entry.index];
        entry.pixelformat = format.code;
        entry.flags = format.flags;
        std::strcpy(reinterpret_cast<char*>(entry.description), format.description);
        return 0;
      }
      case VIDIOC_ENUM_FRAMESIZES:
        return size(node, *static_cast<v4l2_frmsizeenum*>(argument));
      case VIDIOC_ENUM_FRAMEINTERVALS:
        return interval(node, *static_cast<v4l2_frmivalenum*>(argument));
      default:
        return -ENOTTY;
    }
  }

 private:
  static const MadeUpNode::Format* find(const MadeUpNode& node, std::uint32_t code) {
    for (const MadeUpNode::Format& format : node.formats)
      if (format.code == code) return &format;
    return nullptr;
  }
  static int size(const MadeUpNode& node, v4l2_frmsizeenum& entry) {
    const MadeUpNode::Format* format = find(node, entry.pixel_format);
    if (!format) return -EINVAL;
    if (format->range) {
      if (entry.index > 0) return -EINVAL;
      entry.type = format->range_type;
      entry.stepwise = {32, format->modes[0].width, 16, 24, format->modes[0].height, 8};
      return 0;
    }
    if (entry.index >= format->modes.size()) return -EINVAL;
    entry.type = V4L2_FRMSIZE_TYPE_DISCRETE;
    entry.discrete = {format->modes[entry.index].width, format->modes[entry.index].height};
    return 0;
  }
  static int interval(const MadeUpNode& node, v4l2_frmivalenum& entry) {
    const MadeUpNode::Format* format = find(node, entry.pixel_format);
    if (!format) return -EINVAL;
    for (const MadeUpMode& mode : format->modes) {
      if (mode.width != entry.width || mode.height != entry.height) continue;
      if (format->range) {
        if (entry.index > 0) return -EINVAL;
        entry.type = V4L2_FRMIVAL_TYPE_CONTINUOUS;
        entry.stepwise = {mode.intervals[0], mode.intervals[1], {1, 1}};
        return 0;
      }
      if (entry.index >= mode.intervals.size()) return -EINVAL;
      entry.type = V4L2_FRMIVAL_TYPE_DISCRETE;
      entry.discrete = mode.intervals[entry.index];
      return 0;
    }
    return -EINVAL;
  }

  std::vector<std::pair<std::string, MadeUpNode>> nodes_;
  int open_ = 0;
};

MadeUpNode webcam() {
  MadeUpNode node;
  node.formats = {{V4L2_PIX_FMT_MJPEG,
                   "Motion-JPEG",
                   V4L2_FMT_FLAG_COMPRESSED,
                   {{1280, 720, {{1, 30}, {1001, 60000}}}, {640, 480, {{1, 30}}}}},
                  {V4L2_PIX_FMT_YUYV, "YUYV 4:2:2", 0, {{640, 480, {{1, 30}, {1, 15}, {0, 0}}}}}};
  return node;
}

MadeUpNode metadata_node() {
  MadeUpNode node;
  node.device_caps = V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING;
  return node;
}

MadeUpNode refused(int error) {
  MadeUpNode node;
  node.open_error = error;
  return node;
}

TEST(MediaCameras, FormatsSizesAndRates) {
  MadeUpDevices devices({{"/dev/video0", webcam()}, {"/dev/video1", metadata_node()}});
  const std::vector<Camera> cameras = list_cameras(devices);
  ASSERT_EQ(cameras.size(), 1u);
  const Camera& camera = cameras[0];
  EXPECT_EQ(camera.path, "/dev/video0");
  EXPECT_EQ(camera.name, std::string(32, 'A'));
  EXPECT_EQ(camera.driver, "uvcvideo");
  EXPECT_EQ(camera.bus, "usb-1");
  EXPECT_EQ(camera.problem, "");
  ASSERT_EQ(camera.formats.size(), 2u);
  const CameraFormat &jpeg = camera.formats[0], &raw = camera.formats[1];
  EXPECT_EQ(jpeg.name, "mjpeg");
  EXPECT_EQ(jpeg.fourcc, "MJPG");
  EXPECT_EQ(jpeg.description, "Motion-JPEG");
  EXPECT_TRUE(jpeg.compressed);
  ASSERT_EQ(jpeg.modes.size(), 2u);
  EXPECT_EQ(jpeg.modes[0].most, (Size{1280, 720}));
  EXPECT_FALSE(jpeg.modes[0].is_range());
  ASSERT_EQ(jpeg.modes[0].frame_rates.size(), 2u);
  EXPECT_NEAR(jpeg.modes[0].frame_rates[0], 59.94, 0.01);  // the highest first
  EXPECT_EQ(jpeg.modes[0].frame_rates[1], 30);
  EXPECT_EQ(jpeg.modes[0].highest_rate, 0);
  EXPECT_EQ(raw.name, "yuyv422");
  EXPECT_FALSE(raw.compressed);
  ASSERT_EQ(raw.modes.size(), 1u);
  EXPECT_EQ(raw.modes[0].frame_rates, (std::vector<double>{30, 15}));  // 0/0 is no rate
}

TEST(MediaCameras, Ranges) {
  for (const std::uint32_t type : {V4L2_FRMSIZE_TYPE_STEPWISE, V4L2_FRMSIZE_TYPE_CONTINUOUS}) {
    MadeUpNode node;
    node.formats = {{V4L2_PIX_FMT_NV12, "Y/CbCr 4:2:0", 0, {{1920, 1080, {{1, 120}, {2, 1}}}}, true, type}};
    MadeUpDevices devices({{"/dev/video3", node}});
    const CameraMode mode = list_cameras(devices).at(0).formats.at(0).modes.at(0);
    EXPECT_TRUE(mode.is_range());
    EXPECT_EQ(mode.least, (Size{32, 24}));
    EXPECT_EQ(mode.most, (Size{1920, 1080}));
    EXPECT_EQ(mode.step, (Size{16, 8}));
    EXPECT_TRUE(mode.frame_rates.empty());
    EXPECT_EQ(mode.highest_rate, 120);
    EXPECT_EQ(mode.lowest_rate, 0.5);
  }
}

TEST(MediaCameras, FormatsThatFfmpegCannotRead) {
  MadeUpNode node;
  node.formats = {{v4l2_fourcc('Q', '1', ' ', '\x01'), "Odd", 0, {}}};
  MadeUpDevices devices({{"/dev/video0", node}});
  const CameraFormat format = list_cameras(devices).at(0).formats.at(0);
  EXPECT_EQ(format.name, "");
  EXPECT_EQ(format.fourcc, "Q1 ?");
  EXPECT_TRUE(format.modes.empty());
}

// The names are FFmpeg's own, or asking for them fails.
TEST(MediaCameras, Names) {
  for (const std::uint32_t code :
       {V4L2_PIX_FMT_MJPEG,   V4L2_PIX_FMT_H264,   V4L2_PIX_FMT_MPEG4,   V4L2_PIX_FMT_CPIA1,
        V4L2_PIX_FMT_YUYV,    V4L2_PIX_FMT_UYVY,   V4L2_PIX_FMT_YUV420,  V4L2_PIX_FMT_YUV422P,
        V4L2_PIX_FMT_YUV411P, V4L2_PIX_FMT_YUV410, V4L2_PIX_FMT_NV12,    V4L2_PIX_FMT_GREY,
        V4L2_PIX_FMT_Y16,     V4L2_PIX_FMT_RGB24,  V4L2_PIX_FMT_BGR24,   V4L2_PIX_FMT_BGR32,
        V4L2_PIX_FMT_RGB32,   V4L2_PIX_FMT_ABGR32, V4L2_PIX_FMT_ARGB32,  V4L2_PIX_FMT_RGB555,
        V4L2_PIX_FMT_RGB555X, V4L2_PIX_FMT_RGB565, V4L2_PIX_FMT_RGB565X, V4L2_PIX_FMT_SBGGR8,
        V4L2_PIX_FMT_SGBRG8,  V4L2_PIX_FMT_SGRBG8, V4L2_PIX_FMT_SRGGB8}) {
    MadeUpNode node;
    node.formats = {{code, "", 0, {}}};
    MadeUpDevices devices({{"/dev/video0", node}});
    const std::string name = list_cameras(devices).at(0).formats.at(0).name;
    EXPECT_TRUE(avcodec_descriptor_get_by_name(name.c_str()) ||
                av_get_pix_fmt(name.c_str()) != AV_PIX_FMT_NONE)
        << "'" << name << "' for " << code;
  }
}

TEST(MediaCameras, WhatCannotBeOpened) {
  MadeUpDevices devices(
      {{"/dev/video0", refused(EACCES)}, {"/dev/video1", refused(ENODEV)}, {"/dev/video2", refused(EBUSY)}});
  const std::vector<Camera> cameras = list_cameras(devices);
  ASSERT_EQ(cameras.size(), 2u);
  EXPECT_EQ(cameras[0].path, "/dev/video0");
  EXPECT_NE(cameras[0].problem.find("group video"), std::string::npos) << cameras[0].problem;
  EXPECT_NE(cameras[1].problem.find("another program"), std::string::npos) << cameras[1].problem;
  expect_error(ExitCode::input, [&] { first_camera(devices); });
}

TEST(MediaCameras, NodesThatFfmpegCannotRead) {
  MadeUpNode planar, deaf;
  planar.device_caps = V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING;
  deaf.device_caps = V4L2_CAP_VIDEO_CAPTURE;
  MadeUpDevices devices({{"/dev/video0", planar}, {"/dev/video1", deaf}});
  const std::vector<Camera> cameras = list_cameras(devices);
  ASSERT_EQ(cameras.size(), 2u);
  EXPECT_NE(cameras[0].problem.find("multi-planar"), std::string::npos);
  EXPECT_NE(cameras[1].problem.find("stream"), std::string::npos);
}

TEST(MediaCameras, TheFirstOne) {
  MadeUpDevices some(
      {{"/dev/video0", metadata_node()}, {"/dev/video1", refused(EACCES)}, {"/dev/video2", webcam()}});
  EXPECT_EQ(first_camera(some).path, "/dev/video2");
  MadeUpDevices none({{"/dev/video0", metadata_node()}});
  expect_error(ExitCode::input, [&] { first_camera(none); });
  EXPECT_NO_THROW(list_cameras());  // this machine's, whatever they are
}

}  // namespace
}  // namespace sightline::media
