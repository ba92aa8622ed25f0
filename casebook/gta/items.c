#include "items.h"

#include <stdio.h>
#include <stdlib.h>

/* More than any item takes: the longest is 113 bytes with the separator before it. */
#define ITEM_BYTES 128

static void *get(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        perror("gta: malloc");
        exit(2);
    }
    return memory;
}

char *text_of_items(long count, long repeated)
{
    char *text = get(count * ITEM_BYTES + 3), *end = text;
    *end++ = '[';
    for (long number = 0; number < count; number++) {
        long which = repeated != 0 && number % repeated == repeated - 1 ? 0 : number;
        /* Odd factors: hashes and prices that look like any, and hashes that never meet. */
        unsigned hash = (unsigned)which * 2654435761u;
        long price = 100 + which * 7919 % 99991;
        end += sprintf(end, "%s{\"name\": \"WP_WCT_TINT_%06ld\", \"category\": \"CATEGORY_WEAPON_%03ld\", ",
                       number == 0 ? "" : ", ", which % 1000000, which % 1000);
        end += sprintf(end, "\"price\": %ld, \"hash\": %u}", price, hash);
    }
    *end++ = ']';
    *end = '\0';
    return text;
}

unsigned long checksum(struct item *const *items, long count)
{
    unsigned long sum = 0;
    for (long i = 0; i < count; i++) {
        const struct item *item = items[i];
        sum = sum * 31 + item->hash + (unsigned long)item->price;
        sum += (unsigned char)item->name[17] + (unsigned char)item->category[18];
    }
    return sum;
}

struct item *keep(const struct item *item)
{
    struct item *kept = get(sizeof *kept);
    *kept = *item;
    return kept;
}

struct item **room_for(long count)
{
    return get(count * sizeof(struct item *));
}
