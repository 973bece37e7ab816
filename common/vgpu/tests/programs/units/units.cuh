// Shared by the two units of units.cu.
#pragma once

#include "vgpu/tests/check.cuh"

extern __device__ int counter;
extern __constant__ int table[4];
extern __device__ int (*operation)(int);
__device__ int cube(int x);
__device__ int shared_sum(int x);

void fill_table();
void run_second(int *out, int n);
int read_counter();
