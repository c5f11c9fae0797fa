import { chosen } from './autofill.ts';
import { ignore } from './host.ts';
import type { AcceptedPasskeys, PasskeyCreationOptions, PasskeyRequestOptions } from './types.ts';
import { can, canAutofill, canMake, create, get, isAvailable, signalAccepted, signalUser } from './webauthn.ts';

/**
 * The script of the pages for users. They work without it; it adds passkeys, the key of the device, a button that is pressed once, passwords that
 * can be seen and their strength. Elements say what it does for them by `data-…`.
 */

const base = new URL('.', import.meta.url);
const all = <Kind extends Element>(selector: string): Kind[] => [...document.querySelectorAll<Kind>(selector)];
const hiddenField = (form: HTMLFormElement, name: string, value: string): void => {
  const field =
    form.querySelector<HTMLInputElement>(`input[type=hidden][name=${name}]`) ?? document.createElement('input');
  field.type = 'hidden';
  field.name = name;
  field.value = value;
  form.append(field);
};

/** The path of a form in the service, which may be below a path. */
const pathOf = (form: HTMLFormElement): string => `/${new URL(form.action).href.slice(base.href.length)}`;

/** The form says when the service has made it: a proof by a clock that is wrong would be refused. In milliseconds. */
const CLOCK_TOLERANCE = 20_000;
const loadedAt = Date.now();

/**
 * Where the browser gives these pages another storage than the application, they have no key. The application proves its own, in the fragment. It
 * is asked once in a tab, and none is taken that was not asked for: a link of anybody could have one.
 */
const handedOver = ({ dataset: { elsewhere } }: HTMLFormElement): { proof?: string; elsewhere?: string } => {
  if (!elsewhere || !navigator.vendor.startsWith('Apple')) return {};
  const places: string[] = JSON.parse(elsewhere);
  const [, proof] = /^#proof=([\w.-]*)$/.exec(location.hash) ?? [];
  const isAsked = !!sessionStorage.asked;
  sessionStorage.asked = isAsked || !places[1] ? '' : 'yes';
  if (!isAsked) return { elsewhere: places[0] as string };
  return proof === undefined ? { elsewhere: places.at(-1) as string } : { proof };
};

/** Sends a form with what only a script has. A second press does nothing. */
const send = async (form: HTMLFormElement): Promise<void> => {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  if (form.hasAttribute('data-proves')) {
    const { proof: shown, elsewhere } = handedOver(form);
    if (elsewhere) return location.replace(elsewhere);
    const { prove } = await import(`${base.href}device-key.js`);
    const again = Math.abs(Number(form.dataset.proves) - loadedAt) > CLOCK_TOLERANCE;
    const proof = shown ?? (await prove({ path: pathOf(form), create: true, again }).catch(ignore));
    if (proof) hiddenField(form, 'proof', proof);
  }
  form.submit();
};

/** Back from the back/forward cache: the form can be sent again. */
addEventListener('pageshow', () => {
  for (const form of all<HTMLFormElement>('form')) form.ariaBusy = 'false';
});

/** The options of a passkey form: in the page, or, since they are good for minutes only, from the service. */
const requestOptions = async (): Promise<PasskeyRequestOptions> => {
  const response = await fetch(new URL('auth/passkey/options', base), { method: 'POST' });
  return (await response.json()).data;
};

const sendCredential = (form: HTMLFormElement, credential: object): Promise<void> => {
  hiddenField(form, 'credential', JSON.stringify(credential));
  return send(form);
};

let waiting = new AbortController();
const showPasskey = async (form: HTMLFormElement): Promise<void> => {
  const { options, creates } = form.dataset;
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  const credential = creates
    ? await create(JSON.parse(creates) as PasskeyCreationOptions, signal)
    : await get(options ? (JSON.parse(options) as PasskeyRequestOptions) : await requestOptions(), signal);
  await sendCredential(form, credential);
};

/** The page says that no passkey came. Why is in the console, as it may be a setting of the service. */
const sayNoPasskey = ({ dataset: { passkey = '' } }: HTMLFormElement, error: unknown): void => {
  // Another button has taken its place.
  if ((error as Error).name === 'AbortError') return;
  const alert = document.createElement('p');
  alert.className = 'notice';
  alert.role = 'alert';
  alert.textContent = passkey;
  document.querySelector('main > .notice')?.remove();
  document.querySelector('h1')?.after(alert);
  reportError(error);
};

/** The browser offers passkeys in the field of the name. */
const autofill = async (form: HTMLFormElement): Promise<void> => {
  if (!(await canAutofill())) return;
  await sendCredential(form, await chosen(requestOptions, await requestOptions(), waiting.signal));
};

/** Makes a passkey without a question, where the browser does that after a password that it has filled in. */
const createSilently = async (form: HTMLFormElement): Promise<void> => {
  if (!(await can('conditionalCreate'))) return;
  const credential = await create(JSON.parse(form.dataset.creates ?? ''), waiting.signal, 'conditional');
  hiddenField(form, 'mediation', 'conditional');
  await sendCredential(form, credential);
};

/** The way on leads by the offer of a passkey, where the device can make one. */
const offer = async (form: HTMLFormElement, way: string): Promise<void> => {
  if (await canMake()) hiddenField(form, 'to', way);
};

for (const form of all<HTMLFormElement>('form')) {
  const isPasskey = form.hasAttribute('data-passkey');
  form.hidden = isPasskey && !isAvailable();
  form.addEventListener('submit', (event) => {
    // Another button of the form, whose route takes no proof.
    if (event.submitter?.hasAttribute('formaction') && form.ariaBusy !== 'true') {
      form.ariaBusy = 'true';
      return;
    }
    event.preventDefault();
    void (isPasskey ? showPasskey(form).catch((error) => sayNoPasskey(form, error)) : send(form));
  });
  if (form.dataset.accepted) void signalAccepted(JSON.parse(form.dataset.accepted) as AcceptedPasskeys);
  if (form.dataset.user) void signalUser(JSON.parse(form.dataset.user));
  if (form.dataset.offers) void offer(form, form.dataset.offers).catch(ignore);
  if (form.hasAttribute('data-silent')) void createSilently(form).catch(ignore);
  if (form.hasAttribute('data-autofill')) void autofill(form).catch(ignore);
  if (form.hasAttribute('data-at-once')) void send(form);
}

/** The service writes times in UTC. */
const showTime = (time: HTMLTimeElement): void => {
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
};
for (const time of all<HTMLTimeElement>('time[datetime]')) showTime(time);

/** Shows whose link it is and what it would do, which only its token tells. The request changes nothing. */
const tell = async (form: HTMLFormElement, link: string): Promise<void> => {
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

/** The token of a link in a mail is in the fragment, which a browser sends to nobody. Taken from there, so that nobody sees or copies it. */
for (const input of all<HTMLInputElement>('[data-token]')) {
  const link = new URLSearchParams(location.hash.slice(1));
  // Some mail programs add parameters behind it.
  const token = /^[\w-]+/.exec(link.get('token') ?? '')?.[0];
  if (token) {
    input.value = token;
    // That of an invitation, which is for this address alone.
    const email = input.form?.querySelector<HTMLInputElement>('[name=email]');
    if (email) email.value = link.get('email') ?? '';
    // The same link in another language.
    for (const other of all<HTMLAnchorElement>('a[hreflang]')) other.hash = location.hash;
    history.replaceState(null, '', location.href.replace(/#.*/s, ''));
  }
  (input.closest('.field') as HTMLElement).hidden = !!input.value;
  const tellOf = (): void => void tell(input.form as HTMLFormElement, input.value).catch(ignore);
  input.addEventListener('change', tellOf);
  tellOf();
}
// Another link to the page that is open changes the fragment alone.
addEventListener('hashchange', () => location.reload());

/** How long a password would be guessed at, from its length and its kinds of characters: 0 to 4. The service has the last word. */
const strengthOf = (password: string): number => {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length;
  const distinct = new Set(password).size;
  return Math.min(4, Math.floor((Math.min(distinct, password.length) * (2 + kinds)) / 16));
};

for (const input of all<HTMLInputElement>('input[autocomplete=new-password]')) {
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
for (const input of all<HTMLInputElement>('input[type=password]')) {
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

/** What the page was told by who has led there (`MARK` of the service): no part of its address. */
const here = new URL(location.href);
if (here.searchParams.has('tandem')) {
  here.searchParams.delete('tandem');
  history.replaceState(null, '', here);
}

for (const button of all<HTMLButtonElement>('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
