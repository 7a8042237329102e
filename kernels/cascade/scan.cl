// Scan and finish: a cascade's stages on windows. src/cascade/kernels.hpp says what a window's result is;
// windows here get the same one bit for bit.
//
// Build options:
//   HAAR, HAAR_RECTS or LBP  nodes as Node below
//
//   SUM_LONG or SUM_DOUBLE   of a stage's trees: fixed point where that is exact, else as the CPU adds up
//
//   TILE_X, TILE_Y, GROUP    windows of a work-group's tile (TILE_X is 32), and work-items
//
//   FIRST                    stages that a work-item runs on windows of its own; above that, QUEUE
//
//   TILED                    the tile's integrals are taken into local memory first: LOCAL_PLANES planes,
//                            1 or 2 (tilted sums), of LOCAL_ROWS rows of LOCAL_STRIDE elements
//
//   UNROLLED                 with TILED and QUEUE, in the place of FIRST: so many of the first stages are
//                            functions of their own, which the host writes
//
//   PACKED                   `scan` takes stages below packed_stages from constant memory
//
//   FINISH_GROUP             work-items that share a window of `finish`
#pragma OPENCL FP_CONTRACT OFF

#ifndef LBP
#pragma OPENCL EXTENSION cl_khr_fp64 : enable  // a window's norm
#endif

#ifdef SUM_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double Sum;
#else
typedef long Sum;
#endif

// Mirrors struct DeviceStage.
typedef struct {
  int first_tree, trees;
  Sum threshold;
} Stage;

// left, right: a node of the cascade, or leaf -1 - left. Corners are distances from the window's own. Nodes
// are so aligned that they can be loaded four words at a time.
#ifdef LBP
typedef struct __attribute__((aligned(16))) {
  int left, right;
  int corners[16];  // of the 3x3 grid, row after row
  uint subset[8];
  int unused[2];
} Node;
#elif defined HAAR_RECTS
typedef struct __attribute__((aligned(16))) {
  int left, right;
  float threshold;
  float weights[3];
  int corners[12];  // of each rectangle, two to be added and two to be taken off
  int unused[2];
} Node;
#else
typedef struct __attribute__((aligned(16))) {
  int left, right;
  float threshold;
  int corners[8];  // see PackedCascade::HaarNode
  int factor;
  int form;
  int first, count;  // of `corners`
  int unused;
} Node;
enum { FORM_SIX, FORM_EIGHT, FORM_LIST };
#endif

// Everything of the cascade; nodes are those of the level's step.
typedef struct {
  global const Stage* stages;
  global const int* roots;
  global const Node* nodes;
  global const int2* corners;  // offset and weight
  global const Sum* leaves;
} Cascade;

// `node_count` is that of the cascade: the nodes for step 2 follow those for step 1. A window has window_x by
// window_y pixels.
#define CASCADE_PARAMETERS                                                                                  \
  global const Stage *restrict stages, global const int *restrict roots, global const Node *restrict nodes, \
      int node_count, global const int2 *restrict corners, global const Sum *restrict leaves, int window_x, \
      int window_y
#define CASCADE_OF_STEP(step) \
  { stages, roots, nodes + ((step)-1) * node_count, corners, leaves }

#ifdef LBP
typedef int Norm;  // there is none
#else
typedef float Norm;
#endif

// --- one node -------------------------------------------------------------------------------------------
// A function for windows whose integrals are in global memory, and one for those in local memory.

#ifdef LBP
#define BLOCK(i) \
  (Element)(at[n->corners[i]] - at[n->corners[i + 1]] - at[n->corners[i + 4]] + at[n->corners[i + 5]])
#define GOES_LEFT(NAME, SPACE)                                                                            \
  inline bool NAME(const Cascade* c, global const Node* n, SPACE const Element* at, Norm norm) {          \
    const Element middle = BLOCK(5);                                                                      \
    const uint high = (BLOCK(0) >= middle) << 2 | (BLOCK(1) >= middle) << 1 | (BLOCK(2) >= middle);       \
    const uint low = (BLOCK(6) >= middle) << 4 | (BLOCK(10) >= middle) << 3 | (BLOCK(9) >= middle) << 2 | \
                     (BLOCK(8) >= middle) << 1 | (BLOCK(4) >= middle);                                    \
    return (n->subset[high] >> low & 1) != 0;                                                             \
  }
#elif defined HAAR_RECTS
#define RECT(i)                                                                            \
  (n->weights[i] * convert_float((int)(at[n->corners[4 * i]] + at[n->corners[4 * i + 1]] - \
                                       at[n->corners[4 * i + 2]] - at[n->corners[4 * i + 3]])))
#define GOES_LEFT(NAME, SPACE)                                                                   \
  inline bool NAME(const Cascade* c, global const Node* n, SPACE const Element* at, Norm norm) { \
    float value = RECT(0) + RECT(1);                                                             \
    if (n->weights[2] != 0) value += RECT(2);                                                    \
    return value * norm < n->threshold;                                                          \
  }
#else
#define AT(i) at[n->corners[i]]
#define GOES_LEFT(NAME, SPACE)                                                                   \
  inline bool NAME(const Cascade* c, global const Node* n, SPACE const Element* at, Norm norm) { \
    uint value;                                                                                  \
    if (n->form == FORM_LIST) {                                                                  \
      value = 0;                                                                                 \
      for (int i = n->first; i < n->first + n->count; ++i)                                       \
        value += (uint)c->corners[i].s1 * at[c->corners[i].s0];                                  \
    } else {                                                                                     \
      uint other = AT(4) - AT(5);                                                                \
      if (n->form == FORM_EIGHT) other += AT(6) - AT(7);                                         \
      value = AT(0) + AT(1) - AT(2) - AT(3) + (uint)n->factor * other;                           \
    }                                                                                            \
    return convert_float((int)value) * norm < n->threshold;                                      \
  }
#endif

// Sum of a stage's trees `first`, `first + every`, ...
#define STAGE_SUM(NAME, SPACE, GOES)                                                               \
  inline Sum NAME(const Cascade* c, global const Stage* stage, SPACE const Element* at, Norm norm, \
                  int first, int every) {                                                          \
    Sum sum = 0;                                                                                   \
    for (int t = first; t < stage->trees; t += every) {                                            \
      int node = c->roots[stage->first_tree + t];                                                  \
      do {                                                                                         \
        global const Node* n = c->nodes + node;                                                    \
        node = GOES(c, n, at, norm) ? n->left : n->right;                                          \
      } while (node >= 0);                                                                         \
      sum += c->leaves[-1 - node];                                                                 \
    }                                                                                              \
    return sum;                                                                                    \
  }

GOES_LEFT(goes_left, global)
STAGE_SUM(stage_sum, global, goes_left)
#ifdef TILED
GOES_LEFT(goes_left_local, local)
STAGE_SUM(stage_sum_local, local, goes_left_local)
#endif

#ifdef PACKED
// The first stages again, so small that they fit in constant memory. A corner is y * 256 + x; a child is a
// later node of the tree where positive, else leaf -child of the tree.
typedef struct {
  ushort first_node, first_leaf;
} PackedTree;

#ifdef LBP
typedef struct {
  uint subset[8];
  uchar x, y, width, height;  // of the block at the top left
  short left, right;
} PackedNode;
#else
typedef struct {
  ushort corners[8];
  float threshold;
  uchar factor, form;  // and 128 where tilted
  short left, right;
  ushort unused;
} PackedNode;
#define TILTED_FORM 128
#endif

// Where integrals lie: distances of rows, of odd columns (step 2), and of tilted sums.
typedef struct {
  int step, stride, half_stride, tilted;
} Geometry;

#ifdef LBP
#define PLACE(row, column) \
  ((n->y + (row)*n->height) * g->stride + column_of(g->step, n->x + (column)*n->width, g->half_stride))
#define PACKED_BLOCK(row, column)                                                              \
  (Element)(at[PLACE(row, column)] - at[PLACE(row, column + 1)] - at[PLACE(row + 1, column)] + \
            at[PLACE(row + 1, column + 1)])
#define PACKED_GOES_LEFT(NAME, SPACE)                                                                     \
  inline bool NAME(constant const PackedNode* n, const Geometry* g, SPACE const Element* at, Norm norm) { \
    const Element middle = PACKED_BLOCK(1, 1);                                                            \
    const uint high = (PACKED_BLOCK(0, 0) >= middle) << 2 | (PACKED_BLOCK(0, 1) >= middle) << 1 |         \
                      (PACKED_BLOCK(0, 2) >= middle);                                                     \
    const uint low = (PACKED_BLOCK(1, 2) >= middle) << 4 | (PACKED_BLOCK(2, 2) >= middle) << 3 |          \
                     (PACKED_BLOCK(2, 1) >= middle) << 2 | (PACKED_BLOCK(2, 0) >= middle) << 1 |          \
                     (PACKED_BLOCK(1, 0) >= middle);                                                      \
    return (n->subset[high] >> low & 1) != 0;                                                             \
  }
#else
#define PACKED_AT(i) \
  at[(n->corners[i] >> 8) * g->stride + column_of(g->step, n->corners[i] & 255, g->half_stride)]
#define PACKED_GOES_LEFT(NAME, SPACE)                                                                       \
  inline bool NAME(constant const PackedNode* n, const Geometry* g, SPACE const Element* at, Norm norm) {   \
    if (n->form & TILTED_FORM) at += g->tilted;                                                             \
    uint other = PACKED_AT(4) - PACKED_AT(5);                                                               \
    if ((n->form & ~TILTED_FORM) == FORM_EIGHT) other += PACKED_AT(6) - PACKED_AT(7);                       \
    const uint value = PACKED_AT(0) + PACKED_AT(1) - PACKED_AT(2) - PACKED_AT(3) + (uint)n->factor * other; \
    return convert_float((int)value) * norm < n->threshold;                                                 \
  }
#endif

#define PACKED_STAGE_SUM(NAME, SPACE, GOES)                                               \
  inline Sum NAME(constant const PackedNode* nodes, constant const PackedTree* trees,     \
                  global const Sum* leaves, global const Stage* stage, const Geometry* g, \
                  SPACE const Element* at, Norm norm, int first, int every) {             \
    Sum sum = 0;                                                                          \
    for (int t = first; t < stage->trees; t += every) {                                   \
      const int tree = stage->first_tree + t;                                             \
      constant const PackedNode* root = nodes + trees[tree].first_node;                   \
      int node = 0;                                                                       \
      do {                                                                                \
        constant const PackedNode* n = root + node;                                       \
        node = GOES(n, g, at, norm) ? n->left : n->right;                                 \
      } while (node > 0);                                                                 \
      sum += leaves[trees[tree].first_leaf - node];                                       \
    }                                                                                     \
    return sum;                                                                           \
  }

#ifdef TILED
PACKED_GOES_LEFT(goes_left_packed, local)
PACKED_STAGE_SUM(stage_sum_packed, local, goes_left_packed)
#else
PACKED_GOES_LEFT(goes_left_packed, global)
PACKED_STAGE_SUM(stage_sum_packed, global, goes_left_packed)
#endif
#endif

// --- a window's norm ------------------------------------------------------------------------------------

#ifndef LBP
// From a window's sums less its outermost pixels: whether there is something to see; then its norm.
inline bool norm_of(long area, long sum, long squares, Norm* norm) {
  const long variance = area * squares - sum * sum;  // below 2^53: as exact in double as here
  *norm = 0;
  if (variance <= 0) return false;
  *norm = convert_float(1.0 / sqrt(convert_double(variance)));
  return convert_double(area) * convert_double(*norm) < 1e-1;
}

// Sum of the pixels in a window less its outermost ones.
#define INSIDE(NAME, SPACE)                                                                     \
  inline uint NAME(SPACE const Element* at, int window_x, int window_y, int step, int stride) { \
    const int left = column_of(step, 1, stride / 2);                                            \
    const int right = column_of(step, window_x - 1, stride / 2);                                \
    const int top = stride;                                                                     \
    const int bottom = (window_y - 1) * stride;                                                 \
    return (uint)(at[top + left] - at[top + right] - at[bottom + left] + at[bottom + right]);   \
  }
INSIDE(inside, global)
INSIDE(inside_local, local)
#endif

// Whether there is something to see; then its norm.
inline bool find_norm(global const Element* at, int window_x, int window_y, int step, int stride, int plane,
                      Norm* norm) {
#ifdef LBP
  *norm = 0;
  return true;
#else
  return norm_of((window_x - 2) * (window_y - 2), (int)inside(at, window_x, window_y, step, stride),
                 inside(at + plane, window_x, window_y, step, stride), norm);
#endif
}

#ifdef UNROLLED
// Sum of the trees of stage s, below UNROLLED. The host writes it (src/cascade/opencl_unroll.cpp); it follows
// this text.
__attribute__((always_inline)) Sum unrolled_sum(int step, int s, local const Element* at, Norm norm);
#endif

// --- scan -----------------------------------------------------------------------------------------------

#define TILE_WINDOWS (TILE_X * TILE_Y)
#define OWN ((TILE_WINDOWS + GROUP - 1) / GROUP)  // windows of a work-item

// Ones that `word` has just below bit `bit`, `bit` of them at most.
inline int ones_below(uint word, int bit) {
  return bit == 0 ? 0 : min((int)clz(~(word << (32 - bit))), bit);
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

// Windows that pass stages [0, count), those included that are skipped: keep_visited takes them out. Appends
// (level, x, y) to `found`, in any order. `found[0]` counts all of them, also those that no longer fit, so
// that the host can ask again with more room: nothing is lost. A queue has room for all windows of a tile.
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
#define GLOBAL_SUM stage_sum_local
#else
#define WINDOW(w) (corner + ((w) / TILE_X) * step * stride + (w) % TILE_X)
#define GLOBAL_SUM stage_sum
#endif
#ifdef PACKED
#ifdef TILED
  const Geometry geometry = {step, LOCAL_STRIDE, LOCAL_STRIDE / 2, LOCAL_STRIDE * LOCAL_ROWS};
#else
  const Geometry geometry = {step, stride, stride / 2, 2 * plane};
#endif
#define SUM_OF(s, at, norm, first, every)                                                                  \
  ((s) < packed_stages ? stage_sum_packed(packed_nodes, packed_trees, leaves, stages + (s), &geometry, at, \
                                          norm, first, every)                                              \
                       : GLOBAL_SUM(&cascade, stages + (s), at, norm, first, every))
#else
#define SUM_OF(s, at, norm, first, every) GLOBAL_SUM(&cascade, stages + (s), at, norm, first, every)
#endif
#define GLOBAL_WINDOW(w) (corner + ((w) / TILE_X) * step * stride + (w) % TILE_X)

#ifdef QUEUE
  local ushort queue[2][TILE_WINDOWS];
  local Norm queue_norms[TILE_WINDOWS];  // by window
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
    const int run = ones_below(rejected[row], column);
    if ((run < column || tile.x == 0) && (run & 1) != 0) continue;
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
    // Skipped for sure, where the run of rejected windows before it begins in the tile.
    const int run = ones_below(rejected[w / TILE_X], w % TILE_X);
    if ((run < w % TILE_X || tile.x == 0) && (run & 1) != 0) continue;
    bool alive = true;
    for (int s = 1; alive && s < FIRST && s < count; ++s) {
      alive = SUM_OF(s, WINDOW(w), norms[i], 0, 1) >= cascade.stages[s].threshold;
    }
    if (!alive) continue;
#ifdef QUEUE
    queue_norms[w] = norms[i];
    queue[0][atomic_inc(&lengths[0])] = (ushort)w;
#else
    const int place = atomic_inc(found);
    if (place < capacity) {
      vstore4((int4)(tile.level, (tile.x + w % TILE_X) * step, (tile.y + w / TILE_X) * step, 0), place + 1,
              found);
    }
#endif
  }

#endif

#ifdef QUEUE
  // What is left, from one queue to the other. Where it is less than there are work-items, several of these
  // share a window.
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
    const int place = atomic_inc(found);
    if (place < capacity) {
      vstore4((int4)(tile.level, (tile.x + w % TILE_X) * step, (tile.y + w / TILE_X) * step, 0), place + 1,
              found);
    }
  }
#endif
}

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
    if ((run & 1) == 0) vstore4(window, atomic_inc(visited) + 1, visited);
  }
}

// --- finish ---------------------------------------------------------------------------------------------

// Stages [first, all) of the windows of `visited`: appends what passes, (level, x, y, 0) and the last stage's
// sum, to `passed`, which is as long as `visited`; its first elements are its length and those of the other
// two. A work-group takes a window at a time, where the order of a sum does not matter, else a window a
// work-item.
kernel __attribute__((reqd_work_group_size(FINISH_GROUP, 1, 1))) void finish(
    global const Element* restrict integrals, int stride, int plane,
    global const CascadeLevel* restrict levels, CASCADE_PARAMETERS, int first, int all, int capacity,
    global const int* restrict visited, global int* restrict passed) {
  const int count = min(visited[0], capacity);
  const int item = get_local_id(0);
  if (get_global_id(0) == 0) {
    passed[1] = visited[0];
    passed[2] = visited[1];
  }
#ifdef SUM_LONG
  local Sum parts[FINISH_GROUP];
  const int begin = get_group_id(0);
  const int every = get_num_groups(0);
#else
  const int begin = get_global_id(0);
  const int every = get_global_size(0);
#endif
  for (int k = begin; k < count; k += every) {
    const int4 window = vload4(k + 1, visited);
    global const CascadeLevel* level = levels + window.s0;
    const Cascade cascade = CASCADE_OF_STEP(level->step);
    global const Element* at = integrals + level->origin + window.s2 * stride + window.s1 / level->step;
    Norm norm;
    find_norm(at, window_x, window_y, level->step, stride, plane, &norm);
    Sum sum = 0;
    bool alive = true;
    for (int s = first; alive && s < all; ++s) {
#ifdef SUM_LONG
      parts[item] = stage_sum(&cascade, cascade.stages + s, at, norm, item, FINISH_GROUP);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int apart = FINISH_GROUP / 2; apart > 0; apart /= 2) {
        if (item < apart) parts[item] += parts[item + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      sum = parts[0];
      barrier(CLK_LOCAL_MEM_FENCE);
#else
      sum = stage_sum(&cascade, cascade.stages + s, at, norm, 0, 1);
#endif
      alive = sum >= cascade.stages[s].threshold;
    }
#ifdef SUM_LONG
    alive = alive && item == 0;
#endif
    if (alive) {
      const int2 bits = as_int2(sum);
      vstore8((int8)(window.s0, window.s1, window.s2, 0, bits.s0, bits.s1, 0, 0), atomic_inc(passed) + 1,
              passed);
    }
  }
}
