import { hash } from 'node:crypto';
import { PAGES, type Page, type PageName } from '../../src/adapters/http/forms/flow.ts';
import { type Authenticator, authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { allFormsIn, type Fields, type ShownForm, unescaped } from '../support/http/shown-forms.ts';
import { type Browser, openBrowser } from './browser.ts';
import { ask } from './internet.ts';
import { type Chance, DAY, kernel, MINUTE, perWorld, SECOND, tell, within } from './kernel.ts';
import { type Answer, APP_LINK, BASE, json, PROVIDER } from './requests.ts';
import { hasPassword, type Letter, lettersTo, userNamed, world } from './world.ts';

/** Somebody at the pages of the service, without scripts: opens one, fills in one of its forms by the names of its fields, and sends it. */

export type Person = ReturnType<typeof personOf>;
export const personOf = (name: string, number: number, chance: Chance) => ({
  ...{ name, chance, secrets: ['JBSWY3DPEHPK3PXP'], keys: [] as Authenticator[], recoveryCodes: [] as string[] },
  /** All that they have ever chosen. */
  passwords: world.needsPasswords || number % 2 > 0 ? [`correct horse ${name}`] : [],
  browsers: Array.from({ length: world.browsers }, (_, at) => {
    const [own, skew] = [chance.fork(), chance.pick([0, 0, 0, -5 * MINUTE, 7 * MINUTE, -3 * DAY])];
    return openBrowser(own, `${name}${at + 1}`, `10.${number}.${at}.7`, skew, chance.happens(0.85));
  }),
});
export const people = perWorld((chance) =>
  ['ada', 'bob', 'cyd', 'dan', 'eve'].slice(0, world.people).map((name, at) => personOf(name, at, chance.fork())),
);
export const allBrowsers = () => people.flatMap(({ browsers }) => browsers);
/** The one that counts now, if they have chosen it; or none. */
export const passwordOf = ({ name, passwords }: Person): string =>
  passwords.find((each) => hasPassword(userNamed(name), each)) ?? passwords[0] ?? '';
/** The last one. */
export const mailedCode = ({ name }: Person): string | undefined =>
  lettersTo(name)
    .flatMap(({ text }) => /^\d{8}$/m.exec(text)?.[0] ?? [])
    .at(-1);
/** What the server of an application, or a page, sends twice when it gets no answer. */
export const sendTwice = (browser: Browser, path: string, body: object, more: { origin?: null } = {}) =>
  Promise.allSettled([1, 2].map(() => browser.send('POST', path, { ...json(body), ...more })));
export const newKey = () => authenticator({ rpId: new URL(BASE).hostname, origin: BASE });

type Trip = { readonly person: Person; readonly browser: Browser; readonly token: string };
type Form = ShownForm & { readonly page: string; readonly of: Page['forms'][string] };

/** Of the app that everybody has. */
const VERIFIER = 'v'.repeat(43);
const TO_APP = `${APP_LINK}?code_challenge=${hash('sha256', VERIFIER, 'base64url')}`;
const PATHS = Object.values(PAGES).flatMap(({ path }) => {
  if (path === PAGES.app.path) return [`${path}?${new URLSearchParams({ to: TO_APP })}`];
  return path.startsWith('/auth/link/') ? [] : [path];
});

const requestOptions = async ({ browser }: Trip) => {
  const { result } = await within('options', browser.send('POST', '/auth/passkey/options'));
  return result?.status === 200 ? JSON.parse(result.body).data : { challenge: 'none' };
};

/** What is typed into a field, or done by the browser for it. */
const FIELDS: Readonly<Record<string, (trip: Trip, form: Form) => string | undefined | Promise<string>>> = {
  account: ({ person }) => person.name,
  username: ({ person }) => person.name,
  email: ({ person }) => `${person.name}@example.${person.chance.pick(['org', 'org', 'net'])}`,
  password: ({ person }) => passwordOf(person),
  currentPassword: ({ person }) => passwordOf(person),
  newPassword: ({ person }) => `correct horse ${person.chance.below(1e9)}`,
  token: ({ token }) => token,
  invitation: ({ token }) => token,
  mailCode: ({ person }) => mailedCode(person),
  recoveryCode: ({ person }) => person.recoveryCodes.pop(),
  locale: ({ person }) => person.chance.pick(['en', 'de']),
  name: () => 'a key',
  remember: ({ person }) => (person.chance.happens(0.5) ? 'on' : ''),
  code({ person }, { page, fields }) {
    if (['code', 'account', 'delete'].includes(page)) return mailedCode(person);
    return codeAt(fields.secret || `${person.secrets.at(-1)}`, kernel.now());
  },
  async credential(trip, { page, options }) {
    const [{ keys, chance }, key] = [trip.person, newKey()];
    const isNew = page === 'factors' || page === 'new-passkey';
    if (isNew) keys.push(key);
    if (isNew) return JSON.stringify(key.create(options));
    const known = keys.length > 0 ? chance.pick(keys) : key;
    return JSON.stringify(known.get('challenge' in options ? options : await requestOptions(trip)));
  },
};

/** Goes to a path, and where the answer leads, also over a provider. */
const go = async (trip: Trip, path: string, fields?: Fields, hops = 0): Promise<Answer | undefined> => {
  const { person, browser } = trip;
  const type = { origin: BASE, 'content-type': 'application/x-www-form-urlencoded' };
  const headers = { accept: 'text/html', ...(fields && type) };
  const body = fields && `${new URLSearchParams(fields)}`;
  const sent = browser.send(fields ? 'POST' : 'GET', path, { origin: null, headers, body });
  if (path.includes('/callback?') && person.chance.happens(0.3))
    void browser.send('GET', path, { origin: null }).catch(() => undefined);
  const { result: answer } = await within(`${browser.name}: ${path}`, sent);
  const { location = '' } = answer?.headers ?? {};
  tell(`${browser.name} at ${path.split('?')[0]}: ${answer?.status} ${location.replace(/state=.*/, '')}`);
  const [, refresh = ''] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(answer?.body ?? '') ?? [];
  let next = (location || unescaped(refresh)).replace(BASE, '');
  const query = new URLSearchParams(next.split('?')[1]);
  if (hops > 5) return answer;
  const code = query.get('code');
  if (next.startsWith(APP_LINK) && code)
    await sendTwice(browser, '/auth/login/app', { code, verifier: VERIFIER }, { origin: null });
  if (next.startsWith(PROVIDER)) next = `/auth/oidc/acme/callback?${query}&code=${person.name}`;
  return next.startsWith('/auth/') ? go(trip, next, undefined, hops + 1) : answer;
};

/** Fills in one of the forms that a page shows. */
const submit = async (trip: Trip, { body }: Answer): Promise<Answer | undefined> => {
  const { person } = trip;
  const { chance } = person;
  const rare = chance.happens(0.9) ? /^(log-out|delete)\./ : /^$/;
  const shown = [...allFormsIn(body)].filter(([name, all]) => all.length > 0 && !rare.test(name));
  if (shown.length === 0) return undefined;
  const [name, all] = chance.pick(shown);
  const [page = '', kind = ''] = name.split('.');
  const of = (PAGES[page as PageName] as Page | undefined)?.forms[kind];
  if (of === undefined) return undefined;
  const form: Form = { ...chance.pick(all), page, of };
  const typed = of.fields.map(async (field) => [field, (await FIELDS[field]?.(trip, form)) ?? ''] as const);
  const fields: Fields = { ...form.fields, ...Object.fromEntries(await Promise.all(typed)) };
  const wrong = chance.happens(0.1) ? chance.pick(of.fields) : undefined;
  const sent = wrong === undefined ? fields : { ...fields, [wrong]: `${fields[wrong]}x` };
  const clicks = Array.from({ length: chance.happens(0.2) ? 2 : 1 }, () => go(trip, form.path, sent));
  const answer = (await Promise.all(clicks)).at(-1);
  const codes = [...(answer?.body ?? '').matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, code = '']) => code);
  if (codes.length > 0) person.recoveryCodes = codes;
  if (fields.secret && fields.code) person.secrets.push(fields.secret);
  if (fields.newPassword) person.passwords.push(fields.newPassword);
  return answer;
};

/** @param letter whose link is opened */
export const visit = async (person: Person, browser: Browser, letter?: Letter): Promise<void> => {
  const { chance } = person;
  const [, path = letter ? '' : chance.pick(PATHS), token = 'none'] =
    /(\/auth\/link\/[\w-]+)#token=([\w-]+)/.exec(letter?.text ?? '') ?? [];
  const trip = { person, browser, token };
  // Scanners of mails open their links before people do.
  for (const method of letter && chance.happens(0.3) ? ['HEAD', 'GET'] : [])
    await ask({ method, path, headers: { accept: 'text/html' }, address: '10.7.7.7' });
  let answer = await go(trip, path);
  for (let forms = 1 + chance.below(5); forms > 0 && answer !== undefined; forms -= 1) {
    await kernel.sleep(chance.spread(SECOND, 2 * MINUTE));
    answer = await submit(trip, answer);
  }
};
