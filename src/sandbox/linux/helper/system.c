#include "helper.h"

void leave(int code) {
  for (;;) {
    CALL(__NR_exit_group, code, 0, 0, 0);
  }
}

/* The compiler calls it for what is zeroed; it must not be made of a call of itself. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memset(void *start, int value, word size);
void *memset(void *start, int value, word size) {
  for (word at = 0; at < size; at++) {
    ((char *)start)[at] = (char)value;
  }
  return start;
}

word length(const char *text) {
  word count = 0;
  while (text[count] != 0) {
    count++;
  }
  return count;
}

int is_same(const char *a, const char *b) {
  while (*a != 0 && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

word number_in(const char *text) {
  word number = 0;
  word digits = length(text);
  if (digits == 0 || digits > 18) {
    refuse("a number");
  }
  for (; *text != 0; text++) {
    if (*text < '0' || *text > '9') {
      refuse("a number");
    }
    number = number * 10 + (word)(*text - '0');
  }
  return number;
}

static char line[MAX_PATH + 128];

/* One write for the whole line, so that it cannot be torn apart by other output. */
void say(const char *before, const char *middle, const char *after) {
  const char *parts[] = {"cordon: ", before, middle, after, "\n"};
  word used = 0;
  for (int part = 0; part < 5; part++) {
    for (const char *from = parts[part]; *from != 0 && used < sizeof line; from++) {
      line[used++] = *from;
    }
  }
  CALL(__NR_write, 2, line, used, 0);
}

void refuse(const char *step) {
  say("the sandbox could not be set up, nothing was run (", step, ")");
  leave(EXIT_SETUP);
}

void write_number(char *to, long number) {
  word size = 1;
  for (long rest = number; rest >= 10; rest /= 10) {
    size++;
  }
  to[size] = 0;
  while (size > 0) {
    to[--size] = (char)('0' + number % 10);
    number /= 10;
  }
}
