// Reading and writing global memory: work-groups, shifts, strides, vectors; and reads that hit a cache.
#include "characterisation/benchmarks.hpp"
#include "characterisation/programs.hpp"

namespace sightline::characterisation {
namespace {

constexpr std::size_t kChecked = 4096;  // words at each end
constexpr std::size_t kArray = 512;     // in units of 16 bytes: ARRAY of access.cl

std::size_t largest_group(const DeviceSession& session, const opencl::Kernel& kernel) {
  return std::min<std::size_t>(session.device().largest_work_group, kernel.largest_work_group());
}

// True if the words at both ends of the array equal `expected(i)`.
template <typename Expected>
bool is_right(DeviceSession& session, const opencl::Buffer& to, std::size_t words, const Expected& expected) {
  const std::size_t checked = std::min(kChecked, words);
  for (const std::size_t first : {std::size_t{0}, words - checked}) {
    const std::vector<std::uint32_t> values = session.read(to, checked, first);
    for (std::size_t i = 0; i < checked; ++i)
      if (values[i] != static_cast<std::uint32_t>(expected(first + i))) return false;
  }
  return true;
}

// Device seconds of `items` work-items; where they would take too long (groups of one work-item), of fewer:
// `items` says how many it were.
Spread time_items(DeviceSession& session, const opencl::Kernel& kernel, std::size_t& items,
                  std::size_t group) {
  items = items / group * group;
  const std::size_t few = std::max(items / 64 / group, std::size_t{1}) * group;
  const double expected = session.run(kernel, opencl::groups(few / group, group)) *
                          static_cast<double>(items) / static_cast<double>(few);
  const double limit = session.effort().point_seconds() / 10;
  if (expected > limit)
    items = std::max(static_cast<std::size_t>(static_cast<double>(items) * limit / expected) / group,
                     few / group) *
            group;
  return repeat(session.effort(), [&] { return session.run(kernel, opencl::groups(items / group, group)); });
}

std::vector<std::size_t> group_sizes(std::size_t largest, bool is_brief) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= largest; size *= is_brief ? 64 : 2) sizes.push_back(size);
  return sizes;
}

Curve of_groups(DeviceSession& session, const opencl::Buffer& from, const opencl::Buffer& to,
                std::size_t words, int width) {
  opencl::Kernel kernel = session.kernel(kAccessProgram, width == 4 ? "copy4" : "copy");
  kernel.arguments(from, to);
  Curve curve{width == 4 ? "copy.group.float4" : "copy.group.float",
              "Copy by size of the work-group",
              width == 4 ? "four words a work-item" : "a word a work-item",
              "work-items of a work-group",
              "GB/s",
              Clock::device,
              true,
              {}};
  for (const std::size_t group : group_sizes(largest_group(session, kernel), session.effort().is_brief())) {
    std::size_t items = words / width;
    session.queue().wait(session.queue().fill(to, 0, words * 4));
    const Spread seconds = time_items(session, kernel, items, group);
    require_result(is_right(session, to, items * width, [](std::size_t i) { return i; }), "a copy",
                   session.context());
    curve.points.push_back(
        {static_cast<double>(group), rate(seconds, 8.0 * width * static_cast<double>(items))});
  }
  return curve;
}

// Copies from the place `shift` or `stride` says.
Curve of_places(DeviceSession& session, const opencl::Buffer& from, const opencl::Buffer& to,
                std::size_t words, bool by_stride, std::size_t group) {
  opencl::Kernel kernel = session.kernel(kAccessProgram, by_stride ? "strided" : "shifted");
  const std::string name = by_stride ? "stride" : "shift";
  Curve curve{name + "." + std::to_string(group),
              by_stride ? "Strided reads: B[i] = A[i s]" : "Shifted reads: B[i] = A[i + s]",
              "work-groups of " + std::to_string(group),
              name + " s, words of 4 bytes",
              "GB/s",
              Clock::device,
              true,
              {}};
  // Shifts by single words matter on devices that coalesce the reads of neighbouring work-items.
  const cl_uint step = by_stride || !session.is_cpu() || session.effort().is_thorough() ? 1 : 4;
  for (cl_uint s = by_stride ? 1 : 0; s <= (by_stride ? 16U : 32U); s += step) {
    kernel.arguments(from, to, s);
    std::size_t items = by_stride ? words / 16 : words - 32;
    const Spread seconds = time_items(session, kernel, items, group);
    curve.points.push_back({static_cast<double>(s), rate(seconds, 8.0 * static_cast<double>(items))});
    require_result(is_right(session, to, items, [&](std::size_t i) { return by_stride ? i * s : i + s; }),
                   "a " + name + "d copy", session.context());
  }
  return curve;
}

Curve of_widths(DeviceSession& session, const opencl::Buffer& from, const opencl::Buffer& to,
                std::size_t words) {
  Curve curve{"read.width",
              "Reading by width of the vectors",
              "16 vectors a work-item",
              "words of a vector",
              "GB/s",
              Clock::device,
              true,
              {}};
  for (const int width : kReadWidths) {
    opencl::Kernel kernel = session.kernel(read_program(width), "read");
    kernel.arguments(from, to);
    const std::size_t group = std::min(session.usual_group(), largest_group(session, kernel));
    const std::size_t items = words / (16 * width) / group * group;
    const Spread seconds =
        repeat(session.effort(), [&] { return session.run(kernel, opencl::groups(items / group, group)); });
    curve.points.push_back(
        {static_cast<double>(width), rate(seconds, 64.0 * width * static_cast<double>(items))});
    const auto expected = [&](std::size_t item) {
      std::uint32_t sum = 0;
      for (std::size_t i = 0; i < 16; ++i)
        for (int lane = 0; lane < width; ++lane)
          sum += static_cast<std::uint32_t>((i * items + item) * width + lane);
      return sum;
    };
    require_result(is_right(session, to, items, expected), "reading", session.context());
  }
  return curve;
}

}  // namespace

opencl::Buffer numbered_words(DeviceSession& session, std::size_t words) {
  opencl::Buffer buffer(session.context(), words * 4);
  opencl::Kernel number = session.kernel(kAccessProgram, "number");
  number.arguments(buffer);
  session.run(number, {{words, 1, 1}, {}});
  return buffer;
}

std::size_t large_array_words(const DeviceSession& session) {
  const opencl::DeviceInfo& device = session.device();
  std::size_t bytes = std::size_t{session.effort().of(1U, session.is_cpu() ? 64U : 256U, 256U)} << 20;
  bytes = std::min<std::size_t>({bytes, device.largest_buffer_bytes / 2, device.memory_bytes / 6});
  return bytes / 4 / 4096 * 4096;
}

Spread copy_rate(DeviceSession& session, const opencl::Buffer& from, const opencl::Buffer& to,
                 std::size_t words, int width, std::size_t group) {
  opencl::Kernel kernel = session.kernel(kAccessProgram, width == 4 ? "copy4" : "copy");
  kernel.arguments(from, to);
  const std::size_t items = words / width;
  const opencl::NDRange range =
      group > 0 ? opencl::groups(items / group, group) : opencl::NDRange{{items, 1, 1}, {}};
  return rate(repeat(session.effort(), [&] { return session.run(kernel, range); }),
              8.0 * static_cast<double>(words));
}

void measure_access(DeviceSession& session, Characteristics& result) {
  const std::size_t words = large_array_words(session);
  const opencl::Buffer from = numbered_words(session, words);
  const opencl::Buffer to(session.context(), words * 4);
  session.queue().wait(session.queue().fill(to, 0, words * 4));
  for (const int width : {1, 4}) result.curves.push_back(of_groups(session, from, to, words, width));
  result.curves.push_back(of_widths(session, from, to, words));
  const std::size_t usual = session.usual_group();
  for (const bool by_stride : {false, true})
    for (const std::size_t group : {usual, std::max<std::size_t>(usual / 4, 1)})
      result.curves.push_back(of_places(session, from, to, words, by_stride, group));
}

void measure_cached_reads(DeviceSession& session, Characteristics& result) {
  std::vector<std::uint32_t> values(4 * kArray);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * i + 1);
  const opencl::Buffer array = session.words(values);
  const std::size_t group = session.usual_group();
  const std::size_t items = session.filling_items();
  const opencl::Buffer to(session.context(), items * 4);
  struct Memory {
    const char* id;
    const char* kernel;
    const char* title;
  };
  constexpr Memory kMemories[] = {
      {"cached.global", "read_cached", "reads of global memory that hit a cache"},
      {"cached.local", "read_local", "reads of local memory"},
      {"cached.constant", "read_constant", "reads of constant memory, all at one place"}};
  for (const Memory& memory : kMemories) {
    opencl::Kernel kernel = session.kernel(kAccessProgram, memory.kernel);
    const auto seconds_of = [&](int turns) {
      kernel.arguments(array, cl_int{turns}, to);
      return session.run(kernel, opencl::groups(items / group, group));
    };
    const int turns = calibrate(session.effort(), seconds_of, 4, 1 << 20);
    const Spread seconds = repeat(session.effort(), [&] { return seconds_of(turns); });
    const bool is_constant = std::string(memory.id) == "cached.constant";
    const auto expected = [&](std::size_t item) {
      std::uint32_t sum = 0;
      auto at = static_cast<std::uint32_t>(is_constant ? item / group : item % group);
      for (int i = 0; i < 16 * turns; ++i, at += static_cast<std::uint32_t>(is_constant ? 3 : group + 1))
        for (std::size_t lane = 0; lane < 4; ++lane) sum += values[4 * (at % kArray) + lane];
      return sum;
    };
    const std::vector<std::uint32_t> read = session.read(to, items);
    for (const std::size_t item : {std::size_t{0}, items / 2 + 1, items - 1})
      require_result(read[item] == expected(item), memory.title, session.context());
    result.figures.push_back({memory.id, memory.title, "GB/s", Clock::device, true,
                              rate(seconds, 256.0 * turns * static_cast<double>(items))});
  }
}

void measure_images(DeviceSession& session, Characteristics& result) {
  const std::size_t side = session.effort().of(64U, session.is_cpu() ? 1024U : 4096U, 4096U);
  const auto at = [&](std::size_t x, std::size_t y) { return y * side + x; };
  std::vector<std::int16_t> pixels(side * side);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::int16_t>(((i * 2654435761U >> 13) ^ (i / side)) & 255);
  const auto code = [&](std::size_t x, std::size_t y) {
    constexpr int kAround[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}};
    std::uint32_t bits = 0;
    for (std::size_t bit = 0; bit < 8; ++bit)
      bits |= std::uint32_t{pixels[at(x + kAround[bit][0], y + kAround[bit][1])] >= pixels[at(x, y)]} << bit;
    return bits;
  };
  const opencl::Buffer to(session.context(), pixels.size());
  const std::size_t group = session.is_cpu() ? 8 : 16;
  const auto measure = [&](const char* id, const char* title, const ProgramName& program,
                           const opencl::Buffer& picture) {
    opencl::Kernel kernel = session.kernel(program, "codes");
    const auto length = static_cast<cl_int>(side);
    kernel.arguments(picture, length, length, to);
    session.queue().wait(session.queue().fill(to, 0, pixels.size()));
    const opencl::NDRange range{{side, side, 1}, {group, group, 1}};
    const Spread seconds = repeat(session.effort(), [&] { return session.run(kernel, range); });
    const std::vector<std::uint32_t> words = session.read(to, pixels.size() / 4);
    for (const std::size_t y : {std::size_t{1}, side / 2, side - 2}) {
      for (std::size_t x = 1; x + 1 < side; ++x)
        require_result((words[at(x, y) / 4] >> 8 * (x % 4) & 255) == code(x, y), title, session.context());
    }
    result.figures.push_back(
        {id, title, "G pixels/s", Clock::device, true, rate(seconds, static_cast<double>(pixels.size()))});
  };
  const std::size_t bytes = pixels.size() * sizeof pixels[0];
  const opencl::Buffer buffer(session.context(), bytes);
  session.queue().wait(session.queue().write(buffer, pixels.data(), bytes));
  measure("codes.buffer", "codes of 3x3 pixels, read from a buffer", kBufferProgram, buffer);
  measure("codes.image", "codes of 3x3 pixels, read from an image", kImageProgram,
          opencl::Buffer::image(session.context(), pixels, side));
}

}  // namespace sightline::characterisation
