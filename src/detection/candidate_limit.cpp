#include "detection/candidate_limit.hpp"

#include "base/log.hpp"

namespace sightline {

void CandidateLimit::tell(std::size_t found) const {
  if (told_.exchange(true)) return;
  logger().warn(
      "a frame has {} candidate windows, and only the best {} of a frame are grouped; use a higher "
      "--threshold, "
      "or a higher --max-candidates",
      found, most_);
}

}  // namespace sightline
