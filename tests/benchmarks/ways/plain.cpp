// See plain.hpp; built once for each namespace that SIGHTLINE_WAY names.
#include "ways/plain.hpp"

namespace sightline::ways::SIGHTLINE_WAY {
namespace {

constexpr int kTaps = 9;
constexpr int kBlock = 64;  // pixels side by side

inline float magnitude(float x) {
  return x < 0 ? -x : x;
}

// The best of a pixel so far.
template <Form kForm>
struct Best {
  float response = kForm == Form::value ? 0.0F : -1.0F;
  int index = 0;

  void see(float r, int k) {
    const float size = kForm == Form::value ? r : magnitude(r);
    if (size > response) {
      response = size;
      if constexpr (kForm != Form::largest) index = k;
    }
  }
  void store(const PlainWork& work, std::ptrdiff_t at) const {
    work.responses[at] = response;
    if constexpr (kForm != Form::largest) work.indices[at] = static_cast<std::uint8_t>(index);
  }
};

inline void load_patch(const PlainWork& work, int x, int y, float* patch) {
  for (int i = 0; i < kTaps; ++i)
    patch[i] = static_cast<float>(work.pixels[(y + i / 3 - 1) * work.pixel_pitch + x + i % 3 - 1]);
}

inline float* every(const PlainWork& work, int y, int k) {
  return work.responses + (static_cast<std::ptrdiff_t>(y) * work.count + k) * work.result_pitch;
}

template <Form kForm>
void published(const PlainWork& work, int y) {
  for (int x = 0; x < work.width; ++x) {
    float patch[kTaps];
    load_patch(work, x, y, patch);
    Best<kForm> best;
    for (int k = 0; k < work.count; ++k) {
      float response = 0;
      for (int i = 0; i < kTaps; ++i) response += work.filters[k * kTaps + i] * patch[i];
      if constexpr (kForm == Form::every) {
        every(work, y, k)[x] = response;
      } else {
        best.see(response, k);
      }
    }
    if constexpr (kForm != Form::every) best.store(work, y * work.result_pitch + x);
  }
}

template <Form kForm>
void transposed(const PlainWork& work, int y) {
  for (int x = 0; x < work.width; ++x) {
    float patch[kTaps];
    load_patch(work, x, y, patch);
    Best<kForm> best;
    for (int first = 0; first < work.count; first += kGroup) {
      const float* const group = work.transposed + static_cast<std::ptrdiff_t>(first) * kTaps;
      float response[kGroup] = {};
      for (int i = 0; i < kTaps; ++i)
        for (int k = 0; k < kGroup; ++k) response[k] += group[i * kGroup + k] * patch[i];
      const int used = work.count - first < kGroup ? work.count - first : kGroup;
      for (int k = 0; k < used; ++k) {
        if constexpr (kForm == Form::every) {
          every(work, y, first + k)[x] = response[k];
        } else {
          best.see(response[k], first + k);
        }
      }
    }
    if constexpr (kForm != Form::every) best.store(work, y * work.result_pitch + x);
  }
}

// A block reaches past the row's end into what pads rows.
template <Form kForm>
void pixels(const PlainWork& work, int y) {
  for (int x = 0; x < work.width; x += kBlock) {
    float patch[kTaps][kBlock];
    for (int i = 0; i < kTaps; ++i) {
      const std::uint8_t* const from = work.pixels + (y + i / 3 - 1) * work.pixel_pitch + x + i % 3 - 1;
      for (int p = 0; p < kBlock; ++p) patch[i][p] = static_cast<float>(from[p]);
    }
    float best[kBlock];
    int index[kBlock];
    for (int p = 0; p < kBlock; ++p) {
      best[p] = kForm == Form::value ? 0.0F : -1.0F;
      index[p] = 0;
    }
    for (int k = 0; k < work.count; ++k) {
      const float* const filter = work.filters + static_cast<std::ptrdiff_t>(k) * kTaps;
      float* const out = kForm == Form::every ? every(work, y, k) + x : best;
      for (int p = 0; p < kBlock; ++p) {
        float response = 0;
        for (int i = 0; i < kTaps; ++i) response += filter[i] * patch[i][p];
        if constexpr (kForm == Form::every) {
          out[p] = response;
        } else {
          const float size = kForm == Form::value ? response : magnitude(response);
          if constexpr (kForm != Form::largest) index[p] = size > best[p] ? k : index[p];
          best[p] = size > best[p] ? size : best[p];
        }
      }
    }
    if constexpr (kForm != Form::every) {
      for (int p = 0; p < kBlock; ++p) {
        const std::ptrdiff_t at = y * work.result_pitch + x + p;
        work.responses[at] = best[p];
        if constexpr (kForm != Form::largest) work.indices[at] = static_cast<std::uint8_t>(index[p]);
      }
    }
  }
}

template <Form kForm>
void rows_of(const PlainWork& work, Loops loops, int begin, int end) {
  for (int y = begin; y < end; ++y) {
    switch (loops) {
      case Loops::published:
        published<kForm>(work, y);
        break;
      case Loops::transposed:
        transposed<kForm>(work, y);
        break;
      case Loops::pixels:
        pixels<kForm>(work, y);
        break;
    }
  }
}

}  // namespace

void rows(const PlainWork& work, Loops loops, Form form, int begin, int end) {
  switch (form) {
    case Form::magnitude:
      return rows_of<Form::magnitude>(work, loops, begin, end);
    case Form::value:
      return rows_of<Form::value>(work, loops, begin, end);
    case Form::largest:
      return rows_of<Form::largest>(work, loops, begin, end);
    case Form::every:
      return rows_of<Form::every>(work, loops, begin, end);
  }
}

}  // namespace sightline::ways::SIGHTLINE_WAY
