#pragma once
/// Internal to src/display.

namespace sightline::display {

/// From here on, a request that the X server refuses is logged, and the program goes on; Xlib would end it on
/// the spot, and what it had yet to write would be lost. A window that is gone is no news: SDL sends the
/// events that it wakes itself with over a connection of their own, and a busy server may come to one after
/// the window was destroyed. To be called before SDL's video part is initialised, which hands on to what it
/// finds. Another connection of the process is treated likewise. Thread-safety: the main thread; the log is
/// written from any.
void survive_x11_errors();

}  // namespace sightline::display
