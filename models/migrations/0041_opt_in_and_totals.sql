-- Null: as the company says.
alter table lists add column double_opt_in boolean;

-- False: opens and clicks of campaigns that start from then on are counted without saying whose they are.
alter table companies add column individual_tracking boolean not null default true;
-- As the company had it when the campaign started; it stays.
alter table campaigns add column individual_tracking boolean not null default true;
