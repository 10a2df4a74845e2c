//! D11: sessions of every version open, and say what they said.
