#pragma once
/// Work that may take its process with it, tried in a process that can be spared.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace sightline {

/// Does the work in a copy of this process (fork), whose output nobody sees, and waits for its end. What the
/// work changes, files and the like apart, is lost with the copy.
///
/// Thread-safety: any thread; but the copy has no thread but the caller's, and what other threads had locked
/// stays locked there. Under ThreadSanitizer, which ends copies that start threads, there is none.
/// @param limit  the copy is killed after this time
/// @return empty where `work` returned; otherwise what happened, such as "it crashed (Aborted)". None where
/// no
///         process can be made, or its end is not to be known, as where this process ignores SIGCHLD
std::optional<std::string> try_in_child(const std::function<void()>& work, std::chrono::milliseconds limit);

}  // namespace sightline
