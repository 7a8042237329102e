#pragma once
/// The window of `sightline live`.

#include "apps/live/live_session.hpp"

namespace sightline::apps {

/// Runs a session with a window, on the main thread, until it ends or the user quits. Throws Error (failed)
/// where there is no screen, before anything else is begun.
/// @param verbosity  as Common has it
void run_in_window(const LiveArguments& arguments, int verbosity);

}  // namespace sightline::apps
