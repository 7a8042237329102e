#pragma once
// Errors thrown by calls. Uses std::function to keep compilation of the tests fast.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace sightline::test {

/// The message of the Error that `work` throws, which must have this code; "" where it throws none.
std::string error_of(ExitCode code, const std::function<void()>& work);

/// `action` must throw an Error with the code. Its message names the fact: a file, an option, a value.
void expect_error(ExitCode code, const std::string& fact, const std::function<void()>& action);
void expect_error(ExitCode code, const std::function<void()>& action);

/// Inputs, each with the fact that the error about it names.
using BadInputs = std::vector<std::pair<std::string, std::string>>;
/// `take` must throw an Error with the code for each of the inputs.
void expect_errors(ExitCode code, const BadInputs& inputs,
                   const std::function<void(const std::string&)>& take);

}  // namespace sightline::test
