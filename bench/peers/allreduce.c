/* SPDX-License-Identifier: MIT
 *
 * MPI_Allreduce of doubles in place, as a peer of r.allReduce (bench/replicas.lua).
 *   mpicc -O2 allreduce.c && mpirun -np 2 ./a.out ELEMENTS REPEATS
 * Prints the shortest and the mean time of one in seconds, each of the process where it is longest,
 * and the sum's first element. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  int count = atoi(argv[1]), repeats = atoi(argv[2]), rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *values = malloc((size_t)count * sizeof *values), best = 1e9, sum = 0;
  if (values == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int n = -5; n < repeats; n++) {
    for (int i = 0; i < count; i++) values[i] = rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double taken = MPI_Wtime() - begun;
    if (n < 0) continue; /* the first ones get going */
    best = taken < best ? taken : best;
    sum += taken;
  }
  double times[] = {best, sum / repeats}, longest[2];
  MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.9g %.9g %.17g\n", longest[0], longest[1], values[0]);
  free(values);
  MPI_Finalize();
  return 0;
}
