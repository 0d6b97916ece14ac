-- How many codes of a collection changed since its chunks were counted, null where they never were; and up to which
-- sequence its codes have been written anew, null where nothing of that is under way.
alter table vector_collections add column codes_changed integer;
alter table vector_collections add column recoded_to integer;
