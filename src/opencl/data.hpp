#pragma once
/// Host data for kernels: build options and input.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "opencl/context.hpp"

namespace sightline::opencl {

/// Bytes of the elements of a vector, array or span.
template <typename Values>
std::size_t bytes_of(const Values& values) {
  return std::size(values) * sizeof(*std::data(values));
}

/// Makes `buffer` a read-only one with these values (possibly none) and waits. Returns their number. Throws
/// DeviceError.
template <typename Values>
std::size_t upload(Queue& queue, Buffer& buffer, const Values& values) {
  buffer = Buffer(queue.context(), bytes_of(values), Buffer::Access::read_only);
  if (std::size(values) > 0) queue.write_now(buffer, std::data(values), bytes_of(values));
  return std::size(values);
}

/// An offset or size that has been summed up in 64 bits, for kernels, which index with 32: a frame that is
/// too large for these is refused, not wrapped. Throws Error (failed).
cl_int checked(std::int64_t offset);

/// A build option: " -DNAME=VALUE".
std::string define(const std::string& name, int value);
/// The same without a value: " -DNAME" if `is_set`, else nothing.
std::string define_if(bool is_set, const std::string& name);
/// One of several variants of a kernel: " -DNAME_WORD", the word in capitals.
std::string define_variant(const std::string& name, const std::string& word);

}  // namespace sightline::opencl
