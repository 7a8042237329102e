// For a question to the loader itself, which has no platform.
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include "opencl/loader_version.hpp"

#include <cstdlib>

#include "opencl/api.hpp"

namespace sightline::opencl {
namespace {

// The extension cl_khr_icd's question to the loader itself; its header is not everywhere.
enum LoaderInfo : cl_uint { kOpenClVersion = 1, kVersion = 2, kName = 3 };
using AskLoader = cl_int(CL_API_CALL*)(cl_uint, std::size_t, void*, std::size_t*);

std::string ask(AskLoader ask_loader, LoaderInfo what) {
  char text[256] = {};
  if (ask_loader(what, sizeof text - 1, text, nullptr) != CL_SUCCESS) return "";
  return text;
}

}  // namespace

LibraryVersion loader_version() {
  LibraryVersion version{"OpenCL", "", "a loader that does not tell its version, used as OpenCL 1.2"};
  setenv("OCL_ICD_VENDORS", "/nonexistent/", 1);
  const auto ask_loader =
      reinterpret_cast<AskLoader>(clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD"));
  if (!ask_loader) return version;
  const std::string name = ask(ask_loader, kName), number = ask(ask_loader, kVersion);
  if (!name.empty())
    version.running = name + " " + number + " of " + ask(ask_loader, kOpenClVersion) + ", used as OpenCL 1.2";
  return version;
}

}  // namespace sightline::opencl
