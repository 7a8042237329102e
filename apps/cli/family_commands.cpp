#include "apps/cli/family_commands.hpp"

#include "base/error.hpp"

namespace sightline::apps {

void refuse_family(std::string_view command, const std::string& titles, const std::string& what) {
  throw Error(ExitCode::usage,
              "`sightline " + std::string(command) + "` is for " + titles + ", and '" + what +
                  "' belongs to another family",
              "`sightline evaluate frames` and `sightline measure` take any detector");
}

}  // namespace sightline::apps
