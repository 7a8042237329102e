#pragma once
/// Results for C.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/bindings/c/sightline.h"
#include "detection/known_names.hpp"
#include "frame/frame_result.hpp"

namespace sightline::api {

/// Facts about a detector, which its results share.
struct DetectorFacts {
  std::vector<std::string> labels;
  double threshold = 0;
  std::shared_ptr<const KnownNames> names;  ///< null: no recognition
};

}  // namespace sightline::api

/// Immutable but for the count.
struct sl_result {
  /// @param predicted  by object: whether the tracker predicted it; may be shorter
  sl_result(std::shared_ptr<const sightline::api::DetectorFacts> its_facts, sightline::FrameResult its_result,
            std::uint32_t its_flags = 0, std::span<const char> predicted = {});

  const std::shared_ptr<const sightline::api::DetectorFacts> facts;
  const sightline::FrameResult result;
  const std::uint32_t flags;
  std::int64_t skipped = 0;  ///< set before anybody else has the result
  std::vector<sl_object> objects;
  std::vector<float> points;              ///< of all objects, 3 numbers each
  std::vector<std::size_t> points_begin;  ///< by object, and the end; empty: no object has points
  std::atomic<std::uint32_t> count{1};
};

namespace sightline::api {

struct FreeResult {
  void operator()(sl_result* result) const { sl_result_free(result); }
};
using ResultPtr = std::unique_ptr<sl_result, FreeResult>;

}  // namespace sightline::api
