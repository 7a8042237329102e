// Loads the module that has OpenCV's classifier.
#include <dlfcn.h>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/program_folder.hpp"
#include "detectors/cascade/comparison.hpp"
#include "detectors/cascade/opencv/module.hpp"

namespace sightline::cascade {
namespace {

MakeOpenCv* load_module() {
  namespace fs = std::filesystem;
  std::string reason = "it is missing";
  for (const fs::path& folder : {program_folder(), program_folder() / SIGHTLINE_RELATIVE_MODULES,
                                 fs::path(SIGHTLINE_INSTALLED_MODULES)}) {
    const fs::path file = folder / kOpenCvModule;
    std::error_code error;
    if (folder.empty() || !fs::exists(file, error)) continue;
    // Never closed: objects made by the module may live as long as the program.
    void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const function = module ? dlsym(module, kMakeOpenCv) : nullptr;
    if (function) return reinterpret_cast<MakeOpenCv*>(function);
    const char* const why = dlerror();
    reason = why ? why : "it is damaged";
  }
  throw Error(ExitCode::device,
              std::string("cannot compare with OpenCV: no module ") + kOpenCvModule + ": " + reason,
              "install libopencv-dev and build Sightline again");
}

}  // namespace

std::unique_ptr<Counterpart> make_opencv_counterpart(const Config& config, int threads) {
  const Settings settings = read_settings(config);
  if (settings.is_mirrored)
    throw Error(ExitCode::usage, "OpenCV has no mirrored cascades to compare with",
                "compare the cascade itself, without mirrored");
  const Search& search = settings.options.search;
  const std::string file = settings.file.string();
  return std::unique_ptr<Counterpart>(
      load_module()({file.c_str(), search.scale_step, settings.options.min_neighbors, search.min_size,
                     search.max_size, threads > 0 ? threads : hardware_threads()}));
}

}  // namespace sightline::cascade
