/* Fetches one address again and again over HTTPS through libcurl, and says what each request took.
 *
 * Usage: curl-test [--fresh|--reuse] [--cacert FILE] REQUESTS URL
 *
 *   --fresh        a handle, and so a TLS context, for each request (the default)
 *   --reuse        one handle for all requests; each still makes a connection of its own
 *   --cacert FILE  the certificates to trust, in the place of those that libcurl was built with
 *
 * Peers are always verified. A line for each request, times in milliseconds:
 *
 *   pretransfer_ms=26.113 total_ms=26.481 cpu_ms=25.902
 *
 * `pretransfer` ends when the request could be sent (libcurl's own clock), `total` when the answer was there, and `cpu`
 * is the CPU time of the whole process since the request before. The last line sums up, as medians. The exit
 * status is 0, 1 where a request failed, and 2 where the command is wrong.
 */

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WRONG_COMMAND = 2, MOST_REQUESTS = 1000000 };

struct command {
    int reuses;
    const char *authorities;
    long requests;
    const char *url;
};

struct times {
    double *pretransfer, *total, *cpu;
};

static int usage(const char *problem, const char *word) {
    fprintf(stderr, "curl-test: %s%s\n", problem, word);
    fprintf(stderr, "Usage: curl-test [--fresh|--reuse] [--cacert FILE] REQUESTS URL\n");
    return WRONG_COMMAND;
}

static int read_count(const char *word, long *count) {
    char *end;
    errno = 0;
    *count = strtol(word, &end, 10);
    return errno == 0 && end != word && *end == '\0' && *count >= 1 && *count <= MOST_REQUESTS;
}

/* 0 where the command is understood, else the status to end with. */
static int read_command(int words, char **word, struct command *command) {
    int at = 1;
    for (; at < words && strncmp(word[at], "--", 2) == 0; at++) {
        if (strcmp(word[at], "--fresh") == 0) command->reuses = 0;
        else if (strcmp(word[at], "--reuse") == 0) command->reuses = 1;
        else if (strcmp(word[at], "--cacert") == 0 && at + 1 < words) command->authorities = word[++at];
        else if (strcmp(word[at], "--cacert") == 0) return usage("a file is missing after ", word[at]);
        else return usage("there is no option ", word[at]);
    }
    if (words - at != 2) return usage("a number of requests and a URL are needed, and nothing else", "");
    if (!read_count(word[at], &command->requests)) return usage("no number of requests, from 1 to 1000000: ", word[at]);
    command->url = word[at + 1];
    return 0;
}

static size_t discard(char *bytes, size_t size, size_t count, void *own) {
    (void)bytes;
    (void)own;
    return size * count;
}

static double cpu_ms(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1e3 + used.tv_nsec / 1e6;
}

static CURL *new_handle(const struct command *command) {
    CURL *handle = curl_easy_init();
    if (!handle) return NULL;
    curl_easy_setopt(handle, CURLOPT_URL, command->url);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    /* A proxy of the environment would be another program's time. */
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    if (command->authorities) {
        curl_easy_setopt(handle, CURLOPT_CAINFO, command->authorities);
        /* And nothing else: with GnuTLS, libcurl would read the distribution's folder besides. */
        curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
    }
    /* One handle for all still makes a connection for each: only what is not the network's is shared. */
    if (command->reuses) curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
    return handle;
}

/* 0 where all went well. */
static int fetch(CURL *handle, long request, struct times *times) {
    char why[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
    CURLcode result = curl_easy_perform(handle); /* casebook: the bundle for each handle */
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, NULL);
    if (result != CURLE_OK) {
        const char *said = why[0] ? why : curl_easy_strerror(result);
        fprintf(stderr, "curl-test: request %ld: %s (libcurl's error %d)\n", request + 1, said, (int)result);
        return 1;
    }
    double pretransfer = 0, total = 0;
    curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME, &pretransfer);
    curl_easy_getinfo(handle, CURLINFO_TOTAL_TIME, &total);
    times->pretransfer[request] = pretransfer * 1e3;
    times->total[request] = total * 1e3;
    return 0;
}

/* How many requests were done: fewer than asked for where one failed. */
static long fetch_all(const struct command *command, struct times *times) {
    CURL *handle = NULL;
    double before = cpu_ms();
    long done = 0;
    while (done < command->requests) {
        if (!handle) handle = new_handle(command);
        if (!handle || fetch(handle, done, times)) break;
        if (!command->reuses) {
            curl_easy_cleanup(handle);
            handle = NULL;
        }
        double now = cpu_ms();
        times->cpu[done] = now - before;
        before = now;
        printf("pretransfer_ms=%.3f total_ms=%.3f cpu_ms=%.3f\n", times->pretransfer[done], times->total[done],
               times->cpu[done]);
        done++;
    }
    if (handle) curl_easy_cleanup(handle);
    return done;
}

static int in_order(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double median(double *values, long count) {
    qsort(values, count, sizeof *values, in_order);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

int main(int words, char **word) {
    struct command command = {0};
    int wrong = read_command(words, word, &command);
    if (wrong) return wrong;
    struct times times = {calloc(command.requests, sizeof(double)), calloc(command.requests, sizeof(double)),
                          calloc(command.requests, sizeof(double))};
    if (!times.pretransfer || !times.total || !times.cpu || curl_global_init(CURL_GLOBAL_DEFAULT)) {
        fprintf(stderr, "curl-test: there is no memory, or libcurl does not start\n");
        return 1;
    }
    long done = fetch_all(&command, &times);
    /* No versions here: runs in two worlds are to print the same but for their figures. */
    if (done == command.requests) {
        printf("%ld requests, medians: %.3f ms before the transfer, %.3f ms in all, %.3f ms of CPU\n", done,
               median(times.pretransfer, done), median(times.total, done), median(times.cpu, done));
    }
    curl_global_cleanup();
    free(times.pretransfer);
    free(times.total);
    free(times.cpu);
    return done == command.requests ? 0 : 1;
}
