#pragma once
/// Stopping on request: the first SIGINT or SIGTERM asks the program to finish what it writes and end; a
/// second ends it at once.

#include <atomic>

namespace sightline::apps {

/// Installs the handlers and returns the flag that they set.
const std::atomic<bool>& stop_requested();

/// Throws Error (failed) once a stop was asked for: of work whose result is worth nothing before its end.
void throw_if_stopped();

/// The exit code of a run that was stopped that way: 128 + the signal's number, as shells have it; 0 if it
/// was not.
int stop_exit_code();

}  // namespace sightline::apps
