#include "characterisation/hints.hpp"

#include <charconv>

namespace sightline::characterisation {
namespace {

// 0 for words.
int number_in(const std::string& choice) {
  int number = 0;
  std::from_chars(choice.data(), choice.data() + choice.size(), number);
  return number;
}

}  // namespace

opencl::DeviceHints hints_of(const Characteristics& processor) {
  opencl::DeviceHints hints;
  if (processor.type == to_string(opencl::DeviceType::cpu)) return hints;
  for (const Decision& decision : processor.decisions) {
    if (decision.id == "work_group") hints.work_group = number_in(decision.choice);
    if (decision.id == "vector_width") hints.vector_width = number_in(decision.choice);
    if (decision.id == "local_memory") hints.local_memory = decision.choice == "yes";
  }
  return hints;
}

}  // namespace sightline::characterisation
