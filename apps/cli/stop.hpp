#pragma once
/// Stopping on request: the first SIGINT, SIGTERM or SIGHUP asks the program to finish what it writes and
/// end. The program ends at once on a second signal of the same kind, or when it has not noticed the request
/// within 3 s, for instance in a call that cannot be interrupted. Outputs get 30 s to be finished.

#include <atomic>

namespace sightline::apps {

/// Installs the handlers and returns the flag that they set. SIGHUP stays ignored where it was (nohup).
const std::atomic<bool>& stop_requested();

/// Tells that the request was noticed, or that the work is done: only outputs remain to be finished.
void begin_to_finish();

/// Throws Error (failed) once a stop was requested. For work whose partial result has no value.
void throw_if_stopped();

/// The exit code of a run that was stopped that way: 128 + the signal's number, as shells have it; 0 if it
/// was not.
int stop_exit_code();

}  // namespace sightline::apps
