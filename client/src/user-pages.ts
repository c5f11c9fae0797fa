import { awaitPasskey } from './autofill.ts';
import { ignore } from './host.ts';
import type { AcceptedPasskeys, PasskeyCreationOptions, PasskeyRequestOptions } from './types.ts';
import { can, canAutofill, canMake, create, get, isAvailable, signalAccepted, signalUser } from './webauthn.ts';

/**
 * The script of the pages for users. Their forms also work without it, except those for passkeys and for a proof of the device's key. Among other
 * things, it shows how strong a password is, and sends a form only once. It gets tasks and values from attributes `data-…`.
 */

const base = new URL('.', import.meta.url);
const allOf = <Kind extends Element>(selector: string): Kind[] => [...document.querySelectorAll<Kind>(selector)];
const hiddenField = (form: HTMLFormElement, name: string, value: string): void => {
  const field =
    form.querySelector<HTMLInputElement>(`input[type=hidden][name=${name}]`) ?? document.createElement('input');
  field.type = 'hidden';
  field.name = name;
  field.value = value;
  form.append(field);
};

/** The path of a form relative to the base URL of the service, which may have a path itself. */
const pathOf = (form: HTMLFormElement): string => `/${new URL(form.action).href.slice(base.href.length)}`;

/** Milliseconds by which the clock of this machine may differ from the time in the form. A proof after a larger difference gets the time of the service. */
const CLOCK_TOLERANCE = 20_000;
const loadedAt = Date.now();

/**
 * Safari gives these pages another storage than the application, so the page `prove` does not have the key. It leads to the application, which leads
 * back with a proof in the fragment. A proof for which the page has not asked is ignored: anybody could put one into a link.
 */
const applicationProof = ({ dataset: { elsewhere } }: HTMLFormElement): { proof?: string; elsewhere?: string } => {
  if (!elsewhere || !navigator.vendor.startsWith('Apple')) return {};
  const places: string[] = JSON.parse(elsewhere);
  const [, proof] = /^#proof=([\w.-]*)$/.exec(location.hash) ?? [];
  const isAsked = !!sessionStorage.asked;
  sessionStorage.asked = isAsked || !places[1] ? '' : 'yes';
  if (!isAsked) return { elsewhere: places[0] as string };
  return proof === undefined ? { elsewhere: places.at(-1) as string } : { proof };
};

/** Sends a form, with a proof of the device key if the form takes one. A second press does nothing. */
const send = async (form: HTMLFormElement): Promise<void> => {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  if (form.hasAttribute('data-proves')) {
    const { proof: shown, elsewhere } = applicationProof(form);
    if (elsewhere) return location.replace(elsewhere);
    const { prove } = await import(`${base.href}device-key.js`);
    const again = Math.abs(Number(form.dataset.proves) - loadedAt) > CLOCK_TOLERANCE;
    const proof = shown ?? (await prove({ path: pathOf(form), create: true, again }).catch(ignore));
    if (proof) hiddenField(form, 'proof', proof);
  }
  form.submit();
};

/** When a page comes back from the back/forward cache, its forms can be sent again. */
addEventListener('pageshow', () => {
  for (const form of allOf<HTMLFormElement>('form')) form.ariaBusy = 'false';
});

/** Gets options for a passkey from the service. Options in the page itself would expire after minutes. */
const requestOptions = async (): Promise<PasskeyRequestOptions> => {
  const response = await fetch(new URL('auth/passkey/options', base), { method: 'POST' });
  return (await response.json()).data;
};

const sendCredential = (form: HTMLFormElement, credential: object): Promise<void> => {
  hiddenField(form, 'credential', JSON.stringify(credential));
  return send(form);
};

let attempt = new AbortController();
const showPasskey = async (form: HTMLFormElement): Promise<void> => {
  const { options, creates } = form.dataset;
  attempt.abort();
  attempt = new AbortController();
  const { signal } = attempt;
  const credential = creates
    ? await create(JSON.parse(creates) as PasskeyCreationOptions, signal)
    : await get(options ? (JSON.parse(options) as PasskeyRequestOptions) : await requestOptions(), signal);
  await sendCredential(form, credential);
};

/** Shows that the browser gave no passkey. The console gets the reason, which may be a wrong setting of the service. */
const showNoPasskey = ({ dataset: { passkey = '' } }: HTMLFormElement, error: unknown): void => {
  // Another button, which the user has pressed, has ended this attempt.
  if ((error as Error).name === 'AbortError') return;
  const alert = document.createElement('p');
  alert.className = 'notice';
  alert.role = 'alert';
  alert.textContent = passkey;
  document.querySelector('main > .notice')?.remove();
  document.querySelector('h1')?.after(alert);
  reportError(error);
};

/** Lets the browser offer passkeys in the field of the account name. */
const autofill = async (form: HTMLFormElement): Promise<void> => {
  if (!(await canAutofill())) return;
  await sendCredential(form, await awaitPasskey(requestOptions, await requestOptions(), attempt.signal));
};

/** Makes a passkey without asking, in a browser that allows that after it has filled in the password. */
const createSilently = async (form: HTMLFormElement): Promise<void> => {
  if (!(await can('conditionalCreate'))) return;
  const credential = await create(JSON.parse(form.dataset.creates ?? ''), attempt.signal, 'conditional');
  hiddenField(form, 'mediation', 'conditional');
  await sendCredential(form, credential);
};

/** Lets the form lead to the page that offers a passkey, if the device can make one. @param pagePath the path of that page */
const offerPasskey = async (form: HTMLFormElement, pagePath: string): Promise<void> => {
  if (await canMake()) hiddenField(form, 'to', pagePath);
};

for (const form of allOf<HTMLFormElement>('form')) {
  const isPasskey = form.hasAttribute('data-passkey');
  form.hidden = isPasskey && !isAvailable();
  form.addEventListener('submit', (event) => {
    // A button with another address than the form: its route accepts no proof.
    if (event.submitter?.hasAttribute('formaction') && form.ariaBusy !== 'true') {
      form.ariaBusy = 'true';
      return;
    }
    event.preventDefault();
    void (isPasskey ? showPasskey(form).catch((error) => showNoPasskey(form, error)) : send(form));
  });
  if (form.dataset.accepted) void signalAccepted(JSON.parse(form.dataset.accepted) as AcceptedPasskeys);
  if (form.dataset.user) void signalUser(JSON.parse(form.dataset.user));
  if (form.dataset.offers) void offerPasskey(form, form.dataset.offers).catch(ignore);
  if (form.hasAttribute('data-silent')) void createSilently(form).catch(ignore);
  if (form.hasAttribute('data-autofill')) void autofill(form).catch(ignore);
  if (form.hasAttribute('data-at-once')) void send(form);
}

/** Shows a time in the language of the page, and the time zone of the user: the service writes times in UTC. */
const showTime = (time: HTMLTimeElement): void => {
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
};
for (const time of allOf<HTMLTimeElement>('time[datetime]')) showTime(time);

/** Shows whose link this is, and what it would do. The service tells that without using the link up. */
const showPreview = async (form: HTMLFormElement, link: string): Promise<void> => {
  const [, token] = /(?:^|token=)([\w-]+)$/.exec(link) ?? [];
  const { preview } = form.dataset;
  if (!preview || !token) return;
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(preview, { method: 'POST', headers, body: JSON.stringify({ token }) });
  const { data = {} } = await response.json();
  for (const place of form.querySelectorAll<HTMLElement>('[data-told]')) {
    const value: string | null = data[place.dataset.told ?? ''];
    if (!value) continue;
    if (place instanceof HTMLInputElement) place.value = value;
    else (place.parentElement as HTMLElement).hidden = false;
    place.textContent = value;
    if (!(place instanceof HTMLTimeElement)) continue;
    place.dateTime = value;
    showTime(place);
  }
};

/** Moves the token of a link in a mail from the fragment of the address, which browsers never send, into the form. The address may be copied then. */
for (const input of allOf<HTMLInputElement>('[data-token]')) {
  const link = new URLSearchParams(location.hash.slice(1));
  // Some mail programs add parameters behind the token.
  const token = /^[\w-]+/.exec(link.get('token') ?? '')?.[0];
  if (token) {
    input.value = token;
    // The link of an invitation also has the address for which the invitation is valid.
    const email = input.form?.querySelector<HTMLInputElement>('[name=email]');
    if (email) email.value = link.get('email') ?? '';
    // The links to this page in other languages keep the token.
    for (const other of allOf<HTMLAnchorElement>('a[hreflang]')) other.hash = location.hash;
    history.replaceState(null, '', location.href.replace(/#.*/s, ''));
  }
  (input.closest('.field') as HTMLElement).hidden = !!input.value;
  const showPreviewOf = (): void => void showPreview(input.form as HTMLFormElement, input.value).catch(ignore);
  input.addEventListener('change', showPreviewOf);
  showPreviewOf();
}
// A link to the page that is open changes only the fragment, so the page has to be loaded again.
addEventListener('hashchange', () => location.reload());

/** How hard a password is to guess, from 0 to 4, by its different characters and their kinds. This is only a hint for the user: the service decides. */
const strengthOf = (password: string): number => {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length;
  const distinct = new Set(password).size;
  return Math.min(4, Math.floor((distinct * (2 + kinds)) / 16));
};

for (const input of allOf<HTMLInputElement>('input[autocomplete=new-password]')) {
  const meter = document.createElement('meter');
  meter.max = 4;
  meter.low = 2;
  meter.high = 3;
  meter.optimum = 4;
  meter.ariaLabel = document.body.dataset.strength ?? '';
  meter.hidden = true;
  input.addEventListener('input', () => {
    meter.hidden = input.value === '';
    meter.value = strengthOf(input.value);
  });
  input.after(meter);
}

/** A button that shows what is typed into a password's field. */
for (const input of allOf<HTMLInputElement>('input[type=password]')) {
  const button = document.createElement('button');
  const { show = '', showPassword = '' } = document.body.dataset;
  button.type = 'button';
  button.className = 'show';
  button.textContent = show;
  button.ariaLabel = `${showPassword}: ${input.labels?.[0]?.textContent}`;
  button.ariaPressed = 'false';
  button.addEventListener('click', () => {
    const isSeen = input.type === 'text';
    input.type = isSeen ? 'password' : 'text';
    button.ariaPressed = `${!isSeen}`;
  });
  input.after(button);
}

/** Removes the mark with which another page of the service has led here (`MARK` in the service) from the address. */
const pageUrl = new URL(location.href);
if (pageUrl.searchParams.has('tandem')) {
  pageUrl.searchParams.delete('tandem');
  history.replaceState(null, '', pageUrl);
}

for (const button of allOf<HTMLButtonElement>('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
