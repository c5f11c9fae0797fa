import { hash } from 'node:crypto';
import type { AuthClient } from '../../client/src/types.ts';
import { PAGES, type Page } from '../../src/adapters/http/forms/flow.ts';
import { isDescribed } from '../../src/adapters/http/routing/define-route.ts';
import { type Authenticator, authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { compact, ecdsa } from '../support/forgeries/forge.ts';
import { ADOPTION_KEY, ALL_ROUTES } from '../support/http/all-routes.ts';
import { bodyFields, sampleBody, samplePath } from '../support/http/samples.ts';
import { allFormsIn, type Fields, type ShownForm, unescaped } from '../support/http/shown-forms.ts';
import { type Browser, openBrowser } from './browser.ts';
import { database } from './database.ts';
import { answerTo } from './internet.ts';
import { type Chance, DAY, kernel, MINUTE, perWorld, SECOND, trace, traced, within } from './kernel.ts';
import { type Answer, BASE, json, REFRESH } from './requests.ts';
import { instances, PROVIDER } from './service.ts';
import { hasPassword, type Letter, lettersTo, pickOften, userNamed, world } from './world.ts';

/** People, and the values that they send: in forms of the service's pages, without scripts, and in requests of the API. */

export type Person = ReturnType<typeof personOf>;
export const personOf = (name: string, number: number, chance: Chance) => ({
  ...{ name, chance, secrets: ['JBSWY3DPEHPK3PXP'], keys: [] as Authenticator[], recoveryCodes: [] as string[] },
  /** All passwords that the person has ever chosen. */
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
/** The person's present password; if another person has set it, the first one that this person chose; an empty text without any. */
export const passwordOf = ({ name, passwords }: Person): string =>
  passwords.find((each) => hasPassword(userNamed(name), each)) ?? passwords[0] ?? '';
/** The last code in the person's mails. */
export const mailedCode = ({ name }: Pick<Person, 'name'>): string =>
  lettersTo(name)
    .flatMap(({ text }) => /^\d{8}$/m.exec(text) ?? [])
    .at(-1) ?? '';
/** Sends a request twice at the same time, as a client may do that has got no answer. */
export const sendTwice = (browser: Browser, path: string, body: object, more: { origin?: null } = {}) =>
  Promise.allSettled([1, 2].map(() => browser.send('POST', path, { ...json(body), ...more })));

/** `token`: of a link. `post` sends nothing, and returns the body of the answer. */
type Visit = { readonly person: Person; browser: Browser; token: string; post: (path: string) => Promise<string> };
/** A form of a page, or a request of the API. `of`: the name of the route. */
type Form = Omit<ShownForm, 'path'> & { readonly of: string };

const optionsAt = async ({ post }: Visit, path: string) =>
  JSON.parse((await within(path, post(path))).result || '{}').data ?? { challenge: 'none' };
/** The routes whose `code` is of an authenticator app. In other routes, it is the code of a mail. */
const OF_APP = ['confirm-totp', 'second-factor', 'step-up'];
/** The value of each field, which the person types, or the browser makes. */
const FIELDS: Readonly<Record<string, (visit: Visit, form: Form) => unknown>> = {
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
  code: ({ person: { secrets, ...person } }, { of, fields }) =>
    OF_APP.includes(of) ? codeAt(fields.secret || `${secrets.at(-1)}`, kernel.now()) : mailedCode(person),
  async credential(visit, { of, options }) {
    const { keys, chance } = visit.person;
    const own = authenticator({ rpId: new URL(BASE).hostname, origin: BASE });
    const isNew = of === 'add-passkey';
    const asked = () => optionsAt(visit, isNew ? '/users/me/passkeys/options' : '/auth/passkey/options');
    const given = 'challenge' in options ? options : await asked();
    if (isNew) keys.push(own);
    return JSON.stringify(isNew ? own.create(given) : (chance.pick(keys) ?? own).get(given));
  },
  /** An assertion of the former system about the person. */
  assertion({ person: { chance, name } }) {
    const iat = Math.floor(kernel.now() / SECOND);
    const claims = { aud: BASE, sub: userNamed(name)?.id, jti: chance.id(), iat, exp: iat + 60 };
    return compact({ typ: 'adoption+jwt', alg: 'ES256' }, claims, ecdsa(ADOPTION_KEY.privateKey));
  },
};
const filledIn = async (visit: Visit, form: Form, names: readonly string[]): Promise<Fields> => {
  const all = names.map(async (name) => [name, `${(await FIELDS[name]?.(visit, form)) ?? ''}`] as const);
  const fields = { ...form.fields, ...Object.fromEntries(await Promise.all(all)) };
  const wrong = visit.person.chance.happens(0.1) ? visit.person.chance.pick(names) : undefined;
  return wrong === undefined ? fields : { ...fields, [wrong]: `${fields[wrong]}x` };
};
/** A person remembers recovery codes of the answer, and the secrets and passwords that were sent. */
const remember = (person: Person, fields: Fields, answer = ''): void => {
  const codes = answer.match(/(?<=[">])[0-9A-Z-]{29}(?=["<])/g);
  if (codes) person.recoveryCodes = codes;
  if (fields.secret && fields.code) person.secrets.push(fields.secret);
  if (fields.newPassword) person.passwords.push(fields.newPassword);
};

/** The PKCE verifier of the app that all people have. */
const VERIFIER = 'v'.repeat(43);
const TO_APP = new URLSearchParams({
  to: `${ALL_ROUTES.APP_LINKS}?code_challenge=${hash('sha256', VERIFIER, 'base64url')}`,
});
const PATHS = Object.values(PAGES).map(({ path }) => (path === PAGES.app.path ? `${path}?${TO_APP}` : path));

/** Requests a path, and follows redirects, also those to the provider and to the app. @returns the last answer */
const navigate = async (visit: Visit, path: string, fields?: Fields, hops = 0): Promise<Answer | undefined> => {
  const { person, browser } = visit;
  const type = { origin: BASE, 'content-type': 'application/x-www-form-urlencoded' };
  const headers = { accept: 'text/html', ...(fields && type) };
  const body = fields && `${new URLSearchParams(fields)}`;
  const sent = browser.send(fields ? 'POST' : 'GET', path, { origin: null, headers, body });
  if (path.startsWith(PROVIDER.callback) && person.chance.happens(0.3))
    void browser.send('GET', path, { origin: null }).catch(() => undefined);
  const { result: answer } = await within(`${browser.name}: ${path}`, sent);
  const { location = '' } = answer?.headers ?? {};
  trace(`${browser.name} at ${path.split('?')[0]}: ${answer?.status} ${location.replace(/state=.*/, '')}`);
  const [, refresh = ''] = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(answer?.body ?? '') ?? [];
  let next = (location || unescaped(refresh)).replace(BASE, '');
  const query = new URLSearchParams(next.split('?')[1]);
  const code = query.get('code');
  if (next.startsWith(ALL_ROUTES.APP_LINKS) && code)
    await sendTwice(browser, '/auth/login/app', { code, verifier: VERIFIER }, { origin: null });
  if (next.startsWith(PROVIDER.url)) next = `${PROVIDER.callback}?${query}&code=${person.name}`;
  return next.startsWith('/auth/') && hops < 6 ? navigate(visit, next, undefined, hops + 1) : answer;
};

/** Fills in one of the forms of a page, and sends it once or, by a double click, twice. */
const submit = async (visit: Visit, { body }: Answer): Promise<Answer | undefined> => {
  const [{ person }, { chance }] = [visit, visit.person];
  const rare = chance.happens(0.9) ? /^(log-out|delete)\./ : /^$/;
  const shown = [...allFormsIn(body)].filter(([name, all]) => all.length > 0 && !rare.test(name));
  const [name = '', all = []] = chance.pick(shown) ?? [];
  const [page = '', kind = ''] = name.split('.');
  const [row, form] = [(PAGES as Record<string, Page>)[page]?.forms[kind], chance.pick(all)];
  if (row === undefined) return undefined;
  const fields = await filledIn(visit, { ...form, of: row.submits }, row.fields);
  const clicks = Array.from({ length: chance.happens(0.2) ? 2 : 1 }, () => navigate(visit, form.path, fields));
  const answer = (await Promise.all(clicks)).at(-1);
  remember(person, fields, answer?.body);
  return answer;
};

const linkIn = (letter?: Letter) => /(\/auth\/link\/[\w-]+)#token=([\w-]+)/.exec(letter?.text ?? '') ?? [];
/** A person opens the link of a mail, or a random page, and sends some forms there. */
export const visitPages = async (person: Person, browser: Browser, letter?: Letter): Promise<void> => {
  const { chance } = person;
  const [, path = letter ? '' : chance.pick(PATHS), token = 'none'] = linkIn(letter);
  const visit = { person, browser, token, post: async (path: string) => (await browser.send('POST', path)).body };
  // Scanners of mail open links before people do.
  for (const method of letter && chance.happens(0.3) ? ['HEAD', 'GET'] : [])
    await answerTo({ method, path, headers: { accept: 'text/html' }, address: '10.7.7.7' });
  let answer = await navigate(visit, path);
  for (let forms = 1 + chance.below(5); forms > 0 && answer !== undefined; forms -= 1) {
    await kernel.sleep(chance.spread(SECOND, 2 * MINUTE));
    answer = await submit(visit, answer);
  }
};

const TAGS: readonly string[] = ['tokens', 'sessions', 'users', 'factors', 'account'];
/** Tables whose rows have ids that requests name. */
const NAMED = ['sessions', 'factors', 'passkeys', 'identities'] as const;
/** The client sends a request to a random route of the API, half of the time one that opens a session. @param wanted the name of a certain route */
export const request = async (person: Person, browser: Browser, auth: AuthClient, wanted = ''): Promise<void> => {
  const { chance, name } = person;
  const all = instances[0]?.service.routes.filter((each) => isDescribed(each) && TAGS.includes(each.tag)) ?? [];
  const opening = all.filter(({ cookie }) => cookie.writes === 'opens');
  const route = all.find((each) => each.name === wanted) ?? pickOften(chance, chance.happens(0.5) ? opening : all);
  if (route.path === REFRESH) return;
  const textOf = async (path: string, init: RequestInit) => (await auth.fetch(BASE + path, init)).text();
  const post = (path: string) => textOf(path, { method: 'POST' });
  const carryOut = async (): Promise<void> => {
    const [, , token = 'none'] = linkIn(chance.pick(lettersTo(name)));
    const sample = sampleBody(route);
    const isFilledIn = (field: string) => field in FIELDS && (field in sample || chance.happens(0.5));
    const names = Object.keys(bodyFields(route)).filter(isFilledIn);
    const form = { of: route.name, fields: {}, options: {} as never };
    const fields = await filledIn({ person, browser, token, post }, form, names);
    const credential = fields.credential && { credential: JSON.parse(fields.credential) };
    const body = { ...sample, ...fields, ...credential };
    const own = NAMED.flatMap((table) => database.rows(table)).filter(({ userId }) => userId === userNamed(name)?.id);
    const path = samplePath(route, `${chance.pick(own)?.id}`);
    if (opening.includes(route)) {
      if (chance.happens(0.3)) return void (await sendTwice(browser, path, body));
      return void (await auth.logInAt(path as '/auth/login', body as never));
    }
    const sent = { method: route.method, ...(route.request.body && json(body)) };
    remember(person, fields, await textOf(path, sent));
  };
  await traced(`${browser.name} asks for ${route.name}`, carryOut());
};
