#include "characterisation/session.hpp"

#include "base/error.hpp"

namespace sightline::characterisation {

DeviceSession::DeviceSession(const opencl::Context& context, opencl::ProgramCache* cache, Effort effort)
    : context_(&context), cache_(cache), effort_(std::move(effort)), queue_(context) {}

opencl::Kernel DeviceSession::kernel(const std::string& file, const std::string& name,
                                     const std::string& options) {
  std::unique_ptr<opencl::Program>& program = programs_[file + " " + options];
  if (!program)
    program = std::make_unique<opencl::Program>(*context_, "characterisation/" + file, options, cache_);
  return opencl::Kernel(*program, name);
}

double DeviceSession::run(const opencl::Kernel& kernel, const opencl::Range& range) {
  const opencl::Event event = kernel.enqueue(queue_, range);
  queue_.flush();
  queue_.wait(event);
  const opencl::Event::Times times = event.times(context_->name());
  return 1e-9 * static_cast<double>(times.ended - times.started);
}

opencl::Buffer DeviceSession::words(const std::vector<std::uint32_t>& values) {
  opencl::Buffer buffer(*context_, values.size() * sizeof values[0]);
  queue_.write_now(buffer, values.data(), values.size() * sizeof values[0]);
  return buffer;
}

std::vector<std::uint32_t> DeviceSession::read(const opencl::Buffer& buffer, std::size_t words,
                                               std::size_t first) {
  std::vector<std::uint32_t> values(words);
  queue_.wait(queue_.read(buffer, values.data(), words * sizeof values[0], first * sizeof values[0]));
  return values;
}

std::size_t DeviceSession::usual_group() const {
  const std::size_t wanted = is_cpu() ? 64 : 256;
  return std::min<std::size_t>(wanted, std::max<std::uint64_t>(device().largest_work_group, 1));
}

std::size_t DeviceSession::filling_items() const {
  const std::size_t units = static_cast<std::size_t>(std::max(device().compute_units, 1));
  return units * (is_cpu() ? 8 : 16) * usual_group();
}

void require_result(bool is_right, const std::string& what, const opencl::Context& context) {
  if (is_right) return;
  throw Error(ExitCode::failed, what + " gave a wrong result on '" + context.name() + "'",
              "its driver is not to be trusted: try another version");
}

}  // namespace sightline::characterisation
