#pragma once
/// Base of the tests of model files.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "detectors/filterbank/model.hpp"
#include "model/safetensors.hpp"
#include "support/filterbank.hpp"

namespace sightline::test {

/// A model file made by the derived class, and the errors after changes to it.
class ModelFileTest : public ::testing::Test {
 protected:
  /// The complaint about the file after `change` was done to it; "" where it loads.
  std::string complaint(const std::function<void(Safetensors&)>& change) const;
  /// The same without one of its arrays.
  std::string complaint_without(const std::string& array) const;
  /// The same with another text in the header.
  std::string complaint_about(const std::string& key, const std::string& value) const;
  /// A file cut at many places is refused.
  void expect_cuts_refused() const;

  TempDir folder;
  const std::filesystem::path file = folder / "model.safetensors";
  const std::filesystem::path changed = folder / "changed.safetensors";
};

}  // namespace sightline::test
