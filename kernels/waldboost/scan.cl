// Scan: all windows through the first weak classifiers, or through all.
//
// Build options:
//   FEATURES_..., PLANES     see common.clh
//   TILE_X, TILE_Y, GROUP    windows of a work-group's tile, and work-items
//   AT_ONCE                  see windows.clh
//
//   VARIANT_NAIVE            a work-item takes a window to its end
//   VARIANT_QUEUE            windows of a tile that pass a phase of weak classifiers wait in local memory; the
//                            work-items then share them out again; `finish` takes those after the last phase
#include "candidates.clh"
#include "waldboost/windows.clh"

#define TILE_WINDOWS (TILE_X * TILE_Y)
#define OWN ((TILE_WINDOWS + GROUP - 1) / GROUP)  // windows of a work-item
#define CORNER_OF(w) (corner + ((w) / TILE_X) * PLANES * stride + (w) % TILE_X)

#ifdef VARIANT_NAIVE
// Appends the windows that pass all weak classifiers and have a sum of at least `lowest`.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan(
    global const Element* restrict planes, global const PixelLevel* restrict levels,
    global const Tile* restrict tiles, constant const Weak* weak, RESPONSES,
    int count, int lowest, int capacity, global int* restrict found) {
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int stride = level->planes_stride;
  global const Element* corner = planes + CORNER(level, tile.x, tile.y);
  for (int w = get_local_id(0); w < TILE_WINDOWS; w += GROUP) {
    const int x = tile.x + w % TILE_X;
    const int y = tile.y + w / TILE_X;
    if (x >= level->windows_x || y >= tile.end) continue;
    int sum = 0;
    if (passes(CORNER_OF(w), stride, weak, responses, 0, count, &sum) && sum >= lowest)
      append(found, capacity, (int4)(tile.level, x, y, sum));
  }
}
#endif

#ifdef VARIANT_QUEUE
// Appends the windows that pass weak classifiers [0, ends[phases - 1]) to `late`. A phase has those from
// where the one before ends; the first one is of one weak classifier, which lets codes pass whose bits are
// set in `first`.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan(
    global const Element* restrict planes, global const PixelLevel* restrict levels,
    global const Tile* restrict tiles, constant const Weak* weak, RESPONSES,
    constant const uint* first, constant const int* ends, int phases, int capacity,
    global int* restrict late) {
  local uint first_passes[CODES / 32];
  local ushort queue[2][TILE_WINDOWS];
  local int sums[2][TILE_WINDOWS];
  local int lengths[2];
  local int place;
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int stride = level->planes_stride;
  const int item = get_local_id(0);
  global const Element* corner = planes + CORNER(level, tile.x, tile.y);
  for (int i = item; i < CODES / 32; i += GROUP) first_passes[i] = first[i];
  if (item == 0) lengths[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  const int columns = min(level->windows_x - tile.x, TILE_X);
  const int rows = min(tile.end - tile.y, TILE_Y);
  uint own[OWN];  // codes, all loaded before the first is judged
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const int w = item + i * GROUP;
    const bool exists = w < TILE_WINDOWS && w % TILE_X < columns && w / TILE_X < rows;
    own[i] = exists ? code_at(CORNER_OF(w), stride, weak[0].place) : CODES;
  }
#pragma unroll
  for (int i = 0; i < OWN; ++i) {
    const uint code = own[i];
    if (code == CODES || (first_passes[code / 32] >> (code % 32) & 1u) == 0) continue;
    const int at = atomic_inc(&lengths[0]);
    queue[0][at] = (ushort)(item + i * GROUP);
    sums[0][at] = RESPONSE(0, (int)code);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  int from = 0;
  int length = lengths[0];
  int next = ends[0];
  for (int phase = 1; phase < phases && length > 0; ++phase) {
    const int end = ends[phase];
    if (item == 0) lengths[1 - from] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = item; q < length; q += GROUP) {
      const int w = queue[from][q];
      int sum = sums[from][q];
      if (!passes(CORNER_OF(w), stride, weak, responses, next, end, &sum)) continue;
      const int at = atomic_inc(&lengths[1 - from]);
      queue[1 - from][at] = (ushort)w;
      sums[1 - from][at] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    from = 1 - from;
    length = lengths[from];
    next = end;
  }
  if (length == 0) return;
  if (item == 0) place = atomic_add(late, length);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int q = item; q < length; q += GROUP) {
    const int w = queue[from][q];
    if (place + q < capacity)
      vstore4((int4)(PACK_LATE(tile.level, next), tile.x + w % TILE_X, tile.y + w / TILE_X, sums[from][q]),
              place + q + 1, late);
  }
}
#endif
