-- Which database senders work on is known by its server, table and timeline alone.
alter table installation drop column worked_at;
