//! Versions of a library built from their sources, side by side.
