// Five points of faces, bit for bit as in patch.hpp, shape.hpp and finder.hpp of src/faces/landmarks. A
// work-group of ITEMS work-items makes the patch of a face and runs the trees on it. The host's side is
// src/faces/landmarks/opencl/finder.hpp.

#define POINTS 5
#define COORDINATES 10
#define MOST_PIXELS 256
#define PATCH_SIDE (BOX_PIXELS + 2 * PATCH_MARGIN)
#define PIXEL_UNITS (2 * BOX_PIXELS)
#define UNIT 256
#define TURN_BITS 12

// Mirrors Finder::Node on the host.
typedef struct {
  uchar first, second;
  short threshold;
} Node;

// The frame's pixels that patch pixel i covers along an axis begin here, in units of 1 / PIXEL_UNITS of a pixel.
inline int cover_begin(int i, int first, int side, int reach) {
  return PIXEL_UNITS * first + (2 * (i - PATCH_MARGIN) + 1) * side - reach;
}
inline int first_pixel(int begin) {
  return begin >= 0 ? begin / PIXEL_UNITS : -((PIXEL_UNITS - 1 - begin) / PIXEL_UNITS);
}
// Total weight, out of 256, of the frame's pixels before `pixel`.
inline int taken_before(int pixel, int begin, int reach) {
  const int covered = min(pixel * PIXEL_UNITS - begin, 2 * reach);
  return (covered * 256 + reach) / (2 * reach);
}

inline uchar patch_pixel(global const uchar* frame, int width, int height, int stride, int4 square, int i, int j) {
  const int reach = max(square.z, BOX_PIXELS);
  const int left = cover_begin(i, square.x, square.z, reach), top = cover_begin(j, square.y, square.z, reach);
  uint sum = 32768;
  int taken_y = 0;
  for (int y = first_pixel(top); taken_y < 256; ++y) {
    const int until_y = taken_before(y + 1, top, reach);
    global const uchar* row = frame + clamp(y, 0, height - 1) * stride;
    uint mixed = 0;
    int taken_x = 0;
    for (int x = first_pixel(left); taken_x < 256; ++x) {
      const int until_x = taken_before(x + 1, left, reach);
      mixed += (uint)(until_x - taken_x) * row[clamp(x, 0, width - 1)];
      taken_x = until_x;
    }
    sum += (uint)(until_y - taken_y) * mixed;
    taken_y = until_y;
  }
  return (uchar)(sum >> 16);
}

inline int quotient(long sum, long norm) {
  const long twice = (sum << TURN_BITS) * 2 + norm, divisor = 2 * norm;
  const long rounded = twice >= 0 ? twice / divisor : -((divisor - 1 - twice) / divisor);
  return (int)clamp(rounded, (long)(-(4 << TURN_BITS)), (long)(4 << TURN_BITS));
}

// Cosine and sine of the rotation from the mean shape, given its centred coordinates and their norm.
inline int2 turn_to(local const int* shape, global const int* centred, long norm) {
  long sum_x = 0, sum_y = 0, along = 0, across = 0;
  for (int i = 0; i < COORDINATES; i += 2) {
    sum_x += shape[i];
    sum_y += shape[i + 1];
  }
  for (int i = 0; i < COORDINATES; i += 2) {
    const long x = POINTS * (long)shape[i] - sum_x, y = POINTS * (long)shape[i + 1] - sum_y;
    along += centred[i] * x + centred[i + 1] * y;
    across += centred[i] * y - centred[i + 1] * x;
  }
  return (int2)(quotient(along, norm), quotient(across, norm));
}

inline int place_in_patch(int anchor, int offset) {
  return clamp((anchor + ((offset + (1 << (TURN_BITS - 1))) >> TURN_BITS)) >> 8, 0, PATCH_SIDE - 1);
}

// Sizes are arguments, not constants: one program serves all models, and no compiler unrolls loops over trees.
// `squares` has x, y and side of the faces' boxes; `shapes` gets their points in units of the patch. A place is the
// anchor, x and y; leaves have 16 bytes.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void find_points(
    global const uchar* restrict frame, int width, int height, int stride, global const int4* restrict squares,
    global const int* restrict mean, global const int* restrict centred, long norm,
    global const short4* restrict places, global const uchar* restrict shifts, global const Node* restrict nodes,
    global const char* restrict leaves, int stages, int trees, int node_count, int pixel_count,
    global int* restrict shapes) {
  local uchar patch[PATCH_SIDE * PATCH_SIDE];
  local uchar pixels[MOST_PIXELS];
  local int shape[COORDINATES], sums[COORDINATES];
  local int2 turned;
  const int item = (int)get_local_id(0);
  const int4 square = squares[get_group_id(0)];
  for (int k = item; k < PATCH_SIDE * PATCH_SIDE; k += ITEMS)
    patch[k] = patch_pixel(frame, width, height, stride, square, k % PATCH_SIDE, k / PATCH_SIDE);
  for (int i = item; i < COORDINATES; i += ITEMS) {
    shape[i] = mean[i];
    sums[i] = 0;
  }
  for (int stage = 0; stage < stages; ++stage) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) turned = turn_to(shape, centred, norm);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int2 turn = turned;
    for (int k = item; k < pixel_count; k += ITEMS) {
      const short4 place = places[stage * pixel_count + k];
      const int x = place_in_patch(shape[2 * place.x], turn.x * place.y - turn.y * place.z);
      const int y = place_in_patch(shape[2 * place.x + 1], turn.y * place.y + turn.x * place.z);
      pixels[k] = patch[y * PATCH_SIDE + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int own[COORDINATES];
    for (int i = 0; i < COORDINATES; ++i) own[i] = 0;
    for (int tree = stage * trees + item; tree < (stage + 1) * trees; tree += ITEMS) {
      global const Node* tree_nodes = nodes + tree * node_count;
      int node = 0;
      while (node < node_count) {
        const Node one = tree_nodes[node];
        node = 2 * node + (pixels[one.first] - pixels[one.second] > one.threshold ? 2 : 1);
      }
      const char16 leaf = vload16(tree * (node_count + 1) + node - node_count, leaves);
      own[0] += leaf.s0;
      own[1] += leaf.s1;
      own[2] += leaf.s2;
      own[3] += leaf.s3;
      own[4] += leaf.s4;
      own[5] += leaf.s5;
      own[6] += leaf.s6;
      own[7] += leaf.s7;
      own[8] += leaf.s8;
      own[9] += leaf.s9;
    }
    for (int i = 0; i < COORDINATES; ++i) atomic_add(&sums[i], own[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < COORDINATES; i += ITEMS) {
      shape[i] = clamp(shape[i] + sums[i] * (1 << shifts[stage]), -PATCH_SIDE * UNIT, 2 * PATCH_SIDE * UNIT);
      sums[i] = 0;
    }
  }
  for (int i = item; i < COORDINATES; i += ITEMS) shapes[(int)get_group_id(0) * COORDINATES + i] = shape[i];
}
