//! Whole-system tests: the real programs together, and failure cases of other systems (`cases/`). All of it is in
//! `tests/it`; this library is empty.
