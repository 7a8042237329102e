#include "media/fallback_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "media/live_packets.hpp"
#include "media/picture_difference.hpp"

namespace sightline::media {
namespace {

using FaultKind = DecoderFault::Kind;

constexpr std::int64_t kMostCompared = 100;  // pictures of a long first group
constexpr int kMostFaults = 3;               // in a row, before a pause
constexpr int kMostSilent = 100;             // packets without a picture
constexpr int kMostLeading = 64;             // pictures displayed before the one that decoding begins at
constexpr std::chrono::hours kLongestPause{1};

FramePtr another_reference(const AVFrame& picture) {
  FramePtr copy(av_frame_clone(&picture));
  if (!copy) throw std::bad_alloc();
  return copy;
}

PacketPtr another_reference(const AVPacket& packet) {
  PacketPtr copy(av_packet_clone(&packet));
  if (!copy) throw std::bad_alloc();
  return copy;
}

}  // namespace

FallbackDecoder::FallbackDecoder(Setup setup) : setup_(std::move(setup)), pause_(setup_.shortest_pause) {}

FallbackDecoder::~FallbackDecoder() {
  logger().debug("{}: {} of {} were decoded by {}, which failed {}", setup_.input, from_hardware_,
                 counted(pictures_, "picture"), setup_.device, counted(faults_, "time"));
}

int FallbackDecoder::send(AVPacket* packet, std::int64_t arrival) {
  if (packet)
    waiting_.push_back(
        {another_reference(*packet), ++last_serial_, arrival, access_point(*packet, *setup_.parameters)});
  else
    ends_ = true;
  return 0;
}

int FallbackDecoder::receive(AVFrame& picture) {
  for (;;) {
    int code = AVERROR(EAGAIN);
    if (mode_ == Mode::hardware)
      code = take_from_hardware(picture);
    else if (mode_ != Mode::starting)
      code = take_from_software(picture);
    if (code == AVERROR_EOF && std::exchange(is_draining_, false)) {
      software_.reset();
      mode_ = Mode::starting;
      continue;
    }
    if (code >= 0) {
      ++pictures_;
      give_arrival(picture);
    }
    if (code != AVERROR(EAGAIN)) return code;
    if (const int fed = feed(); fed < 0) return fed;
  }
}

void FallbackDecoder::flush() {
  hardware_.reset();
  software_.reset();
  mode_ = Mode::starting;
  waiting_.clear();
  forget_sent();
  expected_.clear();
  ahead_.clear();
  skipped_to_.reset();
  skipped_ = 0;
  awaits_access_ = ends_ = end_is_sent_ = is_draining_ = false;
}

/// Passes on a packet or the end. AVERROR(EAGAIN): there is nothing to pass on.
int FallbackDecoder::feed() {
  if (!waiting_.empty()) return feed_packet();
  if (!ends_ || end_is_sent_) return AVERROR(EAGAIN);
  end_is_sent_ = true;
  if (mode_ == Mode::starting) return AVERROR_EOF;
  if (hardware_) hardware_->post(nullptr, 0);
  if (software_) software_->send(nullptr, 0);
  return 0;
}

int FallbackDecoder::feed_packet() {
  const Packet& next = waiting_.front();
  if (awaits_access_ && next.access == AccessPoint::none) {
    waiting_.pop_front();
    return 0;
  }
  awaits_access_ = false;
  if (mode_ == Mode::software && returns_at(next)) {
    is_draining_ = true;
    return std::max(software_->send(nullptr, 0), 0);
  }
  if (mode_ == Mode::starting) start_at(next);
  Packet packet = std::move(waiting_.front());
  waiting_.pop_front();
  arrivals_[static_cast<std::size_t>(packet.serial) % arrivals_.size()] = packet.arrival;
  if (hardware_) hardware_->post(another_reference(*packet.packet), packet.serial);
  const int code = software_ ? software_->send(packet.packet.get(), packet.serial) : 0;
  if (hardware_) {
    sent_serial_ = packet.serial;
    keep(std::move(packet));
  }
  return code;
}

bool FallbackDecoder::returns_at(const Packet& packet) const {
  return packet.access == AccessPoint::closed && packet.serial > faulty_serial_ && returns_from_ &&
         Clock::now() >= *returns_from_;
}

void FallbackDecoder::start_at(const Packet& packet) {
  const bool uses_hardware = returns_from_ && Clock::now() >= *returns_from_;
  const bool is_proved = is_proved_ || !setup_.is_proved_first;
  mode_ = !uses_hardware ? Mode::software : is_proved ? Mode::hardware : Mode::proving;
  skipped_to_.reset();
  skipped_ = 0;
  if (mode_ != Mode::hardware) software_ = setup_.open_software();
  if (mode_ == Mode::software) return;
  hardware_ = std::make_unique<DecoderThread>(setup_.open_hardware, setup_.thread);
  compared_ = 0;
  silent_ = 0;
  leaves_group_ = false;
  begin_group({packet.serial, AccessPoint::closed});
}

void FallbackDecoder::keep(Packet packet) {
  if (packet.access != AccessPoint::none && packet.serial != group_.serial)
    starts_.push_back({packet.serial, packet.access});
  sent_bytes_ += packet.packet->size;
  sent_.push_back(std::move(packet));
  if (sent_bytes_ <= setup_.most_kept) return;
  lacks_packets_ = true;
  sent_.clear();
  sent_bytes_ = 0;
}

void FallbackDecoder::forget_sent() {
  sent_.clear();
  sent_bytes_ = 0;
  starts_.clear();
  lacks_packets_ = false;
}

int FallbackDecoder::take_from_hardware(AVFrame& picture) {
  try {
    FramePtr next;
    if (!ahead_.empty()) {
      next = std::move(ahead_.front());
      ahead_.pop_front();
    } else if (const int code = hardware_->take(next); code < 0) {
      if (code == AVERROR(EAGAIN) && ++silent_ > kMostSilent)
        throw DecoderFault(FaultKind::device, fmt::format("it makes no picture of {} packets", kMostSilent));
      return code;
    }
    silent_ = 0;
    if (is_damaged(*next)) throw DecoderFault(FaultKind::damage, "a picture is damaged");
    av_frame_move_ref(&picture, next.get());
    if (!std::exchange(has_announced_, true))
      logger().debug("{}: {} is decoded by {}", setup_.input, codec_name(), setup_.device);
    note_delivered(picture);
    ++from_hardware_;
    return 0;
  } catch (const DecoderFault& fault) {
    fall_back(fault);
    return AVERROR(EAGAIN);
  }
}

int FallbackDecoder::take_from_software(AVFrame& picture) {
  for (;;) {
    if (const int code = software_->receive(picture); code < 0) return code;
    if (!is_skipped(picture)) break;
    av_frame_unref(&picture);
  }
  if (mode_ != Mode::proving) return 0;
  note_delivered(picture);
  try {
    prove(picture);
  } catch (const DecoderFault& fault) {
    fall_back(fault);
  }
  return 0;
}

/// Whether hardware has delivered this picture of software, which decodes the group again.
bool FallbackDecoder::is_skipped(const AVFrame& picture) {
  if (skipped_to_) {
    const bool is_found = arrival_of(picture) == *skipped_to_;
    if (is_found || ++leading_ > kMostLeading) skipped_to_.reset();
    return true;
  }
  if (skipped_ == 0) return false;
  --skipped_;
  return true;
}

/// Compares what software delivers with what hardware makes of the same packets.
void FallbackDecoder::prove(const AVFrame& picture) {
  expected_.push_back(another_reference(picture));
  for (FramePtr made; hardware_->take(made) >= 0;) ahead_.push_back(std::move(made));
  for (; !expected_.empty() && !ahead_.empty(); expected_.pop_front(), ahead_.pop_front()) {
    if (is_damaged(*expected_.front()) || is_damaged(*ahead_.front()))
      throw DecoderFault(FaultKind::damage, "a picture is damaged");
    if (const std::string problem = picture_difference(*ahead_.front(), *expected_.front()); !problem.empty())
      throw DecoderFault(
          FaultKind::wrong,
          fmt::format("it decodes other pixels than software (picture {}: {})", compared_ + 1, problem));
    ++compared_;
  }
  if (!expected_.empty() || (!leaves_group_ && compared_ < kMostCompared)) return;
  logger().debug("{}: {} pictures of {} are equal to those of software", setup_.input, compared_,
                 setup_.device);
  is_proved_ = true;
  software_.reset();
  mode_ = Mode::hardware;
}

void FallbackDecoder::note_delivered(const AVFrame& picture) {
  const std::int64_t serial = arrival_of(picture);
  const auto reached = std::find_if(starts_.rbegin(), starts_.rend(), [=](const Start& start) {
    return start.access == AccessPoint::closed ? serial >= start.serial : serial == start.serial;
  });
  if (reached == starts_.rend()) {
    ++delivered_;
    return;
  }
  const Start start = *reached;
  starts_.erase(starts_.begin(), reached.base());
  begin_group(start);
  if (start.access == AccessPoint::closed) ++delivered_;
  leaves_group_ = true;
  faults_in_a_row_ = 0;
}

void FallbackDecoder::begin_group(const Start& start) {
  group_ = start;
  delivered_ = 0;
  while (!sent_.empty() && sent_.front().serial < start.serial) {
    sent_bytes_ -= sent_.front().packet->size;
    sent_.pop_front();
  }
  lacks_packets_ = lacks_packets_ && (sent_.empty() || sent_.front().serial != start.serial);
}

void FallbackDecoder::give_arrival(AVFrame& picture) const {
  const std::int64_t serial = std::max<std::int64_t>(arrival_of(picture), 0);
  set_arrival(picture, arrivals_[static_cast<std::size_t>(serial) % arrivals_.size()]);
}

void FallbackDecoder::fall_back(const DecoderFault& fault) {
  ++faults_;
  tell(fault);
  plan_return(fault.kind);
  hardware_.reset();
  expected_.clear();
  ahead_.clear();
  faulty_serial_ = sent_serial_;
  if (mode_ == Mode::hardware) decode_again();
  mode_ = Mode::software;
  forget_sent();
}

/// Makes software decode the packets since the last access point.
void FallbackDecoder::decode_again() {
  software_ = setup_.open_software();
  end_is_sent_ = false;
  if (lacks_packets_) {
    awaits_access_ = true;
    logger().warn(
        "{}: the pictures up to the next key frame are lost, since those since the last one have "
        "more than {} bytes",
        setup_.input, setup_.most_kept);
    return;
  }
  skipped_ = delivered_;
  leading_ = 0;
  if (group_.access == AccessPoint::open) skipped_to_ = group_.serial;
  waiting_.insert(waiting_.begin(), std::make_move_iterator(sent_.begin()),
                  std::make_move_iterator(sent_.end()));
}

void FallbackDecoder::plan_return(FaultKind kind) {
  const bool is_of_stream = kind == FaultKind::damage && ++faults_in_a_row_ < kMostFaults;
  if (kind != FaultKind::damage && kind != FaultKind::device) {
    returns_from_.reset();
  } else if (is_of_stream) {
    returns_from_ = Clock::now();
  } else {
    faults_in_a_row_ = 0;
    returns_from_ = Clock::now() + pause_;
    pause_ = std::min<std::chrono::milliseconds>(2 * pause_, kLongestPause);
  }
}

void FallbackDecoder::tell(const DecoderFault& fault) {
  const bool is_warning = setup_.on_fault(fault) && !std::exchange(has_told_, true);
  logger().log(is_warning ? spdlog::level::warn : spdlog::level::debug,
               "{}: {} is decoded in software from picture {} on, not by {}: {}", setup_.input, codec_name(),
               pictures_ + 1, setup_.device, fault.what());
}

const char* FallbackDecoder::codec_name() const {
  return avcodec_get_name(setup_.parameters->codec_id);
}

}  // namespace sightline::media
