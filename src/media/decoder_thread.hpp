#pragma once
/// Internal to src/media: a decoder in a thread of its own, so that a driver that hangs does not stop the
/// program.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "media/video_decoder.hpp"

namespace sightline::media {

/// Opens and runs a decoder in its own thread. Decodes some packets ahead of the caller, but none while
/// kMostWaiting pictures wait for it.
/// Thread-safety: one thread at a time.
class DecoderThread {
 public:
  static constexpr std::size_t kMostWaiting = 2;
  struct Settings {
    std::size_t packets_ahead = 3;                    ///< that wait or are decoded while the caller goes on
    std::chrono::milliseconds opening_limit{15'000};  ///< for opening, and the first packet
    std::chrono::milliseconds call_limit{2'000};      ///< for a packet
  };
  using Opening = std::function<std::unique_ptr<VideoDecoder>()>;

  /// @param open  called in the thread; must own all that it and the decoder use, since both may outlive this
  ///              object
  DecoderThread(Opening open, const Settings& settings);
  /// Waits for the current call, unless it hangs: the thread is then left behind with its decoder.
  ~DecoderThread();
  DecoderThread(const DecoderThread&) = delete;
  DecoderThread& operator=(const DecoderThread&) = delete;

  /// Passes a packet on; null: the end. To be called when `take` returns AVERROR(EAGAIN).
  void post(PacketPtr packet, std::int64_t arrival);
  /// The next picture. Waits while `packets_ahead` are underway, or while the end is.
  /// @return as VideoDecoder::receive; all pictures in front of a fault come first
  /// @throws DecoderFault, also later for the same fault
  int take(FramePtr& picture);

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state, const Opening& open);

  const Settings settings_;
  std::shared_ptr<State> state_;  ///< shared with the thread
  std::thread thread_;
};

}  // namespace sightline::media
