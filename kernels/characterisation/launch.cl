// Measures the cost of a launch.

kernel void nothing(int unused) {}
