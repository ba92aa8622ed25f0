/* Hands out random bytes from a stock that the kernel fills 4 kB at a time: getrandom and getentropy for a few bytes.
 *
 * Changed counts requests served from the stock. The stock is a page that the kernel empties in a child (MADV_WIPEONFORK), so
 * that no two processes get the same bytes, and what was handed out is erased. Where it cannot be had, or another thread is at
 * it, the kernel is asked as before. */
#include "raw.h"
#include "wrap.h"

#define STOCK 4096
#define FEW 256
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct stock {
	uint32_t left; /* bytes at the end that were not handed out yet; none in a child */
	unsigned char bytes[STOCK];
};

static struct stock *stock;
static int is_taken;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("buffered-entropy");
	if (shim_is_inert)
		return;
	void *page = mmap(0, sizeof(struct stock), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED && !raw_call(SYS_madvise, (long)page, sizeof(struct stock), MADV_WIPEONFORK, 0, 0, 0))
		stock = page;
}

/* Fills the buffer from the stock; 0 where that cannot be done. */
static int serve(unsigned char *to, size_t size)
{
	if (!stock || !size || size > FEW || __atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
		return 0;
	int is_full = 1;
	if (stock->left < size)
		is_full = raw_call(SYS_getrandom, (long)stock->bytes, STOCK, 0, 0, 0, 0) == STOCK;
	if (is_full) {
		if (stock->left < size)
			stock->left = STOCK;
		unsigned char *from = stock->bytes + STOCK - stock->left;
		for (size_t i = 0; i < size; i++) {
			to[i] = from[i];
			from[i] = 0;
		}
		stock->left -= size;
		CHANGED();
	}
	__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
	return is_full;
}

WRAP(ssize_t, getrandom, (void *to, size_t size, unsigned flags))
{
	NEXT(getrandom);
	SEEN();
	return serve(to, size) ? (ssize_t)size : real(to, size, flags);
}

WRAP(int, getentropy, (void *to, size_t size))
{
	NEXT(getentropy);
	SEEN();
	return serve(to, size) ? 0 : real(to, size);
}
