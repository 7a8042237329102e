#pragma once
/// Describes networks in words, and compares their outputs with another engine's.

#include <limits>
#include <string>

#include "detectors/network/detector.hpp"

namespace sightline::opencl {
struct OpenedDevice;
}

namespace sightline::network {

/// Inputs, outputs, operators, costs, what was found out about it and why.
std::string network_text(const Network& network);

/// The parts that the detector runs.
std::string plan_text(const NetworkDetector& detector);

/// A wave of a plan, or a launch on a device.
struct StepTime {
  std::string parts;  ///< what it computes, in few words
  std::int64_t multiply_adds = 0;
  double seconds = std::numeric_limits<double>::infinity();  ///< of the fastest of several runs
};
/// Times waves on the calling TBB arena. The workspace's inputs are filled. Empty where there is no plan.
std::vector<StepTime> wave_times(const NetworkDetector& detector, NetworkWorkspace& workspace);
/// Times the launches of the first part, if devices have kernels for it, on a device; the input is anything.
/// Empty if they have none. Throws Error (failed), DeviceError.
/// @param frames  of each launch, up to DeviceParts::kMostFrames
std::vector<StepTime> launch_times(const NetworkDetector& detector, const opencl::OpenedDevice& device,
                                   int frames);
/// @param where  the processor, as in "on the CPU"
/// @param peak   multiply-adds a second that the processor can do
std::string times_text(const std::vector<StepTime>& steps, const std::string& where, double peak);

/// Results of a network on a picture: ranges of its outputs, and the best candidates of ten objects with what
/// became of them. The workspace keeps the input.
std::string picture_text(const NetworkDetector& detector, NetworkWorkspace& workspace, PictureView picture);

/// The network's input as an RGB picture, 3 bytes a pixel, normalisation undone.
std::vector<std::uint8_t> input_picture(const Network& network, const Tensor& input);

/// Fills the picture's input with fixed bytes, normalised: element i is (i * 2654435761 mod 2^32) >> 24.
/// Other inputs get the sizes of a frame of 640x480.
void fill_fixed(const Network& network, Runner& runner);

struct OutputDifference {
  std::string output;
  double largest = 0;        ///< difference of two values
  double largest_value = 0;  ///< of the reference
  std::size_t values = 0;    ///< that were compared
};
/// Compares an output with a reference that holds all of its values, or every n-th from the first one on.
/// Throws Error (input) where the sizes do not fit.
OutputDifference difference_to(const std::string& name, const Tensor& output, const Tensor& reference);

}  // namespace sightline::network
