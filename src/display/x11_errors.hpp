#pragma once
/// Internal to src/display: refused X requests and a lost X server do not end the program.

#include <SDL.h>

#include <atomic>

namespace sightline::display {

/// Makes refused X requests log an error, instead of Xlib's immediate end of the program, which would lose
/// unwritten output. Requests to destroyed windows are not logged, because SDL sends its wake-up events over
/// a separate connection and they may arrive after the window's end. Call it before SDL's video part is
/// initialised, which chains to existing handlers. Applies to all X connections of the process.
/// Thread-safety: the main thread; the log is written from any.
void survive_x11_errors();

/// Sets `is_lost` if this window's connection to its X server breaks, instead of Xlib's ending of the
/// program. Afterwards nothing may wait for the server: windows must not be changed or destroyed. Does
/// nothing without X11. @param is_lost  outlives the connection, or is true when it ends
void notice_lost_connection(SDL_Window* window, std::atomic<bool>& is_lost);

}  // namespace sightline::display
