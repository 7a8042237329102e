#pragma once
/// How long devices have been compiling kernels, on a line that is rewritten on a terminal.

namespace sightline::apps {

/// Shows it from now on, where messages are shown and standard error is a terminal.
void show_compilations();

}  // namespace sightline::apps
