import { html } from 'hono/html';
import type { User } from 'tandem-client';

type Html = ReturnType<typeof html>;

const page = (title: string, content: Html): Html =>
  html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>${title}</title>
<h1>${title}</h1>
${content}
</html>`;

export const welcomePage = (user: User | null): Html =>
  page(
    'Welcome',
    html`<p>${user ? `Logged in as ${user.username}.` : 'Nobody is logged in.'}</p>
<p><a href="/account">Your account</a></p>`,
  );

/** Pages of the service. */
type Links = { readonly settings: string; readonly logOut: string };

export const accountPage = ({ username, email }: User, { settings, logOut }: Links, note: string): Html =>
  page(
    `Account of ${username}`,
    html`<p>${email}</p>
<form method="post"><label>Note <textarea name="note">${note}</textarea></label> <button>Save</button></form>
<p><a href="/">Welcome</a> <a href="${settings}">Settings</a> <a href="${logOut}">Log out</a></p>`,
  );
