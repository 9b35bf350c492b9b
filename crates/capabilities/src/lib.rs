//! capabilities
