#include "onnx/parts.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "network/tensor.hpp"

namespace sightline::nn {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Bytes of memory, at most: of a number, of a text or a part with others in it, and of a byte of packed whole
// numbers.
constexpr std::int64_t kNumberBytes = 16, kPartBytes = 160, kPackedBytes = 16;
constexpr std::int64_t kMostPartBytes = std::int64_t{512} << 20;
constexpr int kDeepestPart = 64;
constexpr std::size_t kLongestName = 256;

enum WireType : std::uint32_t { kVarint, kFixed64, kLength, kGroup, kGroupEnd, kFixed32 };

class PartCounter {
 public:
  explicit PartCounter(std::span<const char> bytes)
      : stream_(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())) {}

  void count(const Descriptor& message, int level) {
    if (level > kDeepestPart) throw Problem("has parts in one another, too deep to be a network");
    while (const std::uint32_t tag = stream_.ReadTag()) {
      add(kNumberBytes);
      const std::uint32_t type = tag & 7;
      std::uint64_t number = 0;
      if (type == kLength) {
        count_part(message.FindFieldByNumber(static_cast<int>(tag >> 3)), level);
      } else {
        const bool is_read = type == kVarint    ? stream_.ReadVarint64(&number)
                             : type == kFixed64 ? stream_.Skip(8)
                             : type == kFixed32 ? stream_.Skip(4)
                                                : false;
        check(is_read);
      }
    }
    check(stream_.ConsumedEntireMessage());
  }

 private:
  static void check(bool is_read) {
    if (!is_read) throw Problem("is damaged, or not an ONNX file");
  }
  void add(std::int64_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMostPartBytes)
      throw Problem("has so many parts that they need more than " + std::to_string(kMostPartBytes >> 20) +
                    " MiB of memory");
  }
  void count_part(const FieldDescriptor* field, int level) {
    int length = 0;
    check(stream_.ReadVarintSizeAsInt(&length));
    add(kPartBytes);
    if (field && field->message_type()) {
      const auto end = stream_.PushLimit(length);
      count(*field->message_type(), level + 1);
      stream_.PopLimit(end);
      return;
    }
    const bool is_packed = field && (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
                                     field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                                     field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64);
    if (is_packed) add(kPackedBytes * length);
    check(stream_.Skip(length));
  }

  google::protobuf::io::CodedInputStream stream_;
  std::int64_t bytes_ = 0;
};

}  // namespace

void check_parts(std::span<const char> bytes) {
  PartCounter(bytes).count(*onnx::ModelProto::descriptor(), 0);
}

std::string short_name(const std::string& name) {
  std::string shown = name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "...";
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return shown;
}

}  // namespace sightline::nn
