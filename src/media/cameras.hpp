#pragma once
/// List of cameras and their formats (V4L2).

#include <string>
#include <vector>

#include "image/view.hpp"

namespace sightline::media {

/// Frame rates at one size, or at any size of a range.
struct CameraMode {
  Size least;  ///< the size, where `most` is the same
  Size most;   ///< else the largest size; sizes in between are `step` apart
  Size step;
  std::vector<double> frame_rates;  ///< frames/s, the highest first, at `most`; empty if the driver is silent
  double lowest_rate = 0;           ///< lowest rate of a range; else 0
  double highest_rate = 0;

  bool is_range() const { return least != most; }
};

struct CameraFormat {
  std::string name;         ///< as in CaptureOptions::pixel_format; empty if FFmpeg cannot read it
  std::string fourcc;       ///< V4L2's, such as "YUYV"
  std::string description;  ///< the driver's
  bool compressed = false;
  std::vector<CameraMode> modes;  ///< in the driver's order; empty if it lists none
};

struct Camera {
  std::string path;     ///< an input for Reader
  std::string name;     ///< the driver's, such as "HD Webcam"
  std::string driver;   ///< such as "uvcvideo"
  std::string bus;      ///< bus and port
  std::string problem;  ///< why it cannot be used, and what to do; empty if it can
  std::vector<CameraFormat> formats;
};

/// The video devices of a machine: a test plays made-up ones.
class VideoDevices {
 public:
  virtual ~VideoDevices() = default;
  /// Paths of all device nodes, cameras or not, in the order to list them.
  virtual std::vector<std::string> paths() const = 0;
  /// @return a handle, or -errno
  virtual int open(const std::string& path) = 0;
  /// An ioctl. @return 0 or more, or -errno
  virtual int control(int handle, unsigned long request, void* argument) = 0;
  virtual void close(int handle) = 0;
};

/// Every device that can capture video, or cannot be asked whether it can (see Camera::problem); a camera's
/// further nodes, such as for metadata, are left out. Never throws for a device.
std::vector<Camera> list_cameras();
std::vector<Camera> list_cameras(VideoDevices& devices);

/// The first usable camera.
/// @throws Error (input) with a remedy if there is none
Camera first_camera();
Camera first_camera(VideoDevices& devices);

/// Advice to a user without a camera.
std::string no_camera_advice();

}  // namespace sightline::media
