// libFuzzer's entry point; compiled once for each target.
#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sightline::fuzz::SIGHTLINE_FUZZ_TARGET({data, size});
  return 0;
}
