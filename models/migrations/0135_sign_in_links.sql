-- One-time links that sign a person in, made by an operator.
alter table account_tokens drop constraint account_tokens_kind_check;
alter table account_tokens add constraint account_tokens_kind_check check (kind in ('verify', 'reset', 'sign_in'));
