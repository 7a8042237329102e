// Levels of networks on OpenCL devices against the interpreter, bit for bit; PoCL in tests.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "detectors/network/interpreter.hpp"
#include "detectors/network/opencl/device_levels.hpp"
#include "network/onnx_builder.hpp"
#include "opencl/device.hpp"

