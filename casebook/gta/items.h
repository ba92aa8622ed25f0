/* The items of a shop, as text and as they are kept once read. */
#ifndef ITEMS_H
#define ITEMS_H

struct item {
    char name[32];
    char category[32];
    long price;
    unsigned hash;
};

/* A JSON list of `count` items, made in memory in one pass, always the same; no two items are alike, but every
 * `repeated`th is the first one again where that is not 0. Ends the program where there is no memory. */
char *text_of_items(long count, long repeated);

/* A number that every item, and their order, has a share in. */
unsigned long checksum(struct item *const *items, long count);

/* The item, copied to where it stays. Ends the program where there is no memory. */
struct item *keep(const struct item *item);

/* Room for `count` items that are kept. Ends the program where there is none. */
struct item **room_for(long count);

#endif
