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

void expect_error(ExitCode code, const std::string& words, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one about '" << words << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace sightline::test
