/**
 * Small subscriber exports of other products, written by hand from their documented columns. In each file, `active@`
 * receives mail, and the other addresses are named after their status.
 */
const lines = (...rows: string[]) => rows.join("\n");

/** "Export audience" writes one file per status; this one contains the unsubscribed. */
const MAILCHIMP_UNSUBSCRIBED = lines(
  '"Email Address","First Name","Last Name",Birthday,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,LEID,TAGS',
  'unsubscribed@example.org,Ugo,Rossi,05/12,2,"2024-02-01 10:11:12","2025-03-04 05:06:07","March news",401,"""shop"",""vip"""',
);
const MAILCHIMP_CLEANED = lines(
  '"Email Address","First Name","Last Name",MEMBER_RATING,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,LEID',
  'bounced@example.org,Bea,Rossi,1,"2025-03-04 05:06:07","March news",402',
);
const MAILCHIMP = lines(
  '"Email Address","First Name","Last Name","Email Marketing Status",MEMBER_RATING,OPTIN_TIME,TAGS',
  'active@example.org,Ada,Rossi,Subscribed,4,"2024-02-01 10:11:12","""vip"""',
  'unsubscribed@example.org,Ugo,Rossi,Unsubscribed,2,"2024-02-01 10:11:12",',
  'bounced@example.org,Bea,Rossi,Cleaned,1,"2024-02-01 10:11:12",',
  "unconfirmed@example.org,Una,Rossi,Non-Subscribed,1,,",
);
const BREVO = lines(
  "CONTACT ID;EMAIL;LASTNAME;FIRSTNAME;SMS;BLOCKLISTED;ADDED_TIME;MODIFIED_TIME",
  "1;active@example.org;Rossi;Ada;'+4915112345678;no;2024-02-01 10:11:12;2024-02-01 10:11:12",
  "2;unsubscribed@example.org;Rossi;Ugo;;yes;2024-02-01 10:11:12;2025-03-04 05:06:07",
);
const LISTMONK = lines(
  "uuid,email,name,attributes,status,created_at,updated_at",
  '6c1f8c6e-0a0f-4d5c-9d5e-1f3b1f7f0001,active@example.org,Ada Rossi,"{""city"": ""Rome"", ""likes"": {""tea"": true}, ""tags"": [""a"", ""b""], ""age"": 7}",enabled,2024-02-01 10:11:12.123456+00:00,2024-02-01 10:11:12.123456+00:00',
  "6c1f8c6e-0a0f-4d5c-9d5e-1f3b1f7f0002,unsubscribed@example.org,Ugo Rossi,{},blocklisted,2024-02-01 10:11:12.123456+00:00,2024-02-01 10:11:12.123456+00:00",
  "6c1f8c6e-0a0f-4d5c-9d5e-1f3b1f7f0003,disabled@example.org,Dan Rossi,{},disabled,2024-02-01 10:11:12.123456+00:00,2024-02-01 10:11:12.123456+00:00",
);
const SENDY = lines(
  '"Name","Email","Birthday","Joined","Last activity","Status"',
  '"Ada Rossi","active@example.org","","1 Feb 2024","2 Feb 2024","Subscribed"',
  '"Ugo Rossi","unsubscribed@example.org","","1 Feb 2024","2 Feb 2024","Unsubscribed"',
  '"Bea Rossi","bounced@example.org","","1 Feb 2024","2 Feb 2024","Bounced"',
  '"Cem Rossi","complained@example.org","","1 Feb 2024","2 Feb 2024","Marked as spam"',
  '"Una Rossi","unconfirmed@example.org","","1 Feb 2024","","Unconfirmed"',
);
const KEILA = lines(
  "Email,First name,Last name,Data,Status,External ID",
  'active@example.org,Ada,Rossi,"{""city"":""Rome""}",active,e-1',
  "unsubscribed@example.org,Ugo,Rossi,{},unsubscribed,e-2",
  "bounced@example.org,Bea,Rossi,,unreachable,e-3",
);
const HUBSPOT = lines(
  '"Record ID","First Name","Last Name",Email,"Phone Number","Contact owner","Lead Status","Unsubscribed from all email","Create Date"',
  "701,Ada,Rossi,active@example.org,+49 151 12345678,,New,,2024-02-01 10:11",
  '702,Ugo,Rossi,unsubscribed@example.org,,,"Attempted to contact",true,2024-02-01 10:11',
);
/** "Comma Separated Values (Windows)": most columns are empty. */
const OUTLOOK = lines(
  '"Title","First Name","Middle Name","Last Name","Suffix","Company","Business City","Birthday","Categories","E-mail Address","E-mail Type","E-mail Display Name","E-mail 2 Address","Gender","Priority","Private","Sensitivity"',
  '"","Ada","","Rossi","","Lantern Books","Rome","5/31/1991","","active@example.org","SMTP","Ada Rossi (active@example.org)","ada@example.net","Unspecified","Normal","False","Normal"',
  '"","Bo","","Berg","Jr.","","","0/0/00","","bo@example.org","SMTP","Bo Berg","","Unspecified","Normal","False","Normal"',
  '"","Cleo","","Costa","","","","0/0/00","","cleo@example.org","SMTP","Cleo Costa","","Unspecified","Normal","False","Normal"',
);
const GOOGLE = lines(
  "First Name,Middle Name,Last Name,Phonetic First Name,Name Prefix,Name Suffix,Nickname,File As,Organization Name,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Value",
  'Ada,,Rossi,,Dr.,,,,Lantern Books,1991-05-31,"met in Rome, twice",,* myContacts ::: Readers,* Work,active@example.org ::: ada@example.net,Home,ada@example.com,+49 151 12345678',
  "Bo,,Berg,,,Jr.,,,,,,,* myContacts,*,bo@example.org,,,",
);
/** A German Excel saves "CSV (semicolon)" in windows-1252. */
const EXCEL = lines("sep=;", "Vorname;Name;E-Mail-Adresse;Ort;Rabatt €", "Jörg;Müßig;active@example.org;Köln;5 €");

export const EXPORTS = {
  mailchimp: MAILCHIMP,
  mailchimpUnsubscribed: MAILCHIMP_UNSUBSCRIBED,
  mailchimpCleaned: MAILCHIMP_CLEANED,
  brevo: BREVO,
  listmonk: LISTMONK,
  sendy: SENDY,
  keila: KEILA,
  hubspot: HUBSPOT,
  outlook: OUTLOOK,
  google: GOOGLE,
  excel: EXCEL,
};

/** Supports only the non-ASCII characters of these files. */
export const inWindows1252 = (text: string): Buffer<ArrayBuffer> =>
  Buffer.from(text.replaceAll("€", "\u0080").replaceAll("’", "\u0092"), "latin1");
