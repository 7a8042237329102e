#include "characterisation/programs.hpp"

#include <algorithm>

namespace sightline::characterisation {
namespace {

constexpr Number kNumbers[] = {Number::float_number, Number::whole_number, Number::half_number,
                               Number::double_number, Number::bytes};

}  // namespace

ProgramName read_program(int width) {
  return {"read.cl", "-DV=" + std::to_string(width)};
}

int peak_lanes(const opencl::DeviceInfo& device, Number number) {
  const int floats =
      device.type == opencl::DeviceType::cpu ? std::clamp(device.native_float_width, 1, 16) : 1;
  switch (number) {
    case Number::half_number:  // two lanes: GPUs compute them in pairs
      return floats == 1 ? 2 : floats;
    case Number::double_number:
      return std::max(floats / 2, 1);
    case Number::bytes:
      return 1;
    default:
      return floats;
  }
}

ProgramName peak_program(const opencl::DeviceInfo& device, Number number) {
  std::string options = "-DV=" + std::to_string(peak_lanes(device, number));
  switch (number) {
    case Number::float_number:
      break;
    case Number::whole_number:
      options += " -DNUMBER=uint -DWHOLE";
      break;
    case Number::half_number:
      options += " -DNUMBER=half -DHALF";
      break;
    case Number::double_number:
      options += " -DNUMBER=double -DDOUBLE";
      break;
    case Number::bytes:
      options += device.is_nvidia() ? " -DNUMBER=uint -DDOT_PTX" : " -DNUMBER=uint -DDOT_KHR";
      break;
  }
  return {"peak.cl", options};
}

// On CPUs, kernels are compiled for each size of work-group: the fewer lines the better.
ProgramName side_by_side_program(const opencl::DeviceInfo& device) {
  return {"side_by_side.cl", device.type == opencl::DeviceType::cpu ? "-DPER_TURN=TIMES16" : ""};
}

std::vector<ProgramName> programs_of(const opencl::DeviceInfo& device) {
  // Programs with the longest build time come first.
  std::vector<ProgramName> programs{kOperationsProgram, kLatencyProgram};
  for (const Number number : kNumbers)
    if (has_numbers(device, number)) programs.push_back(peak_program(device, number));
  for (const int width : kReadWidths) programs.push_back(read_program(width));
  for (const ProgramName& one : {side_by_side_program(device), kAccessProgram, kBufferProgram, kImageProgram,
                                 kAtomicsProgram, kLaunchProgram})
    programs.push_back(one);
  return programs;
}

}  // namespace sightline::characterisation
