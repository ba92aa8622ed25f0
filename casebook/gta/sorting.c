/* Sorts as many hashes as a shop has items: n log n comparisons. Usage: sorting ITEMS */
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    unsigned *hashes = malloc(count * sizeof *hashes), sum = 0;
    if (hashes == NULL) {
        perror("sorting: malloc");
        return 2;
    }
    /* An odd factor: hashes in no order, none of them twice. */
    for (long i = 0; i < count; i++)
        hashes[i] = (unsigned)i * 2654435761u ^ 0x5bd1e995u;
    qsort(hashes, count, sizeof *hashes, by_value);
    for (long i = 0; i < count; i++)
        sum = sum * 31 + hashes[i];
    printf("%ld items, checksum %u\n", count, sum);
    return 0;
}
