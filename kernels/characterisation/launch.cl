// What a launch costs by itself.

kernel void nothing(int unused) {}
