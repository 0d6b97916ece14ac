-- Keyed by run, node and ordinal instead of by their hash: what is written together lies together.
alter table invocations rename column id to place;
