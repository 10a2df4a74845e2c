//! Providers: bytes to events without IO, requests, retries, and real sockets.

// What a list of events tells, and ways to cut bytes.
mod told;
// The vectors in the folder that LETTERPRESS_VECTORS names.
mod vectors;
