#pragma once
/// Families of libraries over the core, for programs that link all of them.

namespace sightline {

/// Adds them to `families()`. Idempotent; see add_family.
void add_more_families();

}  // namespace sightline
