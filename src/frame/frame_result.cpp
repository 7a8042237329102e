#include "frame/frame_result.hpp"

namespace sightline {

const char* to_string(FrameStatus status) {
  switch (status) {
    case FrameStatus::ok:
      return "ok";
    case FrameStatus::skipped:
      return "skipped";
    case FrameStatus::failed:
      return "failed";
  }
  return "failed";
}

std::string difference(const FrameResult& a, const FrameResult& b) {
  if (a.objects != b.objects) return "other objects";
  if (!a.output || !b.output) return a.output == b.output ? "" : "an output where there was none";
  return a.output->difference(*b.output);
}

}  // namespace sightline
