/* Compresses at the lowest level: zlib, zstd and brotli are asked for level 1 where a program asks for a higher one or for
 * none. Who asks for no compression (zlib's level 0, zstd's negative ones) gets none. Seen counts settings of a level,
 * Changed those that were lowered. Not reached: libraries linked into a program, and zstd where nobody sets a level. */
#include "shim.h"

#define LOWEST 1
/* Z_STREAM_ERROR, for a library that is not there. */
#define ZLIB_FAILS (-2)

/* Declares `real`, the library's function of that name; null where it has none. */
#define OF_LIBRARY(name) REAL(__typeof__(&name), #name)

__attribute__((constructor)) static void begin(void)
{
	shim_begin("fast-compression");
}

/* `usual` is what the library makes of a level that asks for its default. */
static int lowest(int level, int usual)
{
	int meant = level == usual ? LOWEST + 1 : level;
	SEEN();
	if (shim_is_inert || meant <= LOWEST)
		return level;
	CHANGED();
	return LOWEST;
}

/* zlib: levels 0 to 9, -1 is the default, 6. Its own compress, compress2 and gzopen come through these, too. */

EXPORT int deflateInit_(void *stream, int level, const char *version, int size)
{
	OF_LIBRARY(deflateInit_);
	return real ? real(stream, lowest(level, -1), version, size) : ZLIB_FAILS;
}

EXPORT int deflateInit2_(void *stream, int level, int method, int window, int memory, int strategy, const char *version,
			 int size)
{
	OF_LIBRARY(deflateInit2_);
	return real ? real(stream, lowest(level, -1), method, window, memory, strategy, version, size) : ZLIB_FAILS;
}

EXPORT int deflateParams(void *stream, int level, int strategy)
{
	OF_LIBRARY(deflateParams);
	return real ? real(stream, lowest(level, -1), strategy) : ZLIB_FAILS;
}

/* zstd: levels up to 22, 0 is the default, 3. */

enum { ZSTD_LEVEL = 100 }; /* ZSTD_c_compressionLevel */

EXPORT size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value)
{
	OF_LIBRARY(ZSTD_CCtx_setParameter);
	if (parameter == ZSTD_LEVEL)
		value = lowest(value, 0);
	return real ? real(context, parameter, value) : (size_t)-1;
}

EXPORT size_t ZSTD_initCStream(void *stream, int level)
{
	OF_LIBRARY(ZSTD_initCStream);
	return real ? real(stream, lowest(level, 0)) : (size_t)-1;
}

EXPORT size_t ZSTD_compress(void *to, size_t room, const void *from, size_t size, int level)
{
	OF_LIBRARY(ZSTD_compress);
	return real ? real(to, room, from, size, lowest(level, 0)) : (size_t)-1;
}

EXPORT size_t ZSTD_compressCCtx(void *context, void *to, size_t room, const void *from, size_t size, int level)
{
	OF_LIBRARY(ZSTD_compressCCtx);
	return real ? real(context, to, room, from, size, lowest(level, 0)) : (size_t)-1;
}

/* brotli: qualities 0 to 11, the default is 11 and needs no call. */

enum { BROTLI_QUALITY = 1 }; /* BROTLI_PARAM_QUALITY */

EXPORT int BrotliEncoderSetParameter(void *state, int parameter, uint32_t value)
{
	OF_LIBRARY(BrotliEncoderSetParameter);
	if (parameter == BROTLI_QUALITY)
		value = lowest(value, -1);
	return real ? real(state, parameter, value) : 0;
}

EXPORT void *BrotliEncoderCreateInstance(void *allocate, void *release, void *about)
{
	OF_LIBRARY(BrotliEncoderCreateInstance);
	void *state = real ? real(allocate, release, about) : 0;
	if (state && !shim_is_inert)
		BrotliEncoderSetParameter(state, BROTLI_QUALITY, 11);
	return state;
}

EXPORT int BrotliEncoderCompress(int quality, int window, int mode, size_t size, const uint8_t *from, size_t *room, uint8_t *to)
{
	OF_LIBRARY(BrotliEncoderCompress);
	return real ? real(lowest(quality, -1), window, mode, size, from, room, to) : 0;
}
