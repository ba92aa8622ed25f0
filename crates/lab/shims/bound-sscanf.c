/* Lets sscanf look at no more of a string than its conversions need: libc's first measures the whole rest of it.
 *
 * Strings below a few KiB are passed on. A longer one is read through a stream of our own that hands out a piece at a
 * time, by the scanf of streams, which is the same inside: the conversions, %n and the result are what they were.
 * Changed counts strings read so. strlen itself is not reached, nor what libc parses within itself. */
#include "raw.h"
#include <stdarg.h>
#include <stdio.h>

/* Below this a string is measured faster than a stream is made. */
#define SHORT 1024
/* What is handed out at a time: more than most tokens. */
#define PIECE 256

typedef int (*scan_string)(const char *, const char *, va_list);
typedef int (*scan_stream)(FILE *, const char *, va_list);
typedef FILE *(*open_cookie)(void *, const char *, cookie_io_functions_t);
typedef void (*empty_stream)(FILE *);

/* A stream over a string, with its buffer. */
struct source {
	FILE *stream;
	const char *rest;
	char buffer[PIECE];
};

/* Making a stream takes longer than most scans: one is kept for the next. Whoever finds it taken, by another thread or by
 * one that was cancelled within, makes one for himself. */
static struct source kept_source;
static int is_taken;

__attribute__((constructor)) static void begin(void)
{
	shim_begin("bound-sscanf");
}

static ssize_t hand_out(void *cookie, char *bytes, size_t size)
{
	struct source *source = cookie;
	char *end = memccpy(bytes, source->rest, 0, size);
	size_t length = end ? (size_t)(end - bytes) - 1 : size;
	source->rest += length;
	return length;
}

static FILE *open_source(struct source *source)
{
	static open_cookie open_stream;
	if (!open_stream && !(open_stream = (open_cookie)shim_next("fopencookie")))
		return 0;
	source->stream = open_stream(source, "r", (cookie_io_functions_t){ .read = hand_out });
	if (source->stream)
		setvbuf(source->stream, source->buffer, _IOFBF, sizeof(source->buffer));
	return source->stream;
}

/* The source that is kept; null where it is taken, or cannot be emptied again. */
static struct source *take_kept(void)
{
	static empty_stream empty;
	if (!empty && !(empty = (empty_stream)shim_next("__fpurge")))
		return 0;
	if (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
		return 0;
	if (!kept_source.stream && !open_source(&kept_source)) {
		__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
		return 0;
	}
	empty(kept_source.stream);
	clearerr(kept_source.stream);
	return &kept_source;
}

static int scan(const char *text, const char *format, va_list into, scan_string whole, const char *stream_name)
{
	static scan_stream scanners[3]; /* by the family: C89, C99, C23 */
	int family = stream_name[0] != '_' ? 0 : stream_name[6] == '9' ? 1 : 2;
	SEEN();
	if (shim_is_inert || !text || memchr(text, 0, SHORT))
		return whole(text, format, into);
	if (!scanners[family] && !(scanners[family] = (scan_stream)shim_next(stream_name)))
		return whole(text, format, into);
	struct source own, *source;
	int kept_errno = errno;
	if (!(source = take_kept()) && !open_source(source = &own))
		return whole(text, format, into);
	source->rest = text;
	errno = kept_errno;
	int result = scanners[family](source->stream, format, into);
	kept_errno = errno;
	if (source == &own)
		fclose(own.stream);
	else
		__atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
	errno = kept_errno;
	CHANGED();
	return result;
}

#define SCANS(name, with_list, stream_name)                                                              \
	EXPORT int wrapped_##with_list(const char *, const char *, va_list) __asm__(#with_list);         \
	EXPORT int wrapped_##with_list(const char *text, const char *format, va_list into)               \
	{                                                                                                \
		static scan_string whole;                                                                \
		if (!whole && !(whole = (scan_string)shim_next(#with_list)))                             \
			return EOF;                                                                      \
		return scan(text, format, into, whole, stream_name);                                     \
	}                                                                                                \
	EXPORT int wrapped_##name(const char *, const char *, ...) __asm__(#name);                       \
	EXPORT int wrapped_##name(const char *text, const char *format, ...)                             \
	{                                                                                                \
		va_list into;                                                                            \
		va_start(into, format);                                                                  \
		int result = wrapped_##with_list(text, format, into);                                    \
		va_end(into);                                                                            \
		return result;                                                                           \
	}

SCANS(sscanf, vsscanf, "vfscanf")
SCANS(__isoc99_sscanf, __isoc99_vsscanf, "__isoc99_vfscanf")
SCANS(__isoc23_sscanf, __isoc23_vsscanf, "__isoc23_vfscanf")
