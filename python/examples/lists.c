/* List scheduling without any library: FIFO or shortest job first, strict or skipping.
 *
 *     cc -O2 -o lists lists.c && ./lists fifo|sjf strict|skip
 *
 * lists.py, lists.js and lists.rs are the same program. The reader below goes through a
 * line from left to right and knows no more of JSON than it needs: objects, lists,
 * texts and numbers, and to pass over the rest. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *at; /* what is read next */

static int next(char c) { /* passes over c if it is next */
	if (*at != c) return 0;
	at++;
	return 1;
}

static void skip_text(void) { /* at the opening quote */
	for (at++; *at != '"'; at++)
		if (*at == '\\') at++;
	at++;
}

static void skip(void) { /* passes over any value */
	int depth = 0;
	do {
		if (*at == '"') {
			skip_text();
			continue;
		}
		if (*at == '{' || *at == '[') depth++;
		if (*at == '}' || *at == ']') depth--;
		at++;
	} while (depth > 0 || (*at != ',' && *at != '}' && *at != ']'));
}

/* Reads the next key of an object, at its { or at what follows a value: 0 at its end. */
static int key(char *name, size_t size) {
	if (!next('{') && !next(',')) return next('}'), 0;
	if (next('}')) return 0;
	const char *from = at + 1;
	skip_text();
	size_t n = (size_t)(at - 1 - from);
	if (n >= size) n = size - 1;
	memcpy(name, from, n);
	name[n] = 0;
	next(':');
	return 1;
}

/* Goes to the next element of a list, at its [ or at what follows a value: 0 at its end. */
static int element(void) {
	if (!next('[') && !next(',')) return next(']'), 0;
	return !next(']');
}

static long long number(void) {
	char *end;
	long long n = strtoll(at, &end, 10);
	at = end;
	return n;
}

struct job { long long key, number, gpus; };

static struct job *waiting; /* in the order in which they are served */
static size_t jobs, room;
static long long idle, *free_on; /* GPUs: in all, and by server */

static int before(const void *a, const void *b) {
	const struct job *x = a, *y = b;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void arrive(int shortest) {
	struct job j = {0, 0, 0};
	char name[16];
	while (key(name, sizeof name)) {
		if (!strcmp(name, "job")) j.number = number();
		else if (!strcmp(name, "gpus")) j.gpus = number();
		else if (!strcmp(name, "duration") && shortest) j.key = number();
		else skip();
	}
	if (jobs == room) waiting = realloc(waiting, (room = 2 * room + 16) * sizeof *waiting);
	if (!waiting) abort();
	waiting[jobs++] = j;
}

int main(int argc, char **argv) {
	if (argc != 3) return fprintf(stderr, "usage: lists fifo|sjf strict|skip\n"), 2;
	int shortest = !strcmp(argv[1], "sjf"), strict = !strcmp(argv[2], "strict");
	char *line = NULL, name[16];
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0) {
		at = line;
		int asked = 0;
		while (key(name, sizeof name)) {
			if (!strcmp(name, "end")) return 0;
			if (!strcmp(name, "now")) asked = 1;
			if (!strcmp(name, "servers")) { /* of hello */
				size_t servers = 0;
				while (element()) number(), servers++;
				free_on = calloc(servers, sizeof *free_on);
				if (!free_on) abort();
			} else if (!strcmp(name, "free")) {
				while (element()) {
					element();
					long long server = number();
					element();
					long long gpus = number();
					element();
					idle += gpus - free_on[server];
					free_on[server] = gpus;
				}
			} else if (!strcmp(name, "arrived")) {
				while (element()) arrive(shortest);
			} else if (strcmp(name, "hello")) { /* whose keys are read as if they were here */
				skip();
			}
		}
		if (!asked) {
			printf("{\"hello\":{\"name\":\"%s-%s\",\"class\":\"N\",\"place\":\"pool\"}}\n", argv[1], argv[2]);
			fflush(stdout);
			continue;
		}
		qsort(waiting, jobs, sizeof *waiting, before);
		long long rest = idle;
		size_t left = 0, started = 0;
		printf("{\"start\":[");
		for (size_t i = 0; i < jobs; i++) {
			struct job j = waiting[i];
			if (j.gpus <= rest && !(left > 0 && strict)) {
				rest -= j.gpus;
				printf("%s[%lld]", started++ ? "," : "", j.number);
			} else {
				waiting[left++] = j;
			}
		}
		jobs = left;
		printf("]}\n");
		fflush(stdout);
	}
	return 0;
}
