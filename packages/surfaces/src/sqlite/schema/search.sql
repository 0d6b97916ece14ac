-- The full text of one tenant.

-- Words and grams are in search_words_<id> and search_grams_<id>: each index has its own statistics. Ids are
-- never reused: they are part of sequences and of table names.
create table search_indexes (
  id integer primary key autoincrement,
  tenant text not null,
  name text not null,
  documents integer not null default 0,
  next integer not null default 1,
  unique (tenant, name)
) strict;

-- A sequence is the id of its index times 2^32 plus a number, so the rows of an index are adjacent and form
-- one range. `folded` is the text of all fields, for searching parts of words.
create table search_documents (
  seq integer primary key,
  idx integer not null,
  id text not null,
  doc blob not null,
  folded text not null,
  bytes integer not null,
  unique (idx, id)
) strict;

create trigger search_documents_inserted after insert on search_documents begin
  update search_indexes set documents = documents + 1 where id = new.idx;
  insert into usage select 'search', tenant, new.bytes from search_indexes where id = new.idx
    on conflict do update set bytes = bytes + excluded.bytes;
end;
create trigger search_documents_updated after update of bytes on search_documents begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'search' and tenant = (select tenant from search_indexes where id = new.idx);
end;
create trigger search_documents_deleted after delete on search_documents begin
  update search_indexes set documents = documents - 1 where id = old.idx;
  update usage set bytes = bytes - old.bytes
    where area = 'search' and tenant = (select tenant from search_indexes where id = old.idx);
end;
