/* Switches functions off in the program's own image: each returns 0 at once, and how often it was called is counted.
 *
 * Its parameter is a word for each function, ADDRESS:BYTES in hexadecimal: where the file's headers put its first
 * instruction, and the bytes that are there. It is done once, before the program's first instruction, in whatever image has those
 * bytes at that place: a program that only has the same name is left alone. Seen counts functions found, changed
 * calls to them. Libraries that are loaded later are not reached. x86-64 only; elsewhere nothing is found. */
#include "shim.h"
#include <link.h>

/* Bytes of a function that have to match. */
#define KNOWN_BYTES 16

struct function {
	uintptr_t address;
	unsigned char bytes[KNOWN_BYTES];
};

#if defined(__x86_64__)
/* movabs $counter, %rax; lock incq (%rax); xor %eax, %eax; xorps %xmm0, %xmm0; ret. Whatever %rax held at the entry
 * of a function is nobody's (but for the number of vector arguments of a variadic one, which is not asked again). */
static const unsigned char stub[] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x48, 0xff, 0x00,
				      0x31, 0xc0, 0x0f, 0x57, 0xc0, 0xc3 };
#define COUNTER_AT 2

static void switch_off(unsigned char *code, int protection)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	unsigned char *first = (unsigned char *)((uintptr_t)code & ~(page - 1));
	size_t length = code + sizeof(stub) - first;
	uint64_t *counter = &shim_counts->changed;
	if (mprotect(first, length, PROT_READ | PROT_WRITE))
		return;
	memcpy(code, stub, sizeof(stub));
	memcpy(code + COUNTER_AT, &counter, sizeof(counter));
	mprotect(first, length, protection);
	SEEN();
}
#else
static const unsigned char stub[1];
static void switch_off(unsigned char *code, int protection)
{
}
#endif

static int protection_of(const ElfW(Phdr) *segment)
{
	return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC;
}

/* Looks for one function in one image. */
static int look(struct dl_phdr_info *image, size_t size, void *wanted)
{
	const struct function *function = wanted;
	for (int i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || function->address < segment->p_vaddr ||
		    function->address + sizeof(stub) > segment->p_vaddr + segment->p_filesz)
			continue;
		unsigned char *code = (unsigned char *)(image->dlpi_addr + function->address);
		if (!memcmp(code, function->bytes, KNOWN_BYTES))
			switch_off(code, protection_of(segment));
	}
	return 0;
}

static int digit(char letter)
{
	return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Reads a word; null where it is none, else what follows it. */
static const char *read_word(const char *at, struct function *function)
{
	const char *first = at;
	function->address = 0;
	for (; digit(*at) >= 0; at++)
		function->address = function->address * 16 + digit(*at);
	if (at == first || *at++ != ':')
		return 0;
	for (int i = 0; i < KNOWN_BYTES; i++, at += 2) {
		if (digit(at[0]) < 0 || digit(at[1]) < 0)
			return 0;
		function->bytes[i] = digit(at[0]) * 16 + digit(at[1]);
	}
	return *at == ' ' ? at + 1 : *at ? 0 : at;
}

__attribute__((constructor)) static void begin(void)
{
	struct function function;
	shim_begin("switch-off");
	if (shim_is_inert)
		return;
	for (const char *at = shim_parameter; at && *at;)
		if ((at = read_word(at, &function)))
			dl_iterate_phdr(look, &function);
}
