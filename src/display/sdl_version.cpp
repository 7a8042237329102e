#include "display/sdl_version.hpp"

#include <SDL_version.h>

namespace sightline::display {
namespace {

std::string text_of(const SDL_version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

}  // namespace

LibraryVersion sdl_version() {
  SDL_version built, running;
  SDL_VERSION(&built);
  SDL_GetVersion(&running);
  return {"SDL2", text_of(built), text_of(running)};
}

}  // namespace sightline::display
