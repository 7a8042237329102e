// What a 1080p frame with ten boxes and the whole head-up display costs, from the frame to the screen's
// memory.
//
//   bench_display            needs an X display: DISPLAY=:0, or under xvfb-run -s "-screen 0 1920x1080x24"
//
// `present` is what the program does; its parts are measured apart below, and SDL's own software path (a YUV
// texture through SDL's renderer, without boxes) beside it. `bytes` counts what each must read and write:
// 3.1 MB of planes, 8.3 MB of screen, and twice that again for the X server's copy.
#include <SDL.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "display/screens.hpp"
#include "display/window.hpp"

extern "C" {
#include <libavutil/frame.h>
}

namespace sightline::display {
namespace {

constexpr Size kSize{1920, 1080};
constexpr double kPlanes = 1.5 * kSize.width * kSize.height;

Frame make_frame(int number, Size size = kSize) {
  const auto free = [](AVFrame* f) { av_frame_free(&f); };
  std::shared_ptr<AVFrame> picture(av_frame_alloc(), free);
  picture->format = AV_PIX_FMT_YUV420P;
  picture->width = size.width;
  picture->height = size.height;
  if (av_frame_get_buffer(picture.get(), 64) < 0) throw std::bad_alloc();
  std::mt19937 random(static_cast<unsigned>(number));
  for (int p = 0; p < 3; ++p)
    for (int y = 0; y < (p > 0 ? (size.height + 1) / 2 : size.height); ++y)
      for (int x = 0; x < (p > 0 ? (size.width + 1) / 2 : size.width); ++x)
        picture->data[p][y * picture->linesize[p] + x] = static_cast<std::uint8_t>(16 + random() % 220);
  return media::FrameBuilder().build(picture, number, number / 30.0);
}

Overlay make_overlay() {
  Overlay o;
  o.labels = {"person"};
  for (int i = 0; i < 10; ++i)
    o.objects.push_back({{40.0 + 185 * i, 150.0 + 70 * (i % 5), 120, 300}, 1.9 - 0.1 * i, 0});
  o.source = "/dev/video0";
  o.rates = {29.97, 14.21, 29.94};
  o.latency = {38.2, 36.1, 52.7, 31.0};
  o.drops = {{"a newer frame came", 112}, {"damaged", 3}};
  o.schedule = "hybrid";
  o.mapping = "prepare, classify, group on the CPU; filter, histogram on the device";
  o.drop_policy = "newest";
  o.processors = {"CPU", "device"};
  const char* names[] = {"prepare", "filter", "histogram", "classify", "group"};
  for (int s = 0; s < 5; ++s) {
    Lane lane{names[s], s == 1 || s == 2 ? 1 : 0, {}};
    for (int f = 0; f < 15; ++f)
      lane.intervals.push_back({(f * 33 + s * 12) * 1'000'000ll, (f * 33 + s * 12 + 14) * 1'000'000ll, f});
    o.lanes.push_back(std::move(lane));
  }
  return o;
}

void count_bytes(benchmark::State& state, double bytes) {
  state.counters["bytes"] = bytes;
  state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(state.iterations()) * bytes));
}

double screen_bytes(Size size) {
  return 4.0 * size.width * size.height;
}

// A new frame and a new latency each time.
void present(benchmark::State& state, Size source, Size output) {
  WindowOptions options;
  options.software = true;
  Window window("bench_display", output, options);
  if (window.output_size() != output) {
    state.SkipWithError("the screen is too small for this window");
    return;
  }
  const Frame frames[] = {make_frame(1, source), make_frame(2, source), make_frame(3, source)};
  Overlay overlay = make_overlay();
  std::size_t i = 0;
  std::vector<double> times;
  for (auto _ : state) {
    overlay.latency.now = 30 + static_cast<double>(i % 97) / 10;
    const auto begin = std::chrono::steady_clock::now();
    window.present(frames[i++ % 3], overlay);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    while (window.poll()) {
    }
  }
  std::sort(times.begin(), times.end());
  // One by one, since others may be at work on the machine.
  state.counters["fastest_ms"] = times.front();
  state.counters["median_ms"] = times[times.size() / 2];
  count_bytes(state, 1.5 * source.width * source.height + 3 * screen_bytes(output));
}

// Parts, in memory of our own.
void picture_alone(benchmark::State& state, Size source, Size output) {
  Image<std::uint8_t> memory(4 * output.width, output.height);
  const Pixels pixels{memory.view().data(), output, memory.stride()};
  const Frame frames[] = {make_frame(1, source), make_frame(2, source), make_frame(3, source)};
  media::PlaneStore store;
  PictureScaler scaler;
  std::size_t i = 0;
  for (auto _ : state) {
    scaler.draw(media::planes_of(frames[i++ % 3], store), {0, 0, output.width, output.height}, pixels);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 1.5 * source.width * source.height + screen_bytes(output));
}

void lay_out(Scene& scene, TextCache& text, const Overlay& overlay) {
  scene.clear();
  add_boxes(scene, text, overlay, kSize, {0, 0, kSize.width, kSize.height});
  add_panels(scene, text, overlay, kSize);
}

void overlay_alone(benchmark::State& state) {
  Image<std::uint8_t> memory(4 * kSize.width, kSize.height);
  const Pixels pixels{memory.view().data(), kSize, memory.stride()};
  std::memset(pixels.data, 90, static_cast<std::size_t>(memory.stride()) * kSize.height);
  const Overlay overlay = make_overlay();
  TextCache text;
  Scene scene;
  for (auto _ : state) {
    lay_out(scene, text, overlay);
    paint(scene, text, pixels);
    benchmark::ClobberMemory();
  }
  state.counters["items"] = static_cast<double>(scene.size());
}

void layout_alone(benchmark::State& state) {
  const Overlay overlay = make_overlay();
  TextCache text;
  Scene scene;
  for (auto _ : state) {
    lay_out(scene, text, overlay);
    benchmark::DoNotOptimize(scene.data());
  }
}

// The limit: the same bytes moved by memset and memcpy.
void memory_limit(benchmark::State& state) {
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(kPlanes), 1),
      screen(static_cast<std::size_t>(screen_bytes(kSize)));
  unsigned sum = 0;
  for (auto _ : state) {
    std::memcpy(screen.data(), planes.data(), planes.size());
    std::memset(screen.data() + planes.size(), static_cast<int>(++sum & 255), screen.size() - planes.size());
    benchmark::ClobberMemory();
  }
  count_bytes(state, kPlanes + screen_bytes(kSize));
}

WindowPtr plain_window() {
  return WindowPtr(SDL_CreateWindow("bench_display", 0, 0, kSize.width, kSize.height, SDL_WINDOW_SHOWN));
}

// What handing a drawn surface to the X server costs: its copy out of shared memory.
void show_alone(benchmark::State& state) {
  SDL_InitSubSystem(SDL_INIT_VIDEO);
  SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  {
    const WindowPtr window = plain_window();
    SDL_GetWindowSurface(window.get());
    for (auto _ : state) SDL_UpdateWindowSurface(window.get());
    count_bytes(state, 2 * screen_bytes(kSize));
  }
  SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

// SDL's own: a YUV texture, converted on update, copied to the window's surface, shown.
void sdl_stock(benchmark::State& state) {
  SDL_InitSubSystem(SDL_INIT_VIDEO);
  SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  {
    const WindowPtr window = plain_window();
    const RendererPtr renderer(SDL_CreateRenderer(window.get(), -1, SDL_RENDERER_SOFTWARE));
    const TexturePtr texture(SDL_CreateTexture(renderer.get(), SDL_PIXELFORMAT_IYUV,
                                               SDL_TEXTUREACCESS_STREAMING, kSize.width, kSize.height));
    const Frame frames[] = {make_frame(1), make_frame(2), make_frame(3)};
    media::PlaneStore store;
    std::size_t i = 0;
    for (auto _ : state) {
      const media::DisplayPlanes p = media::planes_of(frames[i++ % 3], store);
      SDL_UpdateYUVTexture(texture.get(), nullptr, p.data[0], static_cast<int>(p.stride[0]), p.data[1],
                           static_cast<int>(p.stride[1]), p.data[2], static_cast<int>(p.stride[2]));
      SDL_RenderCopy(renderer.get(), texture.get(), nullptr, nullptr);
      SDL_RenderPresent(renderer.get());
    }
    // Planes copied and read, converted pixels written, copied to the surface, copied by the server.
    count_bytes(state, 3 * kPlanes + 5 * screen_bytes(kSize));
  }
  SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

bool has_x_display() {
  SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11");
  // Kept open: an X server may start anew when its last client leaves.
  return SDL_InitSubSystem(SDL_INIT_VIDEO) == 0;
}

}  // namespace
}  // namespace sightline::display

int main(int argc, char** argv) {
  namespace d = sightline::display;
  using sightline::Size;
  benchmark::Initialize(&argc, argv);
  SDL_SetMainReady();
  if (!d::has_x_display()) {
    std::fprintf(stderr,
                 "bench_display needs an X display (%s): try xvfb-run -s \"-screen 0 1920x1080x24\"\n",
                 SDL_GetError());
    return 1;
  }
  const auto add = [](const char* name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name, function, arguments...)->Unit(benchmark::kMillisecond)->UseRealTime();
  };
  constexpr Size p720{1280, 720}, p2160{3840, 2160};
  add("present/1080p", d::present, d::kSize, d::kSize);
  add("present/720p_in_1080p", d::present, p720, d::kSize);
  add("present/1080p_in_720p", d::present, d::kSize, p720);
  add("present/2160p_in_1080p", d::present, p2160, d::kSize);
  add("parts/picture", d::picture_alone, d::kSize, d::kSize);
  add("parts/picture_720p_in_1080p", d::picture_alone, p720, d::kSize);
  add("parts/picture_1080p_in_720p", d::picture_alone, d::kSize, p720);
  add("parts/picture_2160p_in_1080p", d::picture_alone, p2160, d::kSize);
  add("parts/overlay", d::overlay_alone);
  add("parts/layout", d::layout_alone);
  add("parts/show", d::show_alone);
  add("parts/memory_limit", d::memory_limit);
  add("sdl_stock/1080p", d::sdl_stock);
  benchmark::RunSpecifiedBenchmarks();
  SDL_Quit();
  return 0;
}
