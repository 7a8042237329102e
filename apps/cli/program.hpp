#pragma once
/// The `sightline` program.

namespace sightline::apps {

/// Parses the command line, runs a subcommand, and turns errors into messages and exit codes. Sets the
/// process's signals, log and terminal: call it once, from main.
/// @return the process's exit code
int run_program(int argc, char** argv);

}  // namespace sightline::apps
