#pragma once
/// Measures a whole processor.

#include <functional>
#include <string>

#include "characterisation/characteristics.hpp"
#include "characterisation/timing.hpp"
#include "opencl/device.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::characterisation {

struct CharacteriseOptions {
  Length length = Length::quick;
  /// Throws when the run is to end; may be empty. Called between repeats.
  std::function<void()> check_stop;
  /// Told what begins, for people: "transfers"; may be empty.
  std::function<void(const std::string& what)> progress;
};

/// The CPU by itself: plain and SIMD code on all threads. Throws what check_stop throws; a benchmark that
/// fails is among the losses.
Characteristics characterise_host(const CharacteriseOptions& options);

/// An OpenCL device, with decisions. A benchmark that fails is among the losses, and the others go on; where
/// the device cannot be opened, all are lost.
/// @param cache  of programs; may be null
/// @param host   what the CPU was found to do; null: decisions do without
Characteristics characterise_device(const opencl::ChosenDevice& chosen, opencl::ProgramCache* cache,
                                    const CharacteriseOptions& options, const Characteristics* host);

}  // namespace sightline::characterisation
