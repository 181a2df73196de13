/** In milliseconds: a timer of Node that is to be longer fires at once. */
export const longestTimerMs = 2 ** 31 - 1;
