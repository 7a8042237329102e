// Between host and device.
#include <cstring>

#include "characterisation/benchmarks.hpp"

namespace sightline::characterisation {
namespace {

struct WayName {
  Way way;
  const char* id;
  const char* title;
};
constexpr WayName kTransferWays[] = {{Way::pageable_up, "transfer.pageable.up", "up, ordinary memory"},
                                     {Way::pageable_down, "transfer.pageable.down", "down, ordinary memory"},
                                     {Way::pinned_up, "transfer.pinned.up", "up, pinned memory"},
                                     {Way::pinned_down, "transfer.pinned.down", "down, pinned memory"},
                                     {Way::mapped_up, "transfer.mapped.up", "up, mapped"},
                                     {Way::mapped_down, "transfer.mapped.down", "down, mapped"}};

bool is_up(Way way) {
  return way == Way::pageable_up || way == Way::pinned_up || way == Way::mapped_up;
}

// Moves `bytes` between the buffer and `memory`, whatever kind that is, and returns when they are there.
void move_bytes(DeviceSession& session, Way way, const opencl::Buffer& buffer, std::byte* memory,
                std::size_t bytes) {
  opencl::Queue& queue = session.queue();
  switch (way) {
    case Way::pageable_up:
    case Way::pinned_up:
      queue.wait(queue.write(buffer, memory, bytes));
      return;
    case Way::pageable_down:
    case Way::pinned_down:
      queue.wait(queue.read(buffer, memory, bytes));
      return;
    case Way::mapped_up: {
      std::byte* const mapped = queue.map_for_writing(buffer);
      std::memcpy(mapped, memory, bytes);
      queue.unmap(buffer, mapped);
      break;
    }
    case Way::mapped_down: {
      const opencl::Queue::Mapped mapped = queue.map_for_reading(buffer);
      queue.wait(mapped.event);
      std::memcpy(memory, mapped.memory, bytes);
      queue.unmap(buffer, mapped.memory);
      break;
    }
  }
  queue.finish();
}

// Fills with a different value at each word and in each call.
void fill_memory(std::byte* memory, std::size_t bytes, std::uint32_t seed) {
  for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
    const std::uint32_t word = static_cast<std::uint32_t>(i) * 2654435761U + seed;
    std::memcpy(memory + i, &word, 4);
  }
}

}  // namespace

Spread time_transfer(DeviceSession& session, Way way, std::size_t bytes) {
  const opencl::Buffer buffer(session.context(), bytes);
  const bool is_pinned = way == Way::pinned_up || way == Way::pinned_down;
  opencl::StagingBuffer staging;
  if (is_pinned) staging = opencl::StagingBuffer(session.queue(), bytes);
  std::vector<std::byte> ordinary(is_pinned ? 0 : bytes), other(bytes);
  std::byte* const memory = is_pinned ? staging.data() : ordinary.data();
  fill_memory(other.data(), bytes, static_cast<std::uint32_t>(bytes));
  if (is_up(way)) {
    std::memcpy(memory, other.data(), bytes);
  } else {
    move_bytes(session, Way::pageable_up, buffer, other.data(), bytes);
    std::memset(memory, 0, bytes);  // also: its pages are there
  }
  const Spread spread = repeat(session.effort(), [&] {
    return host_seconds([&] { move_bytes(session, way, buffer, memory, bytes); });
  });
  if (is_up(way)) {  // the buffer's content was transferred this way
    std::memset(other.data(), 0, bytes);
    move_bytes(session, Way::pageable_down, buffer, other.data(), bytes);
  }
  require_result(std::memcmp(memory, other.data(), bytes) == 0, "a transfer", session.context());
  return spread;
}

void measure_transfers(DeviceSession& session, Characteristics& result) {
  // Larger ones take long, most of it for making memory, and their rate is that of these within hundredths.
  const unsigned mebibytes = session.effort().of(4U, 64U, 256U);
  const std::size_t most =
      std::min<std::size_t>(std::size_t{mebibytes} << 20, session.device().largest_buffer_bytes / 2);
  const std::size_t step = session.effort().of(32, 8, 2);
  for (const WayName& one : kTransferWays) {
    Curve curve{
        one.id, "Transfers between host and device", one.title, "size, bytes", "GB/s", Clock::host, true, {}};
    std::size_t last = 0;
    for (std::size_t bytes = 4096; bytes <= most; last = bytes, bytes *= step)
      curve.points.push_back({static_cast<double>(bytes),
                              rate(time_transfer(session, one.way, bytes), static_cast<double>(bytes))});
    if (last < most)
      curve.points.push_back({static_cast<double>(most),
                              rate(time_transfer(session, one.way, most), static_cast<double>(most))});
    result.curves.push_back(std::move(curve));
  }
}

}  // namespace sightline::characterisation
