//! Client and server code of the Talos API.
