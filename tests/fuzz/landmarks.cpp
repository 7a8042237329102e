#include <cstdlib>

#include "base/error.hpp"
#include "faces/landmarks/finder.hpp"
#include "faces/landmarks/model.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void landmarks(Bytes bytes) {
  if (bytes.size() > kLargestModel) return;
  const MemoryFile file(bytes);
  try {
    landmarks::looks_like_model(file.path());
    const landmarks::Model model = landmarks::load_model(file.path(), kLargestModel);
    landmarks::Patch patch;
    for (int i = 0; i < landmarks::kPatchSide * landmarks::kPatchSide; ++i)
      patch[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(texture(i % landmarks::kPatchSide, i / landmarks::kPatchSide));
    // Ends the program, as a failed check of memory does, where both forms do not agree.
    if (landmarks::Finder(model).find(patch) != landmarks::reference::find(model, patch, model.mean))
      std::abort();
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
