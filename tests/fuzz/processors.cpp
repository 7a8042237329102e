#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "characterisation/record.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void processors(Bytes bytes) {
  const std::string text(bytes.begin(), bytes.end());
  try {
    // What was taken is written as it was read.
    const auto read = characterisation::parse_record(text, "fuzzed");
    const std::string written = characterisation::record_text(read);
    if (characterisation::record_text(characterisation::parse_record(written, "written")) != written)
      std::abort();
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) std::abort();
  }
}

}  // namespace sightline::fuzz
