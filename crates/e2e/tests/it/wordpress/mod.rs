//! The example for WordPress as a destination: its very file, on PHP's own server, with a stand-in for WordPress.

mod calls;
mod effects;
mod site;
