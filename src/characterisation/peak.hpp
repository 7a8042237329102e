#pragma once
/// What this processor can do at most, measured: the yardstick for the kernels.

namespace sightline::characterisation {

/// Float multiply-adds a second of one thread, in the instruction set that the kernels use: chains of
/// independent fused multiply-adds in registers. Best of several short runs, about 50 ms in all.
double peak_multiply_adds();

/// The same for 8-bit multiply-adds by the four-element dot product; 0 where the processor has none.
double peak_dot_products();

}  // namespace sightline::characterisation
