#pragma once
/// Internal to src/display: what an X server refuses, and one that is gone, end no program.

#include <SDL.h>

#include <atomic>

namespace sightline::display {

/// From here on, a request that the X server refuses is logged, and the program goes on; Xlib would end it on
/// the spot, and what it had yet to write would be lost. A window that is gone is no news: SDL sends the
/// events that it wakes itself with over a connection of their own, and a busy server may come to one after
/// the window was destroyed. To be called before SDL's video part is initialised, which hands on to what it
/// finds. Other connections of the process are treated likewise. Thread-safety: the main thread; the log is
/// written from any.
void survive_x11_errors();

/// Where the connection of this window to its X server breaks, `is_lost` becomes true, and the program goes
/// on; Xlib would end it. Nothing may wait for an answer of that server then: windows are neither changed nor
/// destroyed. Does nothing for windows elsewhere than on X11. @param is_lost  outlives the connection, or is
/// true when it ends
void notice_lost_connection(SDL_Window* window, std::atomic<bool>& is_lost);

}  // namespace sightline::display
