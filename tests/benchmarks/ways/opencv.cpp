// The filter stage out of OpenCV's calls, as the published comparison has it: filter2D for each filter, and
// between these calls passes over the responses that keep the best.
#include "ways/way.hpp"

#ifdef SIGHTLINE_OPENCV
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace sightline::ways {

#ifdef SIGHTLINE_OPENCV
namespace {

// Rows [begin, end) as a frame of their own; filter2D reads beyond what it is given where there is more.
void filter_rows(const Problem& problem, const cv::Mat& frame, Form form, Result& result, int begin,
                 int end) {
  const int width = problem.size.width;
  const int count = problem.dictionary.size();
  const auto rows_of = [&](int type, auto* data, std::size_t pitch) {
    const cv::Mat whole(problem.size.height, width, type, data, pitch * CV_ELEM_SIZE(type));
    return whole.rowRange(begin, end);
  };
  const cv::Mat pixels = frame(cv::Rect(1, 1 + begin, width, end - begin));
  const auto pitch = static_cast<std::size_t>(problem.pitch());
  const auto filter = [&](int k, cv::Mat& responses) {
    const cv::Mat kernel(3, 3, CV_32F, const_cast<float*>(problem.filters.data()) + k * filterbank::kTaps);
    cv::filter2D(pixels, responses, CV_32F, kernel);
  };
  if (form == Form::every) {
    for (int k = 0; k < count; ++k) {
      cv::Mat responses = rows_of(CV_32F, result.floats.data() + k * pitch, count * pitch);
      filter(k, responses);
    }
    return;
  }
  cv::Mat best = rows_of(CV_32F, result.floats.data(), pitch);
  cv::Mat index = rows_of(CV_8U, result.indices.data(), pitch);
  best.setTo(form == Form::value ? 0 : -1);
  if (form == Form::value) index.setTo(0);
  cv::Mat responses, better;
  for (int k = 0; k < count; ++k) {
    filter(k, responses);
    if (form != Form::value) cv::absdiff(responses, cv::Scalar::all(0), responses);
    if (form != Form::largest) {
      cv::compare(responses, best, better, cv::CMP_GT);
      index.setTo(k, better);
    }
    cv::max(best, responses, best);
  }
}

}  // namespace

std::vector<Way> opencv_ways() {
  cv::setNumThreads(1);  // bands of rows are what threads share
  Way way{
      "OpenCV, filter2D", "", Arithmetic::floating, {std::begin(kForms), std::end(kForms)}, {}, false, true};
  way.prepare = [](const Problem& problem, Form form, int threads, Result& result) {
    const GrayView image = problem.image.view();
    const cv::Mat bytes(image.height() + 2, image.width() + 2, CV_8U,
                        const_cast<std::uint8_t*>(image.row(-1)) - 1,
                        static_cast<std::size_t>(image.stride()));
    const auto frame = std::make_shared<cv::Mat>();
    bytes.convertTo(*frame, CV_32F);  // faster than bytes, and not counted
    return run_rows([&problem, frame, form, &result](
                        int begin, int end) { filter_rows(problem, *frame, form, result, begin, end); },
                    image.height(), threads);
  };
  return {way};
}
#else
std::vector<Way> opencv_ways() {
  return {};
}
#endif

}  // namespace sightline::ways
