/** The demo's template: one for all languages, what differs comes from the subscriber's attributes. */
export const newsletter = {
  name: "Evening reading",
  subject: "[[greeting]] [[first_name]]: [[headline]]",
  template_type: "marketing",
  body: `<!doctype html>
<html lang="[[language]]">
<body style="font-family: Georgia, serif; max-width: 36em; margin: auto">
  <h1>[[headline]]</h1>
  <p>[[greeting]] [[first_name]] [[last_name]] ([[city]])</p>
  [[#if member]]<p><strong>★ Member price: 20 % off until Sunday.</strong></p>[[#else]]<p><a href="https://books.example.com/join?from=newsletter">Become a member</a></p>[[/if]]
  <ol>
    <li><a href="https://books.example.com/the-long-night">The Long Night</a></li>
    <li><a href="https://books.example.com/lanterns">Lanterns over Görlitz</a></li>
    <li><a href="https://books.example.com/harbour?lang=[[language]]">The Harbour</a></li>
  </ol>
  <p><small><a href="[[view_in_browser_url]]">View in browser</a> · <a href="[[unsubscribe_url]]">Unsubscribe</a></small></p>
</body>
</html>`,
};
