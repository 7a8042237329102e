#include "characterisation/session.hpp"

#include <exception>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"

namespace sightline::characterisation {
namespace {

std::string key_of(const ProgramName& program) {
  return program.file + " " + program.options;
}

}  // namespace

DeviceSession::DeviceSession(const opencl::Context& context, opencl::ProgramCache* cache, Effort effort)
    : context_(&context), cache_(cache), effort_(std::move(effort)), queue_(context) {}

void DeviceSession::build(const std::vector<ProgramName>& names) {
  std::vector<std::unique_ptr<opencl::Program>> built(names.size());
  // Building is safe from any thread, a program each (OpenCL 1.2, appendix A.2), and so is the cache.
  build_seconds_ += host_seconds([&] {
    parallel_for_isolated(names.size(), [&](std::size_t i) {
      try {
        built[i] = made(names[i]);
      } catch (const std::exception& error) {
        logger().debug("{}", error.what());  // reported again on use
      }
    });
  });
  for (std::size_t i = 0; i < names.size(); ++i)
    if (built[i]) programs_.try_emplace(key_of(names[i]), std::move(built[i]));
}

opencl::Kernel DeviceSession::kernel(const ProgramName& program, const std::string& name) {
  auto found = programs_.find(key_of(program));
  if (found == programs_.end()) {
    std::unique_ptr<opencl::Program> built;
    build_seconds_ += host_seconds([&] { built = made(program); });
    found = programs_.emplace(key_of(program), std::move(built)).first;
  }
  return opencl::Kernel(*found->second, name);
}

std::unique_ptr<opencl::Program> DeviceSession::made(const ProgramName& name) const {
  return std::make_unique<opencl::Program>(*context_, "characterisation/" + name.file, name.options, cache_);
}

double DeviceSession::run(const opencl::Kernel& kernel, const opencl::NDRange& range) {
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
