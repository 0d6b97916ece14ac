-- Fields of `indexes` whose cells are still being written, and up to which document they are. Documents that come,
-- change or go meanwhile have theirs kept by the triggers.
alter table collections add column filling text[] not null default '{}';
alter table collections add column filled_seq bigint not null default 0;
