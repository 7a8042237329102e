#pragma once
/// Benchmarks of a device, one function per group of quantities. Each adds complete curves and figures to the
/// device's characteristics and checks the results of the timed kernels. All throw DeviceError, and Error
/// (failed) for a wrong result.
///
/// Ids are the same on all devices, and the CPU's own benchmarks (host_benchmarks.hpp) use them where they
/// measure the same.

#include "characterisation/session.hpp"

namespace sightline::characterisation {

/// Curves `transfer.{pageable,pinned,mapped}.{up,down}`: GB/s over bytes; the host's clock.
void measure_transfers(DeviceSession& session, Characteristics& result);
/// Curves `copy.group.{float,float4}`, `shift.SIZE`, `stride.SIZE` with two sizes of work-groups, and
/// `read.width`: GB/s over global memory.
void measure_access(DeviceSession& session, Characteristics& result);
/// Curve `latency.global` (ns over bytes), and the levels of caches.
void measure_latency(DeviceSession& session, Characteristics& result);
/// Curve `latency.local` (ns over strides) and `banks.two`, `banks.sub_group` (ns a read over offsets, in
/// words).
void measure_local_memory(DeviceSession& session, Characteristics& result);
/// Figures `latency.{int,float}.{add,subtract,multiply,divide}`: ns an operation of one work-item.
void measure_operations(DeviceSession& session, Characteristics& result);
/// Figures `peak.{float,int,half,double,dot}`: multiply-adds a second; those that the device has.
void measure_peaks(DeviceSession& session, Characteristics& result);
/// Curves `parallel.group` (time of a work-group over its work-items) and `parallel.groups` (time of a launch
/// over its work-groups), and figures `parallel.group.knee`, `parallel.groups.knee`.
void measure_parallelism(DeviceSession& session, Characteristics& result);
/// Figures `cached.{global,local,constant}`: GB/s of reads that hit.
void measure_cached_reads(DeviceSession& session, Characteristics& result);
/// Figures `codes.{buffer,image}`: codes of 3x3 pixels a second, read from a buffer and from an image object.
/// Throws DeviceError behind the first where the device has no images.
void measure_images(DeviceSession& session, Characteristics& result);
/// Curves `atomics.{global,local}`: additions a second over counters.
void measure_atomics(DeviceSession& session, Characteristics& result);
/// Curve `divergence`: time over the ways that neighbours go, as a multiple of that of one way.
void measure_divergence(DeviceSession& session, Characteristics& result);
/// Figures `launch.latency`, `launch.interval`, `launch.event` (the host's clock), `sub_group`.
void measure_launches(DeviceSession& session, Characteristics& result);

// Quantities that the probe measures as well.

/// Transfer method between ordinary host memory and a device. `pinned`: StagingBuffer's memory, already
/// filled; `mapped`: mapped, copied by the host, unmapped.
enum class Way { pageable_up, pageable_down, pinned_up, pinned_down, mapped_up, mapped_down };
/// Host seconds. @param bytes  a multiple of 4
Spread time_transfer(DeviceSession& session, Way way, std::size_t bytes);

enum class Number { float_number, whole_number, half_number, double_number, bytes };
/// True if the device computes with these numbers. `bytes`: with a four-element dot product instruction.
bool has_numbers(const opencl::DeviceInfo& device, Number number);
/// Multiply-adds a second, in units of 10^9.
Spread peak_rate(DeviceSession& session, Number number);

/// From enqueueing an empty kernel until the host sees it done; host seconds.
Spread time_launch(DeviceSession& session);
/// Between empty kernels in a row; host seconds each.
Spread time_launch_interval(DeviceSession& session);

/// GB/s read and written by a copy in vectors of `width` words (1 or 4). @param words  of each array
/// @param group  work-items; 0: as opencl::NDRange says
Spread copy_rate(DeviceSession& session, const opencl::Buffer& from, const opencl::Buffer& to,
                 std::size_t words, int width, std::size_t group);
/// Words of arrays that are far larger than caches, and that the device has room for.
std::size_t large_array_words(const DeviceSession& session);
/// A buffer of `words` words, each its own index.
opencl::Buffer numbered_words(DeviceSession& session, std::size_t words);

}  // namespace sightline::characterisation
