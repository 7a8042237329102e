// The nearest of many templates: src/faces/recognition/search.hpp on a device, to the bit.
//
// prepare    a *plan* for every QUERIES queries: the part of the work that all templates share
// distances  the distances of a plan's queries to all templates, as keys
// select     the k lowest of every CHUNK keys; again, until there are k
//
// A key is a distance in the upper and an index in the lower half: the order of keys is that of matches.
// Templates lie in blocks as TemplateSet has them. A work-group of `distances` takes a block, and a work-item
// four neighbouring templates and every SLICES-th row of the plan. The sums of all slices are added up in local
// memory: integers modulo 2^32, so the order does not matter.
//
// Build options:
//   COUNTS8, COUNTS16 or VECTOR8   kind of templates, see src/faces/recognition/templates.hpp
//   DIMS, WORDS                    values and words of a template
//   WEIGHTED                       dimensions of counts have weights
//   QUERIES                        queries of a plan
//   SLICES                         parts of a template, each for its own work-items
//   UNROLL                         rows by which a work-item's loops are unrolled
//   SELECT_ITEMS                   work-items that sort a chunk
//   QUOTIENT_PTX                   quotients of bytes by NVIDIA's approximate reciprocal, which are exact as well
//   DOT_PTX, DOT_KHR, DOT_INTEGER  summation of four products

#define BLOCK 64
#define LANES 16
#define ITEMS (LANES * SLICES)
#define PREPARE_ITEMS 256
#define CHUNK 1024

// A plan: how many rows it has, a part of the distance for each query, then the rows.
#define HEADER (1 + QUERIES)
#ifdef VECTOR8
#define ROW QUERIES  // a word of each query
#else
#define ROW (2 + 2 * QUERIES)  // dimension, weight, and of each query numerator and offset, see `rest`
#endif
#define PLAN (HEADER + WORDS * ROW)

#ifdef COUNTS16
typedef ushort Value;
#elif defined(COUNTS8)
typedef uchar Value;
#else
typedef char Value;
#endif

// 16 a^2 / (a + b) to the nearest integer, halves up, as src/faces/recognition/search_simd.cpp says it is exact; NUMERATOR and
// OFFSET are made of a by `prepare`, and 0 and 1 where it is 0. Bytes: ROUND_BITS too much.
#ifdef COUNTS8
#define NUMERATOR(a) ((a) > 0 ? as_uint(16.0f * (a) * (a) + 0.3125f) : 0)
#define ROUND 12582912.0f
#define ROUND_BITS 0x4B400000u
// Bytes become floats as the lower bits of 2^23.
#define OFFSET(a) as_uint((float)max((a), (uint)1) - 8388608.0f)
inline uint rest(uint numerator, uint offset, uint four, uint j) {
#ifdef QUOTIENT_PTX
  uint bits;
  float reciprocal;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(four), "r"(0x4B000000u), "r"(0x7540u + j));
  // Good to 2^-23; the product is not rounded before it is added.
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(as_float(bits) + as_float(offset)));
  return as_uint(fma(as_float(numerator), reciprocal, ROUND));
#else
  const float sum = as_float(0x4B000000u | ((four >> (8 * j)) & 255)) + as_float(offset);
  return as_uint(as_float(numerator) / sum + ROUND);
#endif
}
#elif defined(COUNTS16)
#define NUMERATOR(a) (16 * (a) * (a))
#define ROUND_BITS 0
#define OFFSET(a) max((a), (uint)1)
inline uint rest(uint numerator, uint offset, uint b) {
  const int divisor = (int)(offset + b);
  const int near = convert_int_rte((float)(int)numerator / (float)divisor);
  const int left = 2 * ((int)numerator - near * divisor);
  return (uint)(near + (left >= divisor) - (left < -divisor));
}
#endif

// A group for each plan.
kernel __attribute__((reqd_work_group_size(PREPARE_ITEMS, 1, 1))) void prepare(
    global const Value* restrict queries, int count, global const uchar* restrict weights,
    global uint* restrict plans) {
  const int item = get_local_id(0);
  const int first = get_group_id(0) * QUERIES;
  global uint* plan = plans + (size_t)get_group_id(0) * PLAN;
  local uint rows, sums[QUERIES];
  if (item < QUERIES) sums[item] = 0;
  if (item == 0) rows = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum[QUERIES];
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) sum[q] = 0;
#ifdef VECTOR8
  for (int word = item; word < WORDS; word += PREPARE_ITEMS) {
    for (int q = 0; q < QUERIES; ++q) {
      uint values = 0;
      for (int i = 0; i < 4; ++i) {
        const int d = 4 * word + i;
        const int value = d < DIMS && first + q < count ? queries[(size_t)(first + q) * DIMS + d] : 0;
        values |= (uint)(value & 255) << (8 * i);
        sum[q] += (uint)(value * value);
      }
      plan[HEADER + word * ROW + q] = values;
    }
  }
  if (item == 0) rows = WORDS;
#else
  for (int d = item; d < DIMS; d += PREPARE_ITEMS) {
#ifdef WEIGHTED
    const uint weight = weights[d];
#else
    const uint weight = 1;
#endif
    uint values[QUERIES];
    uint any = 0;
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
      values[q] = first + q < count ? queries[(size_t)(first + q) * DIMS + d] : 0;
      sum[q] += weight * values[q];
      any |= values[q];
    }
    if (any == 0 || weight == 0) continue;
    global uint* row = plan + HEADER + atomic_inc(&rows) * ROW;
    row[0] = d;
    row[1] = weight;
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
      row[2 + 2 * q] = NUMERATOR(values[q]);
      row[3 + 2 * q] = OFFSET(values[q]);
    }
  }
#endif
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) atomic_add(&sums[q], sum[q]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) plan[0] = rows;
#ifdef VECTOR8
  if (item < QUERIES) plan[1 + item] = sums[item];
#else
  if (item < QUERIES) plan[1 + item] = 0 - 12 * sums[item];
#endif
}

#ifdef VECTOR8
inline uint dot4(uint values, uint weights, uint sum) {
#if defined(DOT_PTX)
  uint result;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(values), "r"(weights), "r"(sum));
  return result;
#elif defined(DOT_KHR)
  return sum + as_uint(dot_4x8packed_ss_int(values, weights));
#else
  const int4 products = convert_int4(as_char4(values)) * convert_int4(as_char4(weights));
  return sum + as_uint(products.x + products.y + products.z + products.w);
#endif
}
#endif

// A group for each block, and for each plan in the second dimension. `sums`: as TemplateSet has them. `keys` are
// [query][key_stride], which has room for whole blocks; a place without a template gets the highest key.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void distances(
    global const uchar* restrict blocks, global const uint* restrict sums, uint size,
    global const uint* restrict plans, int count, global ulong* restrict keys, uint key_stride) {
  const uint lane = get_local_id(0) % LANES;
  const uint slice = get_local_id(0) / LANES;
  const size_t block = get_group_id(0);
  global const uint* plan = plans + (size_t)get_group_id(1) * PLAN;
  const uint rows = plan[0];
  uint sum[QUERIES][4];
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[q][j] = 0;
  }

#ifdef VECTOR8
  global const uint4* at = (global const uint4*)blocks + block * WORDS * LANES + lane;
#pragma unroll UNROLL
  for (uint i = slice; i < rows; i += SLICES) {
    const uint4 four = at[i * LANES];
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
      const uint word = plan[HEADER + i * ROW + q];
      sum[q][0] = dot4(four.x, word, sum[q][0]);
      sum[q][1] = dot4(four.y, word, sum[q][1]);
      sum[q][2] = dot4(four.z, word, sum[q][2]);
      sum[q][3] = dot4(four.w, word, sum[q][3]);
    }
  }
#else
#ifdef COUNTS8
  global const uint* at = (global const uint*)blocks + block * WORDS * LANES + lane;
#else
  global const ushort4* at = (global const ushort4*)blocks + block * WORDS * LANES + lane;
#endif
  uint weights = 0;
#pragma unroll UNROLL
  for (uint i = slice; i < rows; i += SLICES) {
    global const uint* row = plan + HEADER + i * ROW;
    const uint weight = row[1];
    weights += weight;
#ifdef COUNTS8
    const uint four = at[row[0] * LANES];
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
#pragma unroll
      for (uint j = 0; j < 4; ++j) sum[q][j] += weight * rest(row[2 + 2 * q], row[3 + 2 * q], four, j);
    }
#else
    const ushort4 four = at[row[0] * LANES];
#pragma unroll
    for (int q = 0; q < QUERIES; ++q) {
      sum[q][0] += weight * rest(row[2 + 2 * q], row[3 + 2 * q], four.x);
      sum[q][1] += weight * rest(row[2 + 2 * q], row[3 + 2 * q], four.y);
      sum[q][2] += weight * rest(row[2 + 2 * q], row[3 + 2 * q], four.z);
      sum[q][3] += weight * rest(row[2 + 2 * q], row[3 + 2 * q], four.w);
    }
#endif
  }
#endif

  local uint parts[SLICES][QUERIES * BLOCK];
#pragma unroll
  for (int q = 0; q < QUERIES; ++q) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#ifdef VECTOR8
      parts[slice][q * BLOCK + lane * 4 + j] = sum[q][j];
#else
      parts[slice][q * BLOCK + lane * 4 + j] = sum[q][j] - weights * ROUND_BITS;
#endif
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < QUERIES * BLOCK; i += ITEMS) {
    const int query = get_group_id(1) * QUERIES + i / BLOCK;
    if (query >= count) break;
    uint rests = 0;
#pragma unroll
    for (int s = 0; s < SLICES; ++s) rests += parts[s][i];
    const uint index = (uint)block * BLOCK + i % BLOCK;
    const uint constant_part = plan[1 + i / BLOCK];
#ifdef VECTOR8
    const uint distance = sums[index] + constant_part - 2 * rests;
#else
    const uint distance = 4 * sums[index] + constant_part + rests;
#endif
    keys[(size_t)query * key_stride + index] = index < size ? ((ulong)distance << 32) | index : ULONG_MAX;
  }
}

// Selects the k lowest of each group's CHUNK of the `count` keys of each query (second dimension). Writes k
// sorted keys per group to `to` [query][to_stride].
kernel __attribute__((reqd_work_group_size(SELECT_ITEMS, 1, 1))) void select_nearest(
    global const ulong* restrict from, uint from_stride, uint count, global ulong* restrict to, uint to_stride,
    uint k) {
  local ulong keys[CHUNK];
  const uint item = get_local_id(0);
  const uint begin = get_group_id(0) * CHUNK;
  from += (size_t)get_group_id(1) * from_stride;
  for (uint i = item; i < CHUNK; i += SELECT_ITEMS) keys[i] = begin + i < count ? from[begin + i] : ULONG_MAX;
  barrier(CLK_LOCAL_MEM_FENCE);
  // Bitonic sorting: K. Batcher, Sorting networks and their applications, 1968.
  for (uint size = 2; size <= CHUNK; size *= 2) {
    for (uint apart = size / 2; apart > 0; apart /= 2) {
      for (uint pair = item; pair < CHUNK / 2; pair += SELECT_ITEMS) {
        const uint a = 2 * pair - (pair & (apart - 1));
        const uint b = a + apart;
        const bool rising = (a & size) == 0;
        const ulong x = keys[a], y = keys[b];
        if ((x > y) == rising) {
          keys[a] = y;
          keys[b] = x;
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  to += (size_t)get_group_id(1) * to_stride + get_group_id(0) * k;
  for (uint i = item; i < k; i += SELECT_ITEMS) to[i] = keys[i];
}
