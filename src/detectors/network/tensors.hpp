#pragma once
/// Tensors of the network engine under their short names, and problems whose text names options.

#include <memory>
#include <stdexcept>

#include "base/error.hpp"
#include "network/tensor.hpp"

namespace sightline::network {

using nn::DataType;
using nn::elements_of;
using nn::is_known;
using nn::kUnknown;
using nn::number_at;
using nn::Shape;
using nn::Tensor;
using nn::TensorType;
using nn::text_of;

/// A problem of a network. Its text is a predicate: "takes no picture".
class Problem : public std::runtime_error {
 public:
  explicit Problem(const Message& text)
      : std::runtime_error(text.text(Words::command_line)), message_(std::make_shared<Message>(text)) {}
  explicit Problem(const nn::Problem& problem) : Problem(Message(problem.what())) {}
  const Message& message() const noexcept { return *message_; }

 private:
  std::shared_ptr<const Message> message_;
};

}  // namespace sightline::network
