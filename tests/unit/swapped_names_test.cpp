// Somebody else who may write to the folder swaps each unfinished file for a link to one of the user's, as
// soon as it is there.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "drawing/canvas.hpp"
#include "media/gray_png.hpp"
#include "model/safetensors.hpp"
#include "pipeline/report/chrome_trace.hpp"
#include "support/errors.hpp"
#include "support/media.hpp"
#include "support/temp_dir.hpp"
#include "texture/cells_file.hpp"
#include "texture/tiles/label_writer.hpp"

namespace sightline {
namespace {

namespace fs = std::filesystem;
using sightline::test::TempDir;

/// Swaps what is called `*.part-*` in a folder, once for each name.
class Swapper {
 public:
  Swapper(const fs::path& folder, const fs::path& victim)
      : folder_(folder), victim_(victim), watch_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(watch_, folder.c_str(), IN_CREATE), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~Swapper() {
    ends_ = true;
    thread_.join();
    ::close(watch_);
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;

 private:
  void run() {
    while (!ends_) {
      pollfd ready{watch_, POLLIN, 0};
      ::poll(&ready, 1, 10);
      alignas(inotify_event) std::array<char, 8192> events;
      const ssize_t size = ::read(watch_, events.data(), events.size());
      for (ssize_t at = 0; at < size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(events.data() + at);
        swap(event->name);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
  }

  void swap(const std::string& name) {
    if (name == last_ || name.find(".part-") == std::string::npos) return;
    last_ = name;
    const fs::path place = folder_ / name;
    if (::unlink(place.c_str()) == 0) static_cast<void>(::symlink(victim_.c_str(), place.c_str()) == 0);
  }

  const fs::path folder_, victim_;
  const int watch_;
  std::string last_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

void write_video(const std::string& file, int frames) {
  media::Writer writer(file, media::test::info_of({64, 48}));
  for (int i = 0; i < frames; ++i) writer.write(media::test::gray_frame({64, 48}, 100, i / 25.0));
  writer.finish();
}

void write_labels(const std::string& file) {
  tiles::LabelWriter writer(file, 16, 16, 8);
  Image<std::uint8_t> pixels;
  pixels.resize(16, 16);
  writer.write(0, 0, ImageView<const std::uint8_t>(pixels.view()));
  writer.finish();
}

void write_cells(const std::string& file) {
  texture::TextureSettings settings;
  settings.cell = 4;
  texture::CellsFile(file, settings, 1, 1, 1).finish();
}

struct SwapCase {
  const char* name;
  std::function<void(const std::string& file)> write;
};

class SwappedNames : public testing::TestWithParam<SwapCase> {};

TEST_P(SwappedNames, NobodysFileIsWritten) {
  const TempDir folder, home;
  const std::string victim = home / "victim";
  test::store(victim, std::string("precious"));
  for (int i = 0; i < 20; ++i) {
    const Swapper swapper(folder.path(), victim);
    try {
      GetParam().write(folder / (std::to_string(i) + GetParam().name));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::failed) << error.what();
    }
    ASSERT_EQ(test::bytes_of(victim), "precious");
    ASSERT_FALSE(fs::is_symlink(victim));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Writers, SwappedNames,
    testing::Values(
        SwapCase{"a.txt", [](const std::string& file) { write_whole(file, "text", "text"); }},
        SwapCase{"a.png", [](const std::string& file) { Canvas(40, 40, kSheetPaper).write_png(file); }},
        SwapCase{"a.trace", [](const std::string& file) { pipeline::ChromeTraceWriter(file).finish(); }},
        SwapCase{"a.npy", write_cells}, SwapCase{"a.tif", write_labels},
        SwapCase{"a.mp4", [](const std::string& file) { write_video(file, 60); }},
        SwapCase{"a.mkv", [](const std::string& file) { write_video(file, 2); }},
        SwapCase{"a.jpg", [](const std::string& file) { write_video(file, 1); }},
        SwapCase{"a.safetensors", [](const std::string& file) { Safetensors().save(file); }}));

}  // namespace
}  // namespace sightline
