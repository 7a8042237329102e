#include "detection/candidate_limit.hpp"

#include <spdlog/spdlog.h>

namespace sightline {

void CandidateLimit::tell(std::size_t found) const {
  if (told_.exchange(true)) return;
  spdlog::warn(
      "{} windows of a frame are left to be grouped: only the best {} are, in this and in other such frames "
      "(--max-candidates)",
      found, most_);
}

}  // namespace sightline
