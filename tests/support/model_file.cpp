#include "support/model_file.hpp"

#include <gmock/gmock.h>

namespace sightline::test {

std::string ModelFileTest::complaint(const std::function<void(Safetensors&)>& change) const {
  Safetensors container = Safetensors::load(file);
  change(container);
  container.save(changed);
  const std::string message = error_of(ExitCode::model, [&] { filterbank::load_model(changed); });
  if (!message.empty()) {
    EXPECT_THAT(message, ::testing::HasSubstr(changed.string()));
  }
  return message;
}

std::string ModelFileTest::complaint_about(const std::string& key, const std::string& value) const {
  return complaint([&](Safetensors& container) { container.metadata[key] = value; });
}

}  // namespace sightline::test
