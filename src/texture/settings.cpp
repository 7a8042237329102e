#include "texture/settings.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace sightline::texture {

int TextureSettings::reach() const {
  int reach = 0;
  for (const LbpOperator& one : operators) reach = std::max(reach, one.reach());
  return reach;
}

void check(const TextureSettings& settings) {
  if (settings.operators.empty() || settings.operators.size() > kMostOperators)
    throw Error(ExitCode::usage,
                std::to_string(settings.operators.size()) + " operators were requested at once",
                "give 1 to " + std::to_string(kMostOperators));
  for (const LbpOperator& one : settings.operators) LbpBins(one.points(), settings.mapping);
  if (settings.cell < 0) throw Error(ExitCode::usage, "a cell must have a side of at least 1 pixel");
}

}  // namespace sightline::texture
