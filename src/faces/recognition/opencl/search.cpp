#include "faces/recognition/opencl/search.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "opencl/data.hpp"

namespace sightline::recognition {
namespace {

using Kind = TemplateFormat::Kind;

// Same as in kernels/recognition/search.cl.
constexpr std::size_t kLanes = 16;
constexpr std::size_t kPrepareItems = 256;
constexpr std::size_t kChunk = 1024;
static_assert(kChunk >= 2 * kMostNearest, "a selection must leave fewer keys than there were");

std::size_t words_of(const TemplateFormat& format) {
  return format.kind == Kind::vector8 ? (static_cast<std::size_t>(format.dims) + 3) / 4
                                      : static_cast<std::size_t>(format.dims);
}

std::size_t plan_bytes(const TemplateFormat& format, std::size_t queries) {
  const std::size_t row = format.kind == Kind::vector8 ? queries : 2 + 2 * queries;
  return 4 * (1 + queries + words_of(format) * row);
}

std::string options_of(const TemplateFormat& format, const SearchTuning& tuning, int queries) {
  using opencl::define, opencl::define_if, opencl::define_variant;
  return define_if(format.kind == Kind::counts8, "COUNTS8") +
         define_if(format.kind == Kind::counts16, "COUNTS16") +
         define_if(format.kind == Kind::vector8, "VECTOR8") + define_if(!format.weights.empty(), "WEIGHTED") +
         define("DIMS", format.dims) + define("WORDS", static_cast<int>(words_of(format))) +
         define("QUERIES", queries) + define("SLICES", tuning.slices) + define("UNROLL", tuning.unroll) +
         define("SELECT_ITEMS", tuning.select_items) + define_variant("QUOTIENT", tuning.quotient) +
         define_variant("DOT", tuning.dot);
}

// Makes a buffer large enough; its contents may be lost.
void reserve_bytes(opencl::Buffer& buffer, const opencl::Context& context, std::size_t bytes) {
  if (buffer.bytes() < bytes) buffer = opencl::Buffer(context, bytes);
}

std::size_t chunks_of(std::size_t keys) {
  return (keys + kChunk - 1) / kChunk;
}

}  // namespace

SearchTuning default_search_tuning(const opencl::DeviceInfo& device) {
  SearchTuning tuning;
  if (device.is_nvidia()) {
    tuning.quotient = "ptx";
    tuning.dot = "ptx";
  } else if (device.integer_dot_product) {
    tuning.dot = "khr";
  }
  // Work-items of a group run in turn there, and compilers take long for unrolled code.
  if (device.type == opencl::DeviceType::cpu) return {1, 1, 1, 256, tuning.quotient, tuning.dot};
  const auto largest = static_cast<int>(std::min<std::uint64_t>(device.largest_work_group, 512));
  tuning.slices = std::min(tuning.slices, largest / static_cast<int>(kLanes));
  tuning.select_items = std::min(tuning.select_items, largest);
  return tuning;
}

void DeviceTemplates::reserve(const TemplateSet& set) {
  if (set.blocks() <= capacity_) return;
  // A growing set keeps growing, so reserve space; an initial set gets its exact size.
  const std::size_t blocks = capacity_ == 0 ? set.blocks() : std::max(set.blocks(), capacity_ * 3 / 2);
  versions_.clear();
  size_ = capacity_ = 0;
  memory_ = {};
  sums_ = {};
  memory_ = opencl::Buffer(*context_, blocks * set.block_bytes());
  sums_ = opencl::Buffer(*context_, blocks * TemplateSet::kBlock * sizeof(std::uint32_t));
  capacity_ = blocks;
}

void DeviceTemplates::update(opencl::Queue& queue, const TemplateSet& set) {
  reserve(set);
  std::vector<std::uint64_t> versions;
  versions_.swap(versions);  // an update that fails leaves nothing that counts as good
  size_ = 0;
  versions.resize(set.blocks());
  constexpr std::size_t kSumBytes = TemplateSet::kBlock * sizeof(std::uint32_t);
  for (std::size_t b = 0; b < set.blocks(); ++b) {
    if (versions[b] == set.version(b)) continue;
    queue.write(memory_, set.block(b), set.block_bytes(), b * set.block_bytes());
    queue.write(sums_, set.sums(b), kSumBytes, b * kSumBytes);
    versions[b] = set.version(b);
  }
  queue.finish();
  versions_.swap(versions);
  size_ = set.size();
}

SearchProgram::SearchProgram(const opencl::Context& context, const TemplateFormat& format,
                             opencl::ProgramCache* cache, const SearchTuning& tuning)
    : context_(&context),
      format_(format),
      tuning_(tuning),
      one_(context, "recognition/search.cl", options_of(format, tuning, 1), cache) {
  if (tuning.queries > 1)
    several_ =
        opencl::Program(context, "recognition/search.cl", options_of(format, tuning, tuning.queries), cache);
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, format.weights);
}

DeviceSearch::Kernels::Kernels(const opencl::Program& program, std::size_t at_once)
    : prepare(program, "prepare"),
      distances(program, "distances"),
      select(program, "select_nearest"),
      queries(at_once) {}

DeviceSearch::DeviceSearch(const SearchProgram& program, opencl::Queue& queue)
    : program_(&program),
      queue_(&queue),
      one_(program.one_, 1),
      several_(program.tuning_.queries > 1 ? program.several_ : program.one_,
               static_cast<std::size_t>(program.tuning_.queries)) {}

opencl::Event DeviceSearch::enqueue(const DeviceTemplates& templates, const opencl::Buffer& queries,
                                    std::size_t count, int k) {
  steps_.clear();
  count_ = count;
  per_query_ = std::min<std::size_t>(std::clamp(k, 1, kMostNearest), templates.size());
  if (count_ == 0 || per_query_ == 0) return queue_->marker();

  const opencl::Context& context = *program_->context_;
  const std::size_t keys = templates.blocks() * TemplateSet::kBlock;
  if (keys > std::numeric_limits<cl_uint>::max())
    throw Error(ExitCode::failed, "there are too many templates for OpenCL");
  Kernels& kernels = count == 1 ? one_ : several_;
  const std::size_t plans = (count + kernels.queries - 1) / kernels.queries;
  reserve_bytes(plans_, context, plans * plan_bytes(program_->format_, kernels.queries));
  reserve_bytes(keys_[0], context, count * keys * sizeof(cl_ulong));
  reserve_bytes(keys_[1], context, count * chunks_of(keys) * per_query_ * sizeof(cl_ulong));

  kernels.prepare.arguments(queries, static_cast<cl_int>(count), program_->weights_, plans_);
  steps_.push_back({"prepare", kernels.prepare.enqueue(*queue_, opencl::groups(plans, kPrepareItems))});
  kernels.distances.arguments(templates.memory(), templates.sums(), static_cast<cl_uint>(templates.size()),
                              plans_, static_cast<cl_int>(count), keys_[0], static_cast<cl_uint>(keys));
  const std::size_t items = kLanes * static_cast<std::size_t>(program_->tuning_.slices);
  steps_.push_back({"distances", kernels.distances.enqueue(
                                     *queue_, {{templates.blocks() * items, plans, 1}, {items, 1, 1}})});
  return enqueue_selection(keys);
}

// The k lowest of every chunk, then of what these leave, until one chunk is left.
opencl::Event DeviceSearch::enqueue_selection(std::size_t keys) {
  const std::size_t bytes = count_ * per_query_ * sizeof(cl_ulong);
  if (result_.bytes() < bytes) result_ = opencl::SharedBuffer(*queue_, bytes);
  result_.to_device_unwritten();
  const auto items = static_cast<std::size_t>(program_->tuning_.select_items);
  std::size_t from = 0;
  for (std::size_t stride = keys;; from = 1 - from) {
    const std::size_t chunks = chunks_of(keys);
    const std::size_t left = chunks * per_query_;
    opencl::Kernel& select = one_.select;
    select.arguments(keys_[from], static_cast<cl_uint>(stride), static_cast<cl_uint>(keys),
                     chunks == 1 ? result_.device() : keys_[1 - from], static_cast<cl_uint>(left),
                     static_cast<cl_uint>(per_query_));
    steps_.push_back({"select", select.enqueue(*queue_, {{chunks * items, count_, 1}, {items, 1, 1}})});
    if (chunks == 1) return result_.to_host();
    keys = stride = left;
  }
}

void DeviceSearch::matches(Matches& matches) const {
  matches.per_query = per_query_;
  matches.all.clear();
  for (std::size_t i = 0; i < count_ * per_query_; ++i) {
    cl_ulong key;
    std::memcpy(&key, result_.host() + i * sizeof(key), sizeof(key));
    matches.all.push_back({static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  }
}

}  // namespace sightline::recognition
