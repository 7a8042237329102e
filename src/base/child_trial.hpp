#pragma once
/// Work that may take its process with it, tried in a process that can be spared.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace sightline {

/// Runs the work in a forked copy of this process, with its output discarded, and waits for its end. Changes
/// that the work makes in memory are lost; changes to files stay.
///
/// Thread-safety: any thread. The copy has only the calling thread, and locks held by other threads stay
/// locked in it. Under ThreadSanitizer, which ends copies that start threads, no copy is made.
/// @param limit  the copy is killed after this time; later where it goes on, but hardly gets processor time
/// @return empty if `work` returned, otherwise what happened, such as "it crashed (Aborted)". No value if no
///   process can be made or its end cannot be observed, such as when this process ignores SIGCHLD
std::optional<std::string> try_in_child(const std::function<void()>& work, std::chrono::milliseconds limit);

}  // namespace sightline
