// Counts of the local binary patterns of a frame's inside, and its label image.
//
// A work-item takes a block of pixels, WIDTH wide, from the top down with ROWS rows at once, then its next block.
// HISTOGRAM says where counts are added up:
//   GLOBAL     in the frame's bins, by atomics
//   LOCAL      in bins of the work-group, by atomics; at the end they are added to the frame's
//   MAPREDUCE  likewise, but the groups' bins are kept, and kernel `reduce` adds them up
//   BANKED     in COPIES of the group's bins side by side, one for every COPIES-th work-item: neighbours use
//              different bins and different banks of local memory
//   SERIAL     in bins of a group that is a single work-item, without atomics
// WRITES_ONLY counts without reading the picture, to measure the cost of the increments alone.
#include "image/circular_lbp.clh"
#include "texture/pixels.clh"

#define AT_ONCE 4

// The mapping is applied to the counts where codes are few, to the codes elsewhere.
#if POINTS == 8
#define LOCAL_BINS 256
#define FINAL_BIN(bin) (map[bin])
#else
#define LOCAL_BINS BINS
#define FINAL_BIN(bin) (bin)
#endif

// The bin of a code, by table where there is one.
inline uint final_bin(uint code, global const ushort* map) {
#if POINTS <= 16
  return map[code];
#elif defined(MAPPING_U2)
  return uniform_lbp_bin(code, POINTS);
#else
  return rotation_uniform_lbp_bin(code, POINTS);
#endif
}

#if POINTS == 8
#define COUNTED_BIN(code) (code)
#else
#define COUNTED_BIN(code) final_bin(code, map)
#endif

#if defined(HISTOGRAM_BANKED)
#define ADD(bin) atomic_inc(&bins[(bin) * COPIES + copy])
#elif defined(HISTOGRAM_LOCAL) || defined(HISTOGRAM_MAPREDUCE)
#define COPIES 1
#define ADD(bin) atomic_inc(&bins[bin])
#elif defined(HISTOGRAM_SERIAL)
#define COPIES 1
#define ADD(bin) ++bins[bin]
#else
#define ADD(bin) atomic_inc(&counts[FINAL_BIN(bin)])
#endif

// Within the kernel: whether a pixel of the block is inside the frame's border; and the use of its code.
#define IS_INSIDE(i) ((uint)(x + (i)) < (uint)width)
#ifdef LABELS
#define TAKE(i, its_code)                                                         \
  {                                                                               \
    const uint code = its_code;                                                   \
    ADD(COUNTED_BIN(code));                                                       \
    labels[labels_at + row * width + x + (i)] = final_bin(code, map);             \
  }
#else
#define TAKE(i, its_code)                                                         \
  {                                                                               \
    const uint code = its_code;                                                   \
    ADD(COUNTED_BIN(code));                                                       \
  }
#endif
// Processes the block's row before the one of `words`; `above` and `here` exist already.
#define TAKE_ROW(words)                                                           \
  {                                                                               \
    const Row below = row_of(words);                                              \
    const Codes codes = codes_of(&above, &here, &below);                          \
    _Pragma("unroll") for (int i = 0; i < WIDTH; ++i) TAKE(i, CODE(codes, i))     \
    above = here;                                                                 \
    here = below;                                                                 \
    ++row;                                                                        \
  }

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
    count(global const uchar* frame, int stride, int width, int height, int border, global const ushort* map,
                  global uint* counts, int counts_at, global LABEL* labels, int labels_at, global uint* partial) {
  counts += counts_at;
#if !defined(HISTOGRAM_GLOBAL)
  local uint bins[LOCAL_BINS * COPIES];
  for (int i = get_local_id(0); i < LOCAL_BINS * COPIES; i += get_local_size(0)) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if defined(HISTOGRAM_BANKED)
  const int copy = get_local_id(0) % COPIES;
#endif
#ifdef MARCHES
  // Blocks are of whole words of the frame, and so tall that all work-items have about one. The pixels before and after
  // them are taken one by one.
  const int start = min((WIDTH - border % WIDTH) % WIDTH, width);
  const int columns = (width - start) / WIDTH;
  const int alone = width - columns * WIDTH;
  for (int i = get_global_id(0); i < alone * height; i += get_global_size(0)) {
    const int row = i / alone;
    const int x = i % alone < start ? i % alone : i % alone + columns * WIDTH;
    TAKE(0, code_at(frame + (row + border) * stride + x + border, stride))
  }
  const int beside = max((int)get_global_size(0) / max(columns, 1), 1);
  const int tall = ((height + beside - 1) / beside + ROWS - 1) / ROWS * ROWS;
#else
  // Blocks begin at whole words of the frame, so that the first and the last of a row may hold some of its border.
  const int start = border / WIDTH * WIDTH - border;
  const int columns = (width - start + WIDTH - 1) / WIDTH;
  const int tall = ROWS;
#endif
  const int blocks = columns * ((height + tall - 1) / tall);
  for (int block = get_global_id(0); block < blocks; block += get_global_size(0)) {
    const int x = start + block % columns * WIDTH;
    const int y = block / columns * tall;
    const int end = min(y + tall, height);
    int row = y;
#ifdef WRITES_ONLY
    for (; row < end; ++row) {
      const uint any = (uint)(block * 29 + row * 7);
      for (int i = 0; i < WIDTH; ++i) ADD((any + 67u * i) % LOCAL_BINS);
    }
#elif defined(MARCHES)
    global const uchar* pixel = frame + (row + border) * stride + x + border;
    Row above = row_of(words_at(pixel - stride)), here = row_of(words_at(pixel));
    while (row + ROWS <= end) {
      // Issues all loads before the first use, to hide their latency.
      Words words[ROWS];
#pragma unroll
      for (int j = 0; j < ROWS; ++j) {
        pixel += stride;
        words[j] = words_at(pixel);
      }
#pragma unroll
      for (int j = 0; j < ROWS; ++j) TAKE_ROW(words[j])
    }
    while (row < end) {
      pixel += stride;
      TAKE_ROW(words_at(pixel))
    }
#else
    const bool is_whole = x >= 0 && x + WIDTH <= width;
    if (x < 0 && row == 0) {  // some of the block's neighbours lie before the frame's memory
      global const uchar* const pixel = frame + border * stride + x + border;
      for (int i = -x; i < min(WIDTH, width - x); ++i) TAKE(i, code_at(pixel + i, stride))
      ++row;
    }
    global const uchar* pixel = frame + (row + border) * stride + x + border;
#if !defined(LABELS) && !defined(PIXELS_VECTOR)
    // Whole blocks: makes the codes of several rows before counting, to share intermediate values.
    for (; is_whole && row + AT_ONCE <= end; row += AT_ONCE, pixel += AT_ONCE * stride) {
      Codes codes[AT_ONCE];
#pragma unroll
      for (int j = 0; j < AT_ONCE; ++j) make_codes(pixel + j * stride, stride, &codes[j]);
#pragma unroll
      for (int j = 0; j < AT_ONCE; ++j) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) ADD(COUNTED_BIN(CODE(codes[j], i)));
      }
    }
#endif
    for (; row < end; ++row, pixel += stride) {
      Codes codes;
      make_codes(pixel, stride, &codes);
#if !defined(LABELS)
      if (is_whole) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) ADD(COUNTED_BIN(CODE(codes, i)));
        continue;
      }
#endif
      for (int i = 0; i < WIDTH; ++i) {
        if (IS_INSIDE(i)) TAKE(i, CODE(codes, i))
      }
    }
#endif
  }
#if !defined(HISTOGRAM_GLOBAL)
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = get_local_id(0); bin < LOCAL_BINS; bin += get_local_size(0)) {
    uint sum = 0;
    // Each work-item begins with another copy, and so with another bank.
    for (int i = 0; i < COPIES; ++i) sum += bins[bin * COPIES + (i + bin) % COPIES];
#if defined(HISTOGRAM_MAPREDUCE)
    partial[get_group_id(0) * LOCAL_BINS + bin] = sum;
#else
    if (sum != 0) atomic_add(&counts[FINAL_BIN(bin)], sum);
#endif
  }
#endif
}

// A work-item adds up a bin of all groups.
kernel void reduce(global const uint* partial, int groups, global const ushort* map, global uint* counts,
                   int counts_at) {
  const int bin = get_global_id(0);
  if (bin >= LOCAL_BINS) return;
  uint sum = 0;
  for (int group = 0; group < groups; ++group) sum += partial[group * LOCAL_BINS + bin];
  if (sum != 0) atomic_add(&counts[counts_at + FINAL_BIN(bin)], sum);
}

// A work-group counts a cell.
kernel void cells(global const uchar* frame, int stride, int width, int height, int border, int cell, int cells_x,
                  global const ushort* map, global uint* counts, int cells_at) {
  local uint bins[BINS];
  for (int i = get_local_id(0); i < BINS; i += get_local_size(0)) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int group = get_group_id(0);
  const int x0 = group % cells_x * cell, y0 = group / cells_x * cell;
  const int columns = min(cell, width - x0), rows = min(cell, height - y0);
  for (int i = get_local_id(0); i < columns * rows; i += get_local_size(0)) {
    const int x = x0 + i % columns + border, y = y0 + i / columns + border;
    atomic_inc(&bins[final_bin(code_at(frame + y * stride + x, stride), map)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = get_local_id(0); bin < BINS; bin += get_local_size(0)) 
    counts[cells_at + group * BINS + bin] = bins[bin];
}

// Counts of contrasts, in bins of the group first.
kernel void contrasts(global const uchar* frame, int stride, int width, int height, int border, global uint* counts,
                      int first) {
  local uint bins[CONTRASTS];
  for (int i = get_local_id(0); i < CONTRASTS; i += get_local_size(0)) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int pixels = width * height;
  for (int i = get_global_id(0); i < pixels; i += get_global_size(0)) {
    const int x = i % width + border, y = i / width + border;
    atomic_inc(&bins[contrast_at(frame + y * stride + x, stride)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < CONTRASTS; i += get_local_size(0))
    if (bins[i] != 0) atomic_add(&counts[first + i], bins[i]);
}

// Reads the frame and does next to nothing with it: what memory allows.
kernel void reading(global const uint4* frame, int count, global uint* partial) {
  uint4 sum = 0;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) sum ^= frame[i];
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x9e3779b9u) partial[0] = 1;  // so that it is not left out
}
