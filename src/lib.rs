//! Letterpress.
