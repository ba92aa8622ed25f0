//! Pure statistics of proof: numbers in, numbers out. No clock, no files; randomness comes from a seed.
