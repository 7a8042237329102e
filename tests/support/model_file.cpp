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

std::string ModelFileTest::complaint_without(const std::string& array) const {
  return complaint([&](Safetensors& container) {
    Safetensors rest;
    rest.metadata = container.metadata;
    for (const auto& [name, tensor] : container.tensors()) {
      const TensorShape& shape = tensor.shape;
      if (name == array) continue;
      if (tensor.dtype == DType::f32) rest.set<float>(name, shape, container.array<float>(name, shape));
      if (tensor.dtype == DType::i32)
        rest.set<std::int32_t>(name, shape, container.array<std::int32_t>(name, shape));
      if (tensor.dtype == DType::i8)
        rest.set<std::int8_t>(name, shape, container.array<std::int8_t>(name, shape));
    }
    EXPECT_EQ(rest.tensors().size() + 1, container.tensors().size());
    container = std::move(rest);
  });
}

void ModelFileTest::expect_cuts_refused() const {
  const std::string whole = bytes_of(file);
  for (std::size_t size = 0; size < whole.size(); size += size < 1500 ? 37 : 211) {
    store(changed.string(), whole.substr(0, size));
    SCOPED_TRACE(size);
    expect_error(ExitCode::model, changed, [&] { filterbank::load_model(changed); });
  }
}

std::string ModelFileTest::complaint_about(const std::string& key, const std::string& value) const {
  return complaint([&](Safetensors& container) { container.metadata[key] = value; });
}

}  // namespace sightline::test
