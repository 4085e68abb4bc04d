-- Null: as the company says.
alter table lists add column double_opt_in boolean;
