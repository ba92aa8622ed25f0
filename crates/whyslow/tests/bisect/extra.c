/* What only the good world's C library brings along. */
int extra(int value);
int extra(int value) { return value; }
