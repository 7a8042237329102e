#pragma once
/// What the tests of model files partition.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "filterbank/model.hpp"
#include "model/safetensors.hpp"
#include "support/filterbank.hpp"

namespace sightline::test {

/// A model file, which the derived class makes, and what is said of it once it has been changed.
class ModelFileTest : public ::testing::Test {
 protected:
  /// The complaint about the file after `change` was done to it; "" where it loads.
  template <typename Change>
  std::string complaint(const Change& change) const {
    Safetensors container = Safetensors::load(file);
    change(container);
    container.save(changed);
    const std::string message = error_of(ExitCode::model, [&] { filterbank::load_model(changed); });
    if (!message.empty()) {
      EXPECT_THAT(message, ::testing::HasSubstr(changed.string()));
    }
    return message;
  }
  /// The same with another text in the header.
  std::string complaint_about(const std::string& key, const std::string& value) const {
    return complaint([&](Safetensors& container) { container.metadata[key] = value; });
  }

  TempDir folder;
  const std::filesystem::path file = folder / "model.safetensors";
  const std::filesystem::path changed = folder / "changed.safetensors";
};

}  // namespace sightline::test
