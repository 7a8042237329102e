#pragma once
/// Measures a device's peak rates, for comparison with kernels and for the scheduler.

#include "opencl/context.hpp"

namespace sightline::characterisation {

/// Rates are of the best of several runs. 0 if it was not measured.
struct DeviceRates {
  double multiply_adds = 0;    ///< float multiply-adds a second
  double bandwidth = 0;        ///< bytes read and written a second by a copy in the device's memory
  double launch_latency = 0;   ///< seconds from enqueueing an empty kernel until the host sees it done
  double launch_interval = 0;  ///< seconds between empty kernels in a row on the device
  double upload_pinned = 0;    ///< bytes a second, from memory that StagingBuffer gives
  double upload_pageable = 0;  ///< from pageable memory
  double download_pinned = 0;
  double download_pageable = 0;
  double map = 0;  ///< bytes a second: map for writing, fill, unmap (the way of devices with unified memory)
};

/// Only `multiply_adds`: quick.
double measure_multiply_adds(const opencl::Context& context);

/// All of them; takes about a second. Throws DeviceError.
DeviceRates measure_rates(const opencl::Context& context);

}  // namespace sightline::characterisation
