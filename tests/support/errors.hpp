#pragma once
// Errors thrown by calls. Uses std::function to keep compilation of the tests fast.

#include <functional>
#include <string>

#include "base/error.hpp"

namespace sightline::test {

/// The message of the Error that `work` throws, which must have this code; "" where it throws none.
std::string error_of(ExitCode code, const std::function<void()>& work);

/// The Error that `action` throws must have the code, and the words in its message.
void expect_error(ExitCode code, const std::string& words, const std::function<void()>& action);

}  // namespace sightline::test
