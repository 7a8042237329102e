#pragma once
/// Measured peak throughput of this CPU: the yardstick for the kernels.

namespace sightline::characterisation {

/// Float multiply-adds a second of one thread, in the instruction set that the kernels use: chains of
/// independent fused multiply-adds in registers. Best of several short runs, about 50 ms in all.
double peak_multiply_adds();
/// The same of all threads of the calling TBB arena together; 0.2 s.
double peak_multiply_adds_of_all();

/// The same for 8-bit multiply-adds by the four-element dot product; 0 if the processor has none.
double peak_dot_products();

/// The work behind them, to be timed on several threads at once: multiply-adds of each kind of number in
/// chains, in registers; reads of an array of 8 KiB.
enum class PeakWork { float_numbers, double_numbers, whole_numbers, bytes, cached_reads };
/// Runs `rounds` rounds on this thread. Returns multiply-adds done, or bytes read; 0 if the processor has no
/// such instruction.
/// @param sink  two floats, the second 0; the first depends on the results afterwards
double run_peak(PeakWork work, int rounds, float* sink);

}  // namespace sightline::characterisation
