#pragma once
/// What the comparisons with OpenCV share: frames of a video, threads, and the way from the command line to
/// results.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "image/view.hpp"
#ifdef SIGHTLINE_OPENCV
#include <opencv2/core.hpp>
#endif

namespace sightline::benchmarks {

inline constexpr Size kFrame{768, 576};

/// The frames to search, of kFrame each; filled by `run`.
std::vector<Image<std::uint8_t>>& frames();

#ifdef SIGHTLINE_OPENCV
/// The same pixels, as OpenCV takes them.
cv::Mat as_mat(Image<std::uint8_t>& frame);
#endif

/// `main` of a program whose command line is [VIDEO [THREADS]]: reads every fifth frame of the video, or of
/// the default input, `most` at the most, calls `add`, which registers benchmarks, and runs them, OpenCV too
/// on so many threads.
int run(int argc, char** argv, const char* default_input, std::size_t most, const std::function<void()>& add);

}  // namespace sightline::benchmarks
