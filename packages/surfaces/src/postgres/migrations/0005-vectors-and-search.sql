-- Collections of vectors. Writers hold the row of their collection. `real[]` can be read by pgvector where it is
-- installed, and needs no extension where it is not.
create table vector_collections (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text not null,
  dimensions integer not null,
  metric text not null,
  vectors bigint not null default 0,
  unique (tenant, name)
);

create table vectors (
  collection bigint not null references vector_collections,
  id text not null,
  embedding real[] not null,
  doc jsonb,
  bytes bigint not null,
  primary key (collection, id)
);

-- Search indexes, with what BM25 has to know of all documents. Writers hold the row of their index.
create table search_indexes (
  id bigint generated always as identity primary key,
  tenant text not null,
  name text not null,
  documents bigint not null default 0,
  words bigint not null default 0,
  unique (tenant, name)
);

-- Lexemes and grams begin with, or are hashed with, the id of their index: lists of one index are of that alone.
create table search_documents (
  idx bigint not null references search_indexes,
  id text collate "C" not null,
  doc jsonb not null,
  folded text not null,
  words integer not null,
  lexemes tsvector not null,
  grams integer[] not null,
  bytes bigint not null,
  primary key (idx, id)
);
create index search_documents_by_lexeme on search_documents using gin (lexemes);
create index search_documents_by_gram on search_documents using gin (grams);
