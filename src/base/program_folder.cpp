#include "base/program_folder.hpp"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace sightline {

std::filesystem::path program_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::filesystem::path library_folder() {
  Dl_info info{};
  void* extra = nullptr;
  const auto* const here = reinterpret_cast<const void*>(&library_folder);
  if (dladdr1(here, &info, &extra, RTLD_DL_LINKMAP) == 0 || !extra) return {};
  const char* const name = static_cast<const link_map*>(extra)->l_name;  // empty for a program
  if (!name || !*name) return {};
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(name, error);
  return error ? std::filesystem::path() : file.parent_path();
}

}  // namespace sightline
