#include "base/fault.hpp"

#ifdef SIGHTLINE_FAULTS
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sightline::fault {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"opencl", "allocate", "make",   "open",
                                                    "read",   "decode",   "encode", "write"};

// Constant-initialised and never destroyed: calls come before main and after it.
constinit std::array<std::atomic<long>, kNames.size()> counts{};
constinit std::atomic<long> count_of_all{0};

void report(const char* format, const char* text, long number) {
  const char* const path = std::getenv("SIGHTLINE_FAULT_REPORT");
  if (!path) return;
  char line[256];
  const int length = std::snprintf(line, sizeof line, format, text, number);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  static_cast<void>(!::write(file, line, static_cast<std::size_t>(length)));
  ::close(file);
}

void report_counts() {
  for (std::size_t i = 0; i < kNames.size(); ++i) report("count %s %ld\n", kNames[i].data(), counts[i]);
}

struct Order {
  int kind = -1;   // -1: any
  long first = 0;  // 0: none
  bool onwards = false;

  Order() noexcept {
    std::atexit(report_counts);
    const char* const text = std::getenv("SIGHTLINE_FAULT");
    const char* const colon = text ? std::strchr(text, ':') : nullptr;
    if (!colon) return;
    const std::string_view name(text, static_cast<std::size_t>(colon - text));
    for (std::size_t i = 0; i < kNames.size(); ++i)
      if (name == kNames[i]) kind = static_cast<int>(i);
    if (kind < 0 && name != "any") std::abort();  // a test that orders nothing would pass
    char* end = nullptr;
    first = std::strtol(colon + 1, &end, 10);
    onwards = *end == '+';
  }
};

}  // namespace

bool strikes(Kind kind, const char* call) noexcept {
  static const Order order;
  const auto index = static_cast<std::size_t>(kind);
  const long of_kind = ++counts[index];
  const long of_all = ++count_of_all;
  if (order.first == 0 || (order.kind >= 0 && order.kind != static_cast<int>(index))) return false;
  const long number = order.kind < 0 ? of_all : of_kind;
  if (number < order.first || (number > order.first && !order.onwards)) return false;
  if (number == order.first) report("struck %s %ld\n", call, number);
  return true;
}

}  // namespace sightline::fault
#endif
