// Damages videos and runs the program on them until the time is over; see tools/fuzz.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "damaged/check.hpp"
#include "damaged/damage.hpp"

namespace sightline::damaged {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Figures {
  std::int64_t inputs = 0, searched = 0, refused = 0, frames = 0, problems = 0;
  double longest = 0;
  long largest = 0;
  std::string longest_name, largest_name;
};

class Fuzzer {
 public:
  Fuzzer(const fs::path& found, std::uint64_t seed)
      : found_(found), next_(seed), clips_(make_clips(folder_.path())) {
    std::printf("%zu clips\n", clips_.size());
  }

  void work_until(Clock::time_point end) {
    while (Clock::now() < end) {
      const std::uint64_t seed = next_++;
      const Damaged input = damage_clip(clips_, seed);
      const std::string file = folder_ / input.name;
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(input.bytes.data()),
                 static_cast<std::streamsize>(input.bytes.size()));
      note(input, file, check_file(file));
      fs::remove(file);
    }
  }

  int report(std::uint64_t first) const {
    const Figures& f = figures_;
    std::printf(
        "%lld inputs (seeds %llu to %llu): %lld searched (%lld frames), %lld refused\n"
        "longest %.1f s (%s), largest %ld MiB (%s)\n%lld problem(s)\n",
        static_cast<long long>(f.inputs), static_cast<unsigned long long>(first),
        static_cast<unsigned long long>(next_.load() - 1), static_cast<long long>(f.searched),
        static_cast<long long>(f.frames), static_cast<long long>(f.refused), f.longest,
        f.longest_name.c_str(), f.largest / 1024, f.largest_name.c_str(), static_cast<long long>(f.problems));
    return f.problems == 0 ? 0 : 1;
  }

 private:
  void note(const Damaged& input, const std::string& file, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    Figures& f = figures_;
    ++f.inputs;
    ++(verdict.exit_code == 0 ? f.searched : f.refused);
    f.frames += static_cast<std::int64_t>(verdict.lines.size());
    if (verdict.seconds > f.longest) f.longest = verdict.seconds, f.longest_name = input.name;
    if (verdict.peak_kilobytes > f.largest) f.largest = verdict.peak_kilobytes, f.largest_name = input.name;
    if (!verdict.problem.empty()) {
      ++f.problems;
      fs::create_directories(found_);
      fs::copy_file(file, found_ / input.name, fs::copy_options::overwrite_existing);
      std::printf("%s: %s\n%s\n", input.name.c_str(), verdict.problem.c_str(), verdict.messages.c_str());
    }
    if (f.inputs % 500 == 0)
      std::printf("%lld inputs, %lld problem(s)\n", static_cast<long long>(f.inputs),
                  static_cast<long long>(f.problems));
    std::fflush(stdout);
  }

  test::TempDir folder_;
  fs::path found_;
  std::atomic<std::uint64_t> next_;
  std::vector<Clip> clips_;
  std::mutex mutex_;
  Figures figures_;
};

}  // namespace
}  // namespace sightline::damaged

int main(int argc, char** argv) {
  using namespace sightline::damaged;
  if (argc < 3 || argc > 5) {
    std::fprintf(stderr, "Usage: %s SECONDS FOLDER_FOR_FINDS [SEED [THREADS]]\n", argv[0]);
    return 2;
  }
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const unsigned threads =
      argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : std::thread::hardware_concurrency();
  Fuzzer fuzzer(argv[2], seed);
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) workers.emplace_back([&] { fuzzer.work_until(end); });
  workers.clear();
  return fuzzer.report(seed);
}
