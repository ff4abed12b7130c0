//! Stores on SQL engines.
