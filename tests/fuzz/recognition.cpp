#include "base/error.hpp"
#include "faces/recognition/model.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace sightline::fuzz {

void recognition(Bytes bytes) {
  namespace faces = sightline::recognition;
  if (bytes.size() > kLargestModel) return;
  const MemoryFile file(bytes);
  try {
    faces::looks_like_face_model(file.path());
    const faces::FaceModel model = faces::load_face_model(file.path(), kLargestModel);
    Image<std::uint8_t> crop(faces::kCropSize.width, faces::kCropSize.height);
    for (int y = 0; y < crop.height(); ++y) {
      for (int x = 0; x < crop.width(); ++x) crop.view().at(x, y) = static_cast<std::uint8_t>(texture(x, y));
    }
    const faces::FaceDescriptor descriptor(model.channels);
    faces::FaceDescriptor::Scratch scratch;
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(descriptor.values()));
    descriptor.count(std::as_const(crop).view(), scratch, counts.data());
    if (!model.projection) return;
    const faces::Projector projector(*model.projection);
    faces::Projector::Scratch projecting;
    std::vector<std::int8_t> fast(static_cast<std::size_t>(projector.dims())), plain(fast.size());
    projector.project(counts.data(), projecting, fast.data());
    faces::reference::project(*model.projection, counts.data(), plain.data());
    // Ends the program, as a failed check of memory does, where both forms do not agree.
    if (fast != plain) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
