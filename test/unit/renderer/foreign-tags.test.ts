/** Templates as other products document them: their placeholders are found, and translated where something here says the same. */
import { foreignTags, isMjml, withoutForeignTags } from "../../../services/lib/template/foreign-tags.ts";

const found = (source: string) => foreignTags(source).map(({ text }) => text);
const converted = (source: string) => withoutForeignTags(source, "body");

test.each<[string, string, string]>([
  ["Mailchimp", "Hi *|FNAME|* *|LNAME|*", "Hi [[first_name]] [[last_name]]"],
  [
    "Mailchimp",
    '<a href="*|UNSUB|*">x</a> <a href="*|ARCHIVE|*">y</a>',
    '<a href="[[unsubscribe_url]]">x</a> <a href="[[view_in_browser_url]]">y</a>',
  ],
  ["Mailchimp", "*|UPDATE_PROFILE|* *|LIST:COMPANY|* *|CITY|*", "[[preferences_url]] [[company.name]] [[city]]"],
  [
    "Mailchimp",
    "*|IF:FNAME|*Hi *|FNAME|**|ELSE:|*Hi*|END:IF|*",
    "[[#if first_name]]Hi [[first_name]][[#else]]Hi[[/if]]",
  ],
  ["Mailchimp", "*|MC_PREVIEW_TEXT|*x", "x"],
  [
    "Brevo",
    "Hi {{ contact.FIRSTNAME | default : 'there' }}, {{ contact.CITY }}",
    "Hi [[first_name|default:there]], [[city]]",
  ],
  [
    "Brevo",
    "{{ unsubscribe }} {{ mirror }} {{ params.order }}",
    "[[unsubscribe_url]] [[view_in_browser_url]] [[order]]",
  ],
  ["Brevo", "{% if contact.FIRSTNAME %}Hi{% else %}Hello{% endif %}", "[[#if first_name]]Hi[[#else]]Hello[[/if]]"],
  ["listmonk", "Hi {{ .Subscriber.FirstName }} ({{ .Subscriber.Email }})", "Hi [[first_name]] ([[email]])"],
  [
    "listmonk",
    "{{ .Subscriber.Attribs.city }} {{ UnsubscribeURL }} {{ MessageURL }}",
    "[[city]] [[unsubscribe_url]] [[view_in_browser_url]]",
  ],
  ["listmonk", "{{ if .Subscriber.FirstName }}Hi{{ else }}Hello{{ end }}", "[[#if first_name]]Hi[[#else]]Hello[[/if]]"],
  ["listmonk", "{{ .Subscriber.Name }}", "[[first_name]] [[last_name]]"],
  ["Mailgun", "Hi %recipient.name%, %recipient.first_name%", "Hi [[first_name]] [[last_name]], [[first_name]]"],
  ["Mailgun", "%recipient.city% %unsubscribe_url% %recipient_email%", "[[city]] [[unsubscribe_url]] [[email]]"],
  ["SendGrid", "Hi {{first_name}}, {{{unsubscribe}}}", "Hi [[first_name]], [[unsubscribe_url]]"],
  ["SendGrid", '{{insert first_name "default=friend"}}', "[[first_name|default:friend]]"],
  ["SendGrid", "{{#each items}}<li>{{this.name}}</li>{{/each}}", "[[#each items]]<li>[[this.name]]</li>[[/each]]"],
  ["SendGrid", "{{#if vip}}A{{else}}B{{/if}}", "[[#if vip]]A[[#else]]B[[/if]]"],
  [
    "SendGrid",
    "[%first_name | Friend%] <%asm_group_unsubscribe_raw_url%>",
    "[[first_name|default:Friend]] [[unsubscribe_url]]",
  ],
  [
    "Salesforce",
    "Hi %%FirstName%%, %%view_email_url%%, %%unsub_center_url%%",
    "Hi [[first_name]], [[view_in_browser_url]], [[unsubscribe_url]]",
  ],
  [
    "Salesforce",
    "%%=v(@FirstName)=%% {!Contact.FirstName} {{{Recipient.FirstName}}}",
    "[[first_name]] [[first_name]] [[first_name]]",
  ],
  [
    "HubSpot",
    "{{ contact.firstname }} {{ unsubscribe_link }} {{ view_as_page_url }}",
    "[[first_name]] [[unsubscribe_url]] [[view_in_browser_url]]",
  ],
  [
    "Klaviyo",
    "{{ first_name|default:'there' }} {{ person.last_name }} {{ organization.name }}",
    "[[first_name|default:there]] [[last_name]] [[company.name]]",
  ],
  ["ActiveCampaign", "Hi %FIRSTNAME%, %UNSUBSCRIBELINK%", "Hi [[first_name]], [[unsubscribe_url]]"],
  [
    "Campaign Monitor",
    "[firstname,fallback=there] [First name] [fullname]",
    "[[first_name|default:there]] [[first_name]] [[first_name]] [[last_name]]",
  ],
  ["MailerLite", "{$name} {$unsubscribe}", "[[first_name]] [[last_name]] [[unsubscribe_url]]"],
  ["a script", "${name} ${user.firstName}", "[[first_name]] [[last_name]] [[first_name]]"],
])("the tags of %s are converted: %s", (_product, source, ours) => {
  expect(foreignTags(source).length).toBeGreaterThan(0);
  expect(converted(source)).toBe(ours);
  expect(found(ours)).toEqual([]);
});

test("placeholders without an equivalent are found and kept", () => {
  for (const source of ["{% for item in items %}", "{{ 1 | plus: 2 }}", '{{ strftime "%Y" }}', "*|IF:X > 3|*"]) {
    expect(found(source)).toEqual([source]);
    expect(converted(source)).toBe(source);
  }
});

test("conditions are translated together or not at all", () => {
  expect(converted("{% if a > 1 %}{{ first_name }}{% endif %}")).toBe("{% if a > 1 %}[[first_name]]{% endif %}");
  expect(converted("{{#unless x}}{{name}}{{/unless}}")).toBe("{{#unless x}}[[first_name]] [[last_name]]{{/unless}}");
});

test.each([
  "[[first_name]] \\[[First name]] [[[name]]] [[First name]]",
  "<!--[if mso]><p>x</p><![endif]--><!--[if !mso]><!--><!--<![endif]-->",
  "<style>@media (max-width:1px){a{b:c}}td[name]{x:y} /* {{a}} %%b%% */</style>",
  "<script>const a = `${name}`;</script>",
  "<STYLE>{{a}}",
  "50% off, 20%recipient, 100%% sure %% yes, a%20b%20c",
  "see [1] and [note], [name](https://x.example) {a: 1}",
  "a * | b | * c",
])("nothing is found in %s", (source) => {
  expect(found(source)).toEqual([]);
  expect(converted(source)).toBe(source);
});

test("a conversion takes linear time", () => {
  const started = performance.now();
  for (const piece of ["*|", "{{", "{%", "%%a", "[%", "${", "<style>", "<%=", "[first name", "{!A", "%recipient."]) {
    foreignTags(piece.repeat(200_000 / piece.length));
  }
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("MJML is recognised by its elements", () => {
  expect(["<mjml><mj-body></mj-body></mjml>", "<p><mj-text>x</mj-text>", "<p>mjml</p>"].map(isMjml)).toEqual([
    true,
    true,
    false,
  ]);
});
