//! The window with its engine, answered by the demo and by a server.
