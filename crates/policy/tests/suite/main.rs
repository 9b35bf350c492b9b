//! Decisions as data: facts and a call go in, a decision and its reason come out.

mod current;
mod fixtures;
mod names;
mod operator;
mod properties;
mod rules;
mod world;
