/* Reads a shop's list of items, and keeps each once. Usage: fixed ITEMS [REPEATED]
 *
 * The cured twin of gta.c: it reads numbers with strtol and names where they stand, and finds an item by its hash. With
 * SEARCHES defined it still looks through all items that it has, as gta.c does. */
#include "items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program: the list is not what we take it for. */
static void refuse(const char *at)
{
    fprintf(stderr, "fixed: not an item: %.20s\n", at);
    exit(2);
}

/* Those of the words that are at hand, and what follows them. */
static const char *pass(const char *at, const char *words)
{
    at += strspn(at, " ");
    size_t length = strlen(words);
    if (strncmp(at, words, length) != 0)
        refuse(at);
    return at + length;
}

static const char *pass_name(const char *at, const char *name)
{
    return pass(pass(pass(pass(at, "\""), name), "\""), ":");
}

static const char *read_number(const char *at, long *into)
{
    char *end;
    *into = strtol(at, &end, 10);
    if (end == at)
        refuse(at);
    return end;
}

static const char *read_string(const char *at, char into[32])
{
    at = pass(at, "\"");
    size_t length = strcspn(at, "\"");
    if (length > 31)
        refuse(at);
    memcpy(into, at, length);
    return pass(at + length, "\"");
}

/* One item between its braces; returns what follows it. */
static const char *read_item(const char *at, struct item *item)
{
    long hash;
    at = read_string(pass_name(pass(at, "{"), "name"), item->name);
    at = read_string(pass_name(pass(at, ","), "category"), item->category);
    at = read_number(pass_name(pass(at, ","), "price"), &item->price);
    at = read_number(pass_name(pass(at, ","), "hash"), &hash);
    item->hash = (unsigned)hash;
    return pass(at, "}");
}

#ifdef SEARCHES
/* Whether the item is there already. A function of its own, as it would be in a file of its own. */
__attribute__((noinline, noipa)) int find_dup(struct item *const *items, long count, const struct item *wanted)
{
    for (long i = 0; i < count; i++)
        if (items[i]->hash == wanted->hash && strcmp(items[i]->name, wanted->name) == 0)
            return 1;
    return 0;
}
#endif

/* Where the item stands in the table, or where there is room for it: at least half of the table is free. */
static long *place_of(long *table, long mask, struct item *const *items, const struct item *wanted)
{
    long at = wanted->hash & mask;
    while (table[at] != 0) {
        const struct item *there = items[table[at] - 1];
        if (there->hash == wanted->hash && strcmp(there->name, wanted->name) == 0)
            break;
        at = (at + 1) & mask;
    }
    return &table[at];
}

static long read_items(const char *at, struct item **items, long *table, long mask)
{
    long count = 0;
    at = pass(at, "[");
    while (*at != ']') {
        struct item item = {0};
        at = read_item(at, &item);
#ifdef SEARCHES
        if (find_dup(items, count, &item)) {
            at += *at == ',';
            continue;
        }
#endif
        long *place = place_of(table, mask, items, &item);
        if (*place == 0) {
            items[count++] = keep(&item);
            *place = count;
        }
        if (*at == ',')
            at = pass(at, ",");
    }
    return count;
}

int main(int argc, char **argv)
{
    long wanted = argc > 1 ? atol(argv[1]) : 1000, size = 16;
    while (size < 2 * wanted)
        size *= 2;
    char *text = text_of_items(wanted, argc > 2 ? atol(argv[2]) : 0);
    struct item **items = room_for(wanted);
    long *table = calloc(size, sizeof *table);
    if (table == NULL) {
        perror("fixed: calloc");
        return 2;
    }
    long count = read_items(text, items, table, size - 1);
    printf("%ld items, checksum %lu\n", count, checksum(items, count));
    return 0;
}
