-- Fields of `indexes` whose cells are still being written, and up to which document they are. Documents that come,
-- change or go meanwhile have theirs kept by the triggers.
alter table collections add column filling text not null default '[]';
alter table collections add column filled_seq integer not null default 0;

-- A document that changes has only those cells written that differ.
drop trigger documents_changing;
drop trigger documents_changed;
create trigger documents_changed after update of doc on documents begin
  update usage set bytes = bytes + new.bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = new.collection);
  delete from cells where (collection, field, value, seq) in
    (select old.collection, field.value,
        substr(coalesce(old.doc -> ('$."' || field.value || '"'), 'null'), 1, 64) as before, old.seq
      from collections, json_each(collections.indexes) as field
      where collections.id = old.collection
        and before <> substr(coalesce(new.doc -> ('$."' || field.value || '"'), 'null'), 1, 64));
  insert into cells (collection, field, value, seq)
    select new.collection, field.value,
        substr(coalesce(new.doc -> ('$."' || field.value || '"'), 'null'), 1, 64) as after, new.seq
      from collections, json_each(collections.indexes) as field
      where collections.id = new.collection
        and after <> substr(coalesce(old.doc -> ('$."' || field.value || '"'), 'null'), 1, 64);
end;

-- Cells of documents that went together with many: deleted later, in steps. Filters look for the document too, so what
-- is left of it is never found; and no sequence is used again.
create table cells_gone (
  seq integer not null,
  field text not null,
  collection integer not null,
  value text not null,
  primary key (seq, field)
) strict, without rowid;

drop trigger documents_deleting;
create trigger documents_deleting before delete on documents begin
  delete from cells where (collection, field, value, seq) in
    (select collection, field, value, seq from cells_of_documents
      where seq = old.seq and not exists (select 1 from cells_gone where cells_gone.seq = old.seq));
  update collections set documents = documents - 1 where id = old.collection;
  update usage set bytes = bytes - old.bytes
    where area = 'documents' and tenant = (select tenant from collections where id = old.collection);
end;
