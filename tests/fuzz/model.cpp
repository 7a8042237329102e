#include "detectors/filterbank/model.hpp"
#include "base/error.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void model(Bytes bytes) {
  const MemoryFile file(bytes);
  try {
    filterbank::load_models(file.path());
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
