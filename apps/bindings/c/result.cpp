#include "apps/bindings/c/result.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "apps/bindings/c/call.hpp"
#include "detection/result_writer.hpp"
#include "pipeline/runs/digest.hpp"

namespace sightline::api {
namespace {

sl_object object_of(const Detection& found, int width, int height, bool is_predicted) {
  const Box& box = found.box;
  sl_object object{};
  object.x = box.x;
  object.y = box.y;
  object.width = box.width;
  object.height = box.height;
  object.score = static_cast<float>(found.score);
  object.confidence = static_cast<float>(found.confidence.value_or(std::numeric_limits<double>::quiet_NaN()));
  object.label = found.label;
  object.track = found.track;
  const bool is_cut = box.x <= 0 || box.y <= 0 || box.x + box.width >= width || box.y + box.height >= height;
  if (is_predicted) object.flags |= SL_PREDICTED;
  if (is_cut) object.flags |= SL_CUT;
  return object;
}

bool has_points(const Detection& found) {
  return found.attributes && !found.attributes->landmarks.empty();
}

}  // namespace
}  // namespace sightline::api

sl_result::sl_result(std::shared_ptr<const sightline::api::DetectorFacts> its_facts,
                     sightline::FrameResult its_result, std::uint32_t its_flags,
                     std::span<const char> predicted)
    : facts(std::move(its_facts)), result(std::move(its_result)), flags(its_flags) {
  objects.reserve(result.objects.size());
  for (std::size_t i = 0; i < result.objects.size(); ++i) {
    const bool is_predicted = i < predicted.size() && predicted[i];
    objects.push_back(
        sightline::api::object_of(result.objects[i], result.width, result.height, is_predicted));
  }
  if (std::ranges::none_of(result.objects, sightline::api::has_points)) return;
  for (const sightline::Detection& found : result.objects) {
    points_begin.push_back(points.size() / 3);
    if (!sightline::api::has_points(found)) continue;
    for (const sightline::Landmark& one : found.attributes->landmarks) {
      for (const float value :
           {static_cast<float>(one.x), static_cast<float>(one.y), sightline::pipeline::kLandmarkConfidence})
        points.push_back(value);
    }
  }
  points_begin.push_back(points.size() / 3);
}

const sl_object* sl_result_objects(const sl_result* result, size_t* n, size_t* stride) {
  if (n) *n = result ? result->objects.size() : 0;
  if (stride) *stride = sizeof(sl_object);
  return result && !result->objects.empty() ? result->objects.data() : nullptr;
}

const float* sl_result_points(const sl_result* result, size_t object, size_t* n) {
  if (n) *n = 0;
  if (!result || object >= result->objects.size() || result->points_begin.empty()) return nullptr;
  const std::size_t begin = result->points_begin[object];
  const std::size_t count = result->points_begin[object + 1] - begin;
  if (n) *n = count;
  return count == 0 ? nullptr : result->points.data() + 3 * begin;
}

const char* sl_result_name(const sl_result* result, size_t object) {
  if (!result || object >= result->result.objects.size()) return nullptr;
  const std::string& name = result->result.objects[object].attributes.name();
  return name.empty() ? nullptr : name.c_str();
}

sl_status sl_result_about(const sl_result* result, sl_about* about) {
  if (!result || !about || about->struct_size < sizeof(std::uint32_t)) return SL_E_ARGUMENT;
  sl_about all{};
  all.struct_size = about->struct_size;
  all.flags = result->flags;
  all.width = result->result.width;
  all.height = result->result.height;
  all.status = result->result.status == sightline::FrameStatus::ok        ? SL_SEARCHED
               : result->result.status == sightline::FrameStatus::skipped ? SL_SKIPPED
                                                                          : SL_FAILED;
  all.frame = result->result.frame;
  all.skipped = result->skipped;
  all.time = result->result.time;
  std::memcpy(about, &all, std::min<std::size_t>(about->struct_size, sizeof all));
  return SL_OK;
}

void sl_result_digest(const sl_result* result, uint8_t digest[16]) {
  if (!digest) return;
  std::memset(digest, 0, 16);
  if (!result) return;
  try {
    const auto all = sightline::pipeline::digest_of(result->result.objects, result->facts->labels);
    std::copy(all.begin(), all.end(), digest);
  } catch (...) {  // no memory: zeros
  }
}

sl_status sl_result_json(const sl_result* result, char** line, sl_error* error) {
  using namespace sightline::api;
  return guarded(error, [&] {
    checked(line, "line") = nullptr;
    const sl_result& from = checked(result, "result");
    *line = copy_text(sightline::json_line(from.result, from.facts->labels));
  });
}

sl_status sl_result_select(const sl_result* result, const size_t* objects, size_t n, sl_result** out,
                           sl_error* error) {
  using namespace sightline::api;
  return guarded(error, [&] {
    checked(out, "out") = nullptr;
    const sl_result& from = checked(result, "result");
    if (n > 0) checked(objects, "objects");
    sightline::FrameResult some = from.result;
    some.objects.clear();
    std::vector<char> predicted;
    for (const std::size_t index : std::span(objects, n)) {
      if (index >= from.objects.size()) {
        throw CallError{SL_E_ARGUMENT, "object " + std::to_string(index) + " of " +
                                           std::to_string(from.objects.size()) + " does not exist"};
      }
      some.objects.push_back(from.result.objects[index]);
      predicted.push_back((from.objects[index].flags & SL_PREDICTED) != 0);
    }
    auto* const made = new sl_result(from.facts, std::move(some), from.flags, predicted);
    made->skipped = from.skipped;
    *out = made;
  });
}

sl_result* sl_result_ref(sl_result* result) {
  if (result) result->count.fetch_add(1, std::memory_order_relaxed);
  return result;
}

void sl_result_free(sl_result* result) {
  if (result && result->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete result;
}
