#pragma once
/// The nearest of many templates on an OpenCL device: src/faces/recognition/search.hpp, to the bit.
///
/// A device has one copy of a set (DeviceTemplates) and one built program (SearchProgram) for all searches;
/// each searching thread has its own DeviceSearch and queue.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "faces/recognition/search.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/shared_buffer.hpp"

namespace sightline::recognition {

/// Build options of the kernels. Results do not depend on them.
struct SearchTuning {
  int queries = 2;                    ///< queries per launch, if there are several
  int slices = 32;                    ///< parts of a template that are summed apart, by 16 work-items each
  int unroll = 8;                     ///< rows of a part that a work-item reads ahead
  int select_items = 512;             ///< work-items that sort 1,024 distances
  std::string quotient = "division";  ///< or "ptx": NVIDIA's reciprocal
  std::string dot = "integer";        ///< or "ptx", "khr": instructions for four products
};
/// Untuned default for a device.
SearchTuning default_search_tuning(const opencl::DeviceInfo& device);

/// A copy of a set on a device. Thread-safety: no search during an update.
class DeviceTemplates {
 public:
  explicit DeviceTemplates(const opencl::Context& context) : context_(&context) {}

  /// Makes it equal to the set: copies the blocks that have changed since the last time, and waits. It must
  /// always be the same set. Throws DeviceError, for example where the device's memory is too small; then it
  /// is empty.
  void update(opencl::Queue& queue, const TemplateSet& set);

  std::size_t size() const { return size_; }
  std::size_t blocks() const { return versions_.size(); }
  const opencl::Buffer& memory() const { return memory_; }
  const opencl::Buffer& sums() const { return sums_; }

 private:
  void reserve(const TemplateSet& set);

  const opencl::Context* context_;
  opencl::Buffer memory_, sums_;
  std::size_t capacity_ = 0;  ///< blocks
  std::size_t size_ = 0;
  std::vector<std::uint64_t> versions_;  ///< versions of the blocks on the device
};

/// The kernels for templates of one format. Immutable.
class SearchProgram {
 public:
  /// @param cache  may be null
  /// Throws DeviceError.
  SearchProgram(const opencl::Context& context, const TemplateFormat& format, opencl::ProgramCache* cache,
                const SearchTuning& tuning);

 private:
  friend class DeviceSearch;
  const opencl::Context* context_;
  TemplateFormat format_;
  SearchTuning tuning_;
  opencl::Program one_, several_;  ///< for one query, and for `tuning_.queries` at once, if more than one
  opencl::Buffer weights_;
};

/// One search at a time, on one queue. Program and queue must outlive it. Thread-safety: one thread at a
/// time.
class DeviceSearch {
 public:
  DeviceSearch(const SearchProgram& program, opencl::Queue& queue);

  /// Enqueues a search and the copy of its result; `matches` may be called when the event is complete.
  /// @param queries  `count` templates one after the other, as they are in memory
  /// @param k        as for NearestSearch
  /// Throws DeviceError. The queue is not flushed.
  opencl::Event enqueue(const DeviceTemplates& templates, const opencl::Buffer& queries, std::size_t count,
                        int k);
  /// Matches of the last search.
  void matches(Matches& matches) const;

  /// A kernel's run of the last search, for measurements.
  struct Step {
    const char* name;
    opencl::Event event;
  };
  std::span<const Step> steps() const { return steps_; }

 private:
  /// Kernels for a number of queries at once, with the plans' memory.
  struct Kernels {
    Kernels(const opencl::Program& program, std::size_t at_once);
    opencl::Kernel prepare, distances, select;
    std::size_t queries;
  };
  opencl::Event enqueue_selection(std::size_t keys);

  const SearchProgram* program_;
  opencl::Queue* queue_;
  Kernels one_, several_;
  opencl::Buffer plans_;
  opencl::Buffer keys_[2];  ///< [query][template], and what selections leave
  opencl::SharedBuffer result_;
  std::size_t count_ = 0, per_query_ = 0;
  std::vector<Step> steps_;
};

}  // namespace sightline::recognition
