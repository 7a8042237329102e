#include "media/sha256.hpp"

#include <fmt/format.h>

#include <new>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

namespace sightline::media {

void Sha256::Free::operator()(AVSHA* state) const {
  av_free(state);
}

Sha256::Sha256() : state_(av_sha_alloc()) {
  if (!state_) throw std::bad_alloc();
  av_sha_init(state_.get(), 256);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t count) {
  av_sha_update(state_.get(), static_cast<const std::uint8_t*>(bytes), count);
}

std::array<std::uint8_t, 32> Sha256::digest() {
  std::array<std::uint8_t, 32> digest{};
  av_sha_final(state_.get(), digest.data());
  return digest;
}

std::string Sha256::digits() {
  return fmt::format("{:02x}", fmt::join(digest(), ""));
}

}  // namespace sightline::media
