#include "detection/candidate_limit.hpp"

#include <spdlog/spdlog.h>

namespace sightline {

void CandidateLimit::tell(std::size_t found) const {
  if (told_.exchange(true)) return;
  spdlog::warn(
      "{} windows of a frame reach the grouping, which takes only the best {} of this and later frames "
      "(--max-candidates)",
      found, most_);
}

}  // namespace sightline
