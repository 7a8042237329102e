#include "versus_opencv.hpp"

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "scaled_frame.hpp"

namespace sightline::benchmarks {

std::vector<Image<std::uint8_t>>& frames() {
  static std::vector<Image<std::uint8_t>> all;
  return all;
}

#ifdef SIGHTLINE_OPENCV
cv::Mat as_mat(Image<std::uint8_t>& frame) {
  return {frame.height(), frame.width(), CV_8UC1, frame.view().data(),
          static_cast<std::size_t>(frame.stride())};
}
#endif

int run(int argc, char** argv, const char* default_input, std::size_t most,
        const std::function<void()>& add) {
  benchmark::Initialize(&argc, argv);
  const int threads = argc > 2 ? std::atoi(argv[2]) : hardware_threads();
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
#ifdef SIGHTLINE_OPENCV
  cv::setNumThreads(threads);
#endif
  media::ReadOptions options;
  options.every = 5;
  const std::string input = argc > 1 ? argv[1] : default_input;
  media::Reader reader(input, options);
  while (frames().size() < most) {
    const auto read = reader.read();
    if (!read) break;
    frames().push_back(scaled_frame(*read, kFrame));
  }
  if (frames().empty()) throw Error(ExitCode::input, "'" + input + "' has no picture");
  std::printf("%dx%d, %d thread(s), %s, %zu frame(s)\n", kFrame.width, kFrame.height, threads,
              instruction_set().c_str(), frames().size());
  add();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace sightline::benchmarks
