-- Recipients and hits are written in the compact form from the first campaign on.
alter table installation drop column compact_since, drop column compact_hits_since;
