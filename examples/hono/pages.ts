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

export const accountPage = ({ username, email }: User, service: string): Html =>
  page(
    `Account of ${username}`,
    html`<p>${email}</p>
<p><a href="/">Welcome</a> <button id="logout" disabled>Log out</button></p>
<p role="alert"></p>
<script type="module">
  import { createAuthClient } from '${service}/client.js';

  const button = document.querySelector('#logout');
  button.disabled = false;
  button.onclick = async () => {
    try {
      await createAuthClient({ baseUrl: '${service}' }).logout();
      location.assign('/');
    } catch (error) {
      document.querySelector('[role=alert]').textContent = error.message;
    }
  };
</script>`,
  );

// The form has the method "post", so that no password gets into an address, even where scripts are off.
export const loginPage = (service: string): Html =>
  page(
    'Log in',
    html`<form method="post">
  <p><label>Username <input name="account" autocomplete="username" required></label></p>
  <p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
  <button disabled>Log in</button>
</form>
<p role="alert"></p>
<script type="module">
  import { createAuthClient } from '${service}/client.js';

  const auth = createAuthClient({ baseUrl: '${service}' });
  // A page of this application, whatever the address says.
  const to = URL.parse(new URLSearchParams(location.search).get('to') ?? '/account', location.origin);
  const form = document.querySelector('form');
  form.querySelector('button').disabled = false;
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      await auth.login(Object.fromEntries(new FormData(form)));
      location.assign(to?.origin === location.origin ? to : '/account');
    } catch (error) {
      document.querySelector('[role=alert]').textContent = error.message;
    }
  };
</script>`,
  );
