#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace sightline::test {

std::string error_of(ExitCode code, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

void expect_error(ExitCode code, const std::string& fact, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one about '" << fact << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(fact), std::string::npos) << error.what();
  }
}

void expect_error(ExitCode code, const std::function<void()>& action) {
  expect_error(code, "", action);
}

void expect_errors(ExitCode code, const BadInputs& inputs,
                   const std::function<void(const std::string&)>& take) {
  for (const auto& [input, fact] : inputs) {
    SCOPED_TRACE(input.substr(0, 300));
    expect_error(code, fact, [&] { take(input); });
  }
}

}  // namespace sightline::test
