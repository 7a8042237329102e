#pragma once
/// Internal to src/media: a hardware decoder, and software in its place where it fails.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "media/access_point.hpp"
#include "media/decoder_thread.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {

/// Decodes on a device while that works, and delivers each picture once, in the order and with the pixels of
/// software decoding.
///
/// Keeps the packets since the last access point. After a fault of the device, or damage in the stream,
/// software decodes these packets again; the pictures that the device has delivered are skipped by their
/// number. The device takes over again at the next closed access point: at once after damage, after a pause
/// that doubles (1 minute to 1 hour) after a fault, never where it refuses the stream, gave wrong pixels or
/// hangs.
///
/// With `is_proved_first`, software and the device both decode the first group of pictures. Software's are
/// delivered. The device takes over if all of its planes are equal.
///
/// Pictures are lost only where a group has more than 32 MiB of packets: after a fault, decoding then goes on
/// at the next access point. This is logged.
class FallbackDecoder final : public VideoDecoder {
 public:
  struct Setup {
    std::string input;   ///< for messages
    std::string device;  ///< for messages and `device`
    std::shared_ptr<const AVCodecParameters> parameters;
    DecoderThread::Opening open_hardware;
    std::function<std::unique_ptr<VideoDecoder>()> open_software;
    /// Called for each fault. Returns whether the user should be warned of it.
    std::function<bool(const DecoderFault&)> on_fault;
    bool is_proved_first = false;
    DecoderThread::Settings thread;
    std::chrono::milliseconds shortest_pause{60'000};
    std::int64_t most_kept = 32 << 20;  ///< bytes of packets
  };

  explicit FallbackDecoder(Setup setup);
  ~FallbackDecoder() override;
  FallbackDecoder(const FallbackDecoder&) = delete;
  FallbackDecoder& operator=(const FallbackDecoder&) = delete;

  /// Always succeeds; `receive` returns the error of a packet.
  int send(AVPacket* packet, std::int64_t arrival) override;
  int receive(AVFrame& picture) override;
  void flush() override;
  /// Empty also while the device is being proved.
  std::string device() const override { return mode_ == Mode::hardware ? setup_.device : ""; }
  bool tests_device() const override { return mode_ == Mode::proving; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Mode { starting, hardware, proving, software };

  struct Packet {
    PacketPtr packet;
    std::int64_t serial;
    std::int64_t arrival;
    AccessPoint access;
  };
  /// A place in the stream that decoding can begin at.
  struct Start {
    std::int64_t serial;
    AccessPoint access;
  };

  int feed();
  int feed_packet();
  bool returns_at(const Packet& packet) const;
  void start_at(const Packet& packet);
  void keep(Packet packet);
  void forget_sent();
  int take_from_hardware(AVFrame& picture);
  int take_from_software(AVFrame& picture);
  bool is_skipped(const AVFrame& picture);
  void prove(const AVFrame& picture);
  void note_delivered(const AVFrame& picture);
  void begin_group(const Start& start);
  void give_arrival(AVFrame& picture) const;
  void fall_back(const DecoderFault& fault);
  void decode_again();
  void plan_return(DecoderFault::Kind kind);
  void tell(const DecoderFault& fault);
  const char* codec_name() const;

  const Setup setup_;
  Mode mode_ = Mode::starting;
  std::unique_ptr<DecoderThread> hardware_;
  std::unique_ptr<VideoDecoder> software_;

  std::deque<Packet> waiting_;  ///< not sent yet
  std::deque<Packet> sent_;     ///< to hardware, since `group_`
  std::int64_t sent_bytes_ = 0;
  bool lacks_packets_ = false;  ///< some since `group_` were too many to keep
  bool awaits_access_ = false;  ///< packets up to the next access point are of no use
  bool ends_ = false;           ///< no packets will follow
  bool end_is_sent_ = false;
  bool is_draining_ = false;  ///< software's last pictures, before hardware takes over

  std::int64_t last_serial_ = 0;
  std::array<std::int64_t, 1024> arrivals_{};  ///< by serial number, modulo the size
  Start group_{0, AccessPoint::closed};        ///< of the picture that was delivered last
  std::deque<Start> starts_;                   ///< behind `group_`, already sent
  std::int64_t delivered_ = 0;                 ///< pictures since `group_`
  std::optional<std::int64_t> skipped_to_;     ///< software's pictures up to this serial are skipped
  int leading_ = 0;                            ///< pictures skipped on the way to `skipped_to_`
  std::int64_t skipped_ = 0;                   ///< pictures still to be skipped behind it

  std::deque<FramePtr> expected_;  ///< software's pictures, not compared yet
  std::deque<FramePtr> ahead_;     ///< hardware's pictures, neither compared nor delivered
  std::int64_t compared_ = 0;
  bool is_proved_ = false;
  bool leaves_group_ = false;  ///< the first group is over

  std::int64_t pictures_ = 0;       ///< delivered so far
  std::int64_t from_hardware_ = 0;  ///< of these
  int faults_in_a_row_ = 0;         ///< without a whole group between
  std::int64_t sent_serial_ = 0;    ///< of the last packet that hardware got
  std::int64_t faulty_serial_ = 0;  ///< the same at its last fault
  int faults_ = 0;
  int silent_ = 0;  ///< packets that hardware got since its last picture
  bool has_told_ = false;
  bool has_announced_ = false;
  std::chrono::milliseconds pause_;
  std::optional<Clock::time_point> returns_from_ = Clock::time_point::min();  ///< none: never
};

}  // namespace sightline::media
