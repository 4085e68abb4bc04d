-- How many bytes of media files a company may keep. Null is unlimited.
alter table plans add column media_bytes bigint check (media_bytes >= 0);
update plans set media_bytes = 52428800 where name = 'free';
update plans set media_bytes = 1073741824 where name = 'starter';
update plans set media_bytes = 21474836480 where name = 'pro';
