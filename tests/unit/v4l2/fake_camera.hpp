#pragma once
// A V4L2 camera for programs that link it: /dev/video987 gives YUYV pictures of 64x48, 50 a second, each
// a little brighter than the one before.

namespace sightline::test {

inline constexpr const char* kFakeCamera = "/dev/video987";

struct FakeCamera {
  bool plugged_in = true;
  int damaged_every = 0;  ///< every n-th picture arrives damaged; 0: none does
  int silent_after = 0;   ///< pictures, then no more; 0: never
  int gone_after = 0;     ///< pictures, then it is unplugged; 0: never
  double age = 0.007;     ///< seconds from a picture's time to its delivery
};

/// Sets the camera up for those who open it from now on.
void set_up(const FakeCamera& camera);

/// How many pictures the camera may still write to: all 4, unless somebody holds some.
int buffers_with_fake_camera();

}  // namespace sightline::test
