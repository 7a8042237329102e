// Scan: the early stages on all windows.
//
// Build options, besides those of nodes.clh:
//   TILE_X, TILE_Y, GROUP    windows of a work-group's tile (TILE_X is 32), and work-items
//
//   FIRST                    stages that a work-item runs on windows of its own; above that, QUEUE
//
//   TILED                    the tile's integrals are taken into local memory first: LOCAL_PLANES planes,
//                            1 or 2 (tilted sums), of LOCAL_ROWS rows of LOCAL_STRIDE elements
//
//   UNROLLED                 with TILED and QUEUE, instead of FIRST: number of first stages that are
//                            functions of their own, which the host writes
//
//   PACKED                   `scan` takes stages below packed_stages from constant memory
//
//   REDUCED                  see reduced.clh
#include "cascade/packed.clh"
#include "candidates.clh"

#ifdef UNROLLED
// Sum of the trees of stage s, below UNROLLED. The host writes it (src/detectors/cascade/opencl/unroll.cpp); it follows
// this text.
__attribute__((always_inline)) Sum unrolled_sum(int step, int s, local const Element* at, Norm norm);
#endif

#define TILE_WINDOWS (TILE_X * TILE_Y)
#define OWN ((TILE_WINDOWS + GROUP - 1) / GROUP)  // windows of a work-item

// Number of consecutive ones in `word` just below bit `bit`, at most `bit`.
inline int ones_below(uint word, int bit) {
  return bit == 0 ? 0 : min((int)clz(~(word << (32 - bit))), bit);
}

// Whether the run of rejected windows before the one of column `bit` begins in this word, whose first window is `x`,
// and is odd.
inline bool skipped_for_sure(uint rejected, int bit, int x) {
  const int run = ones_below(rejected, bit);
  return (run < bit || x == 0) && (run & 1) != 0;
}

#ifdef QUEUE
#ifdef SUM_LONG
#define MOST_PARTS 32  // work-items that share a window's trees: the order of whole numbers does not matter
#else
#define MOST_PARTS 1
#endif
#endif

#ifdef PACKED
#define PACKED_PARAMETERS \
  constant const PackedNode *packed_nodes, constant const PackedTree *packed_trees, int packed_stages,
#else
#define PACKED_PARAMETERS
#endif

// A stage's sum, of the trees `first`, `first + every`, ...; from where the variant has integrals and stages.
#ifdef TILED
#define STAGE_SUM_OF stage_sum_local
#define GEOMETRY(step) {step, LOCAL_STRIDE, LOCAL_STRIDE / 2, LOCAL_STRIDE * LOCAL_ROWS}
#else
#define STAGE_SUM_OF stage_sum
#define GEOMETRY(step) {step, stride, stride / 2, 2 * plane}
#endif
#ifdef PACKED
#define GEOMETRY_OF(step) const Geometry geometry = GEOMETRY(step);
#define SUM_OF(s, at, norm, first, every)                                                                  \
  ((s) < packed_stages ? stage_sum_packed(packed_nodes, packed_trees, leaves, stages + (s), &geometry, at, \
                                          norm, first, every)                                              \
                       : STAGE_SUM_OF(&cascade, stages + (s), at, norm, first, every))
#else
#define GEOMETRY_OF(step)
#define SUM_OF(s, at, norm, first, every) STAGE_SUM_OF(&cascade, stages + (s), at, norm, first, every)
#endif

#ifdef REDUCED
#include "cascade/reduced.clh"
#else

// Windows that pass stages [0, count), those included that are skipped: keep_visited takes them out. Appends
// (level, x, y) to `found`. A queue has room for all windows of a tile.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan(
    global const Element* restrict integrals, int stride, int plane,
    global const CascadeLevel* restrict levels, global const Tile* restrict tiles, CASCADE_PARAMETERS,
    PACKED_PARAMETERS int count, int capacity, global uint* restrict rejected_bits,
    global int* restrict found) {
  local uint rejected[TILE_Y];
  const Tile tile = tiles[get_group_id(0)];
  global const CascadeLevel* level = levels + tile.level;
  const int step = level->step;
  const int item = get_local_id(0);
  const Cascade cascade = CASCADE_OF_STEP(step);
  global const Element* corner = integrals + level->origin + tile.y * step * stride + tile.x;

#ifdef TILED
  local Element copied[LOCAL_PLANES * LOCAL_STRIDE * LOCAL_ROWS];
  const int rows = (TILE_Y - 1) * step + window_y + 1;
  for (int p = 0; p < LOCAL_PLANES; ++p) {
    for (int i = item; i < LOCAL_STRIDE * rows; i += GROUP) {
      const int row =
          min(i / LOCAL_STRIDE, level->last_row - tile.y * step);  // the last one has no windows below
      const int column = i % LOCAL_STRIDE;
      const int middle = LOCAL_STRIDE / 2;
      if ((step == 2 ? column % middle - window_x / 2 : column - window_x) >= TILE_X) continue;
      const int from = step == 2 && column >= middle ? column - middle + stride / 2 : column;
      const int place = level->origin + (tile.y * step + row) * stride + tile.x + from;
      copied[p * LOCAL_STRIDE * LOCAL_ROWS + i] = integrals[p * 2 * plane + min(place, plane - 1)];
    }
  }
#define WINDOW(w) (copied + ((w) / TILE_X) * step * LOCAL_STRIDE + (w) % TILE_X)
#else
#define WINDOW(w) (corner + ((w) / TILE_X) * step * stride + (w) % TILE_X)
#endif
  GEOMETRY_OF(step)
#define GLOBAL_WINDOW(w) (corner + ((w) / TILE_X) * step * stride + (w) % TILE_X)

#ifdef QUEUE
  local ushort queue[2][TILE_WINDOWS];
  local Norm queue_norms[TILE_WINDOWS];  // norms by window
  local int lengths[2];
  int from = 0;
  int s = FIRST;
#endif
  for (int i = item; i < TILE_Y; i += GROUP) rejected[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

#ifdef UNROLLED
  // A work-item's windows are all of one column of the tile, and so are those that are left for it: first and
  // later stages read local memory without conflicts, since rows are whole turns of its banks apart. A
  // column's queue has room for all its windows.
  local int heights[2][TILE_X];
  local int some_left[2];
  const int column = item % TILE_X;
  const int first_row = item / TILE_X;
#define ROWS_AT_ONCE (GROUP / TILE_X)
#define PUSH(to, w)                                     \
  {                                                     \
    const int place = atomic_inc(&heights[to][column]); \
    queue[to][place * TILE_X + column] = (ushort)(w);   \
    if (place == 0) atomic_or(&some_left[to], 1);       \
  }
  if (item < TILE_X) heights[0][item] = 0;
  if (item == 0) some_left[0] = 0;
  for (int row = first_row; row < TILE_Y; row += ROWS_AT_ONCE) {
    const int w = row * TILE_X + column;
    Norm norm;
    bool alive = tile.x + column < level->windows_x && tile.y + row < tile.end;
    alive = alive && norm_of((window_x - 2) * (window_y - 2),
                             (int)inside_local(WINDOW(w), window_x, window_y, step, LOCAL_STRIDE),
                             inside(GLOBAL_WINDOW(w) + plane, window_x, window_y, step, stride), &norm);
    if (alive) {
      alive = unrolled_sum(step, 0, WINDOW(w), norm) >= cascade.stages->threshold;
      if (!alive) atomic_or(&rejected[row], 1U << column);
    }
    queue_norms[w] = alive ? norm : -1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < TILE_Y && tile.y + i < tile.end; i += GROUP)
    rejected_bits[level->bits_offset + (tile.y + i) * level->bits_stride + tile.x / TILE_X] = rejected[i];
  for (int row = first_row; row < TILE_Y; row += ROWS_AT_ONCE) {
    const int w = row * TILE_X + column;
    if (queue_norms[w] < 0) continue;
    if (skipped_for_sure(rejected[row], column, tile.x)) continue;
    PUSH(0, w)
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int left = some_left[0];
  int unrolled = 1;
  for (; unrolled < UNROLLED && unrolled < count && left != 0; ++unrolled) {
    const int to = unrolled & 1;
    if (item < TILE_X) heights[to][item] = 0;
    if (item == 0) some_left[to] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Bounded by the tile too: with the height alone, PoCL 3.1 makes a loop without end of it.
#pragma unroll 1
    for (int k = first_row; k < TILE_Y; k += ROWS_AT_ONCE) {
      if (k >= heights[1 - to][column]) break;
      const int w = queue[1 - to][k * TILE_X + column];
      if (unrolled_sum(step, unrolled, WINDOW(w), queue_norms[w]) >= cascade.stages[unrolled].threshold)
        PUSH(to, w)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    left = some_left[to];
  }
  // Now side by side.
  s = unrolled;
  from = s & 1;
  if (item == 0) lengths[from] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = first_row; k < TILE_Y && k < heights[1 - from][column]; k += ROWS_AT_ONCE)
    queue[from][atomic_inc(&lengths[from])] = queue[1 - from][k * TILE_X + column];
#else
  // The first stage, for windows side by side.
  Norm norms[OWN];
  bool passed[OWN];
  for (int i = 0; i < OWN; ++i) {
    const int w = item + i * GROUP;
    passed[i] = false;
    norms[i] = 0;
    if (w >= TILE_WINDOWS || tile.x + w % TILE_X >= level->windows_x || tile.y + w / TILE_X >= tile.end)
      continue;
    if (!find_norm(GLOBAL_WINDOW(w), window_x, window_y, step, stride, plane, &norms[i])) continue;
    passed[i] = SUM_OF(0, WINDOW(w), norms[i], 0, 1) >= cascade.stages->threshold;
    if (!passed[i]) atomic_or(&rejected[w / TILE_X], 1U << (w % TILE_X));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < TILE_Y && tile.y + i < tile.end; i += GROUP)
    rejected_bits[level->bits_offset + (tile.y + i) * level->bits_stride + tile.x / TILE_X] = rejected[i];

#ifdef QUEUE
  if (item == 0) lengths[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  for (int i = 0; i < OWN; ++i) {
    if (!passed[i]) continue;
    const int w = item + i * GROUP;
    if (skipped_for_sure(rejected[w / TILE_X], w % TILE_X, tile.x)) continue;
    bool alive = true;
    for (int s = 1; alive && s < FIRST && s < count; ++s) {
      alive = SUM_OF(s, WINDOW(w), norms[i], 0, 1) >= cascade.stages[s].threshold;
    }
    if (!alive) continue;
#ifdef QUEUE
    queue_norms[w] = norms[i];
    queue[0][atomic_inc(&lengths[0])] = (ushort)w;
#else
    append(found, capacity,
           (int4)(tile.level, (tile.x + w % TILE_X) * step, (tile.y + w / TILE_X) * step, 0));
#endif
  }

#endif

#ifdef QUEUE
  // Moves the remaining windows from one queue to the other. If there are fewer windows than work-items,
  // several work-items share a window.
  local Sum parts[GROUP];
  barrier(CLK_LOCAL_MEM_FENCE);
  int length = lengths[from];
  for (; s < count && length > 0; ++s) {
    global const Stage* stage = cascade.stages + s;
    int every = 1;
    while (every < MOST_PARTS && every * 2 * length <= GROUP) every *= 2;
    if (item == 0) lengths[1 - from] = 0;
    // Items side by side have the same trees of different windows: they load the same nodes.
    const int slots = GROUP / every;
    const int part = item / slots;
    if (every > 1 && item % slots < length && part < every) {
      const int w = queue[from][item % slots];
      parts[item] = SUM_OF(s, WINDOW(w), queue_norms[w], part, every);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = item; q < length; q += GROUP) {
      const int w = queue[from][q];
      Sum sum = 0;
      if (every > 1) {
        for (int other = 0; other < every; ++other) sum += parts[q + other * slots];
      } else {
        sum = SUM_OF(s, WINDOW(w), queue_norms[w], 0, 1);
      }
      if (sum >= stage->threshold) queue[1 - from][atomic_inc(&lengths[1 - from])] = (ushort)w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    from = 1 - from;
    length = lengths[from];
  }
  for (int q = item; q < length; q += GROUP) {
    const int w = queue[from][q];
    append(found, capacity,
           (int4)(tile.level, (tile.x + w % TILE_X) * step, (tile.y + w / TILE_X) * step, 0));
  }
#endif
}
#endif

// A window is skipped exactly where the first stage rejects an odd number of windows in a row just before it.
// Takes these out: from `found` to `visited`, whose first elements are the two lists' lengths.
kernel void keep_visited(global const CascadeLevel* restrict levels,
                         global const uint* restrict rejected_bits, global const int* restrict found,
                         int capacity, global int* restrict visited) {
  const int count = min(found[0], capacity);
  if (get_global_id(0) == 0) visited[1] = found[0];
  for (int k = get_global_id(0); k < count; k += get_global_size(0)) {
    const int4 window = vload4(k + 1, found);
    global const CascadeLevel* level = levels + window.s0;
    const int i = window.s1 / level->step;
    global const uint* row =
        rejected_bits + level->bits_offset + window.s2 / level->step * level->bits_stride;
    int word = i / 32;
    int run = ones_below(row[word], i % 32);
    bool whole = run == i % 32;
    while (whole && --word >= 0) {
      const int ones = clz(~row[word]);
      run += ones;
      whole = ones == 32;
    }
    if ((run & 1) == 0) append(visited, capacity, window);
  }
}
