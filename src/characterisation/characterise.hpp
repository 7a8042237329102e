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
  /// Called with each step that begins: "transfers"; may be empty.
  std::function<void(const std::string& what)> progress;
};

/// Characteristics of the host CPU: plain and SIMD code on all threads. Throws what check_stop throws; a
/// failed benchmark is listed among the losses.
Characteristics characterise_host(const CharacteriseOptions& options);

/// Characteristics and decisions of an OpenCL device. A failed benchmark is listed among the losses and the
/// others continue; if the device cannot be opened, all are lost.
/// @param cache  program cache; may be null
/// @param host   characteristics of the CPU; null: decisions ignore it
Characteristics characterise_device(const opencl::ChosenDevice& chosen, opencl::ProgramCache* cache,
                                    const CharacteriseOptions& options, const Characteristics* host);

}  // namespace sightline::characterisation
