#pragma once
/// What numbers on the command line are checked for, beside ranges.

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace sightline::apps {

/// A finite number above 0; a finite one that is 0 or more. CLI11's own say so with the largest number there
/// is, in all of its digits.
CLI::Validator positive();
CLI::Validator not_negative();

/// Has every number of every subcommand refused that is none ("nan"): it is neither below a range nor above,
/// and so in all of them.
void refuse_nan(CLI::App& app);

}  // namespace sightline::apps
