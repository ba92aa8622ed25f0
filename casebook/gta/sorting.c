/* Sorts a shop's items by hash: n log n comparisons. Usage: sorting ITEMS */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>

static int by_hash(const void *left, const void *right)
{
    unsigned a = (*(struct item *const *)left)->hash, b = (*(struct item *const *)right)->hash;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    struct item **items = room_for(count);
    for (long i = 0; i < count; i++) {
        /* An odd factor: hashes in no order, none of them twice. */
        struct item item = {.price = i % 1000, .hash = (unsigned)i * 2654435761u ^ 0x5bd1e995u};
        items[i] = keep(&item);
    }
    qsort(items, count, sizeof *items, by_hash);
    printf("%ld items, checksum %lu\n", count, checksum(items, count));
    return 0;
}
