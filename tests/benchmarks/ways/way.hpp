#pragma once
/// Ways of programming the filter stage, and what each is given to compute.

#include <functional>
#include <string>
#include <vector>

#include "detectors/filterbank/dictionary.hpp"
#include "image/pyramid.hpp"
#include "opencl/device.hpp"
#include "ways/plain.hpp"

namespace sightline::ways {

inline constexpr Form kForms[] = {Form::magnitude, Form::value, Form::largest, Form::every};

enum class Arithmetic { floating, exact };

/// A frame and a dictionary.
struct Problem {
  Problem(Size size, int filters);

  double multiply_adds() const { return 9.0 * size.width * size.height * dictionary.size(); }
  /// Elements from one row of results to the next.
  std::ptrdiff_t pitch() const;
  /// Bytes that a form stores, its rows without what pads them.
  double bytes(Form form, Arithmetic arithmetic) const;

  Size size;
  PaddedImage image;
  filterbank::Dictionary dictionary;
  std::vector<float> filters, transposed;  ///< as in PlainWork
};

/// What a way has made of a frame, as PlainWork lays it out: in `floats` or, of exact arithmetic, `integers`.
struct Result {
  Result(const Problem& problem, Form form, Arithmetic arithmetic);
  AlignedBuffer<float> floats;
  AlignedBuffer<std::int32_t> integers;
  AlignedBuffer<std::uint8_t> indices;
};

/// A way that is ready to compute one frame again and again.
struct Run {
  std::function<void()> frame;
  std::function<void()> fetch = [] {};  ///< brings results into the Result, where they are elsewhere
  std::function<double()> device_ms;    ///< of the last frame by the device's clock; none: use the host's
  double peak = 0;                      ///< multiply-adds a second of the device; 0: the processor's counts
};

struct Way {
  std::string name;             ///< "plain, pixels side by side"
  std::string instruction_set;  ///< as limit_instruction_set takes it; empty: none in particular
  Arithmetic arithmetic = Arithmetic::floating;
  std::vector<Form> forms;
  /// Makes a run on so many threads. Everything passed must outlive it.
  std::function<Run(const Problem&, Form, int threads, Result&)> prepare;
  bool on_gpu = false;
  bool picture = true;  ///< part of the picture

  std::string title() const;
};

/// Those of this processor, from plain code to SIMD.
std::vector<Way> processor_ways();
/// OpenCV's filter2D for every filter; none where OpenCV is not built in.
std::vector<Way> opencv_ways();
/// On an OpenCL device.
std::vector<Way> opencl_ways(const opencl::DeviceInfo& device);

/// A run of a function of rows [begin, end), in bands on so many threads.
Run run_rows(std::function<void(int begin, int end)> rows, int height, int threads);

}  // namespace sightline::ways
