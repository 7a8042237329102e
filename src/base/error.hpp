#pragma once
/// Errors that reach the user: what happened, where, and what to do about it.

#include <stdexcept>
#include <string>
#include <string_view>

namespace sightline {

/// Exit codes of the `sightline` program; every Error maps to one of them.
enum class ExitCode : int {
  done = 0,    ///< no failure: standard output was closed
  failed = 1,  ///< something broke while running
  usage = 2,   ///< wrong command line or configuration
  input = 3,   ///< the input cannot be used
  model = 4,   ///< the model file cannot be used
  device = 5,  ///< a device that was asked for is not there
};

/// The one exception type that Sightline throws on purpose.
///
/// `what()` is a complete message for a person: it names the thing ("where"), the problem ("what") and, where
/// there is one, the remedy. Thrown by constructors and by set-up code; per-frame outcomes are values
/// instead.
class Error : public std::runtime_error {
 public:
  /// @param code     the class of the error, and the exit code of a program that ends on it
  /// @param problem  what is wrong and where, without a full stop
  /// @param remedy   what the user can do; may be empty
  Error(ExitCode code, const std::string& problem, std::string_view remedy = {})
      : std::runtime_error(remedy.empty() ? problem : problem + "; " + std::string(remedy)), code_(code) {}

  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace sightline
