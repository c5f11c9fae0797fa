import { randomBytes } from 'node:crypto';
import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { bodyOf, dataOf, errorOf, hold, isObject, membersOf, show } from '../expectations.ts';
import { Skipped } from '../outcome.ts';
import { asBearer, ifOffered, tokensOf, type World } from '../world.ts';

const SOURCE = ['0010', 'Links in mail reset passwords, verify and change addresses, and give accounts back'] as const;

const noCookie = ({ setCookies, to }: Reply): void =>
  hold(setCookies.length === 0, 'no Set-Cookie', `${setCookies.length} (${to})`);

/** What a stranger sees of a response, without its time and its request id. */
const visibleIn = (reply: Reply): string => {
  const { timestamp: _time, context, ...body } = bodyOf(reply);
  const { requestId: _id, ...rest } = isObject(context) ? context : {};
  return show([reply.status, { ...body, context: rest }, Object.keys(reply.headers).sort()]);
};

const expectAlike = (known: Reply, unknown: Reply): void => {
  const [one, other] = [visibleIn(known), visibleIn(unknown)];
  hold(one === other, `the same response whether or not the address has an account (${known.to})`, `${one}, ${other}`);
  for (const reply of [known, unknown]) noCookie(reply);
};

/** Asks for a link with an address that has an account, and with one that has none. */
const asksAlike =
  (path: string) =>
  async ({ registered, send, person }: World) => {
    dataOf(await registered());
    const ask = (email: string) => send({ method: 'POST', path, body: { email } });
    const known = ifOffered(await ask(person.email));
    dataOf(known);
    expectAlike(known, await ask(`nobody.${person.email}`));
  };

const LINK_ROUTES = [
  '/auth/password-reset/confirm',
  '/auth/email-verification/confirm',
  '/auth/email-verification/not-me',
  '/auth/email-change/confirm',
  '/auth/email-change/undo',
];

const refusesMadeUpTokens = async ({ send, person }: World): Promise<void> => {
  let offered = 0;
  for (const path of LINK_ROUTES) {
    const body = {
      token: randomBytes(32).toString('base64url'),
      ...(path.includes('password') && { newPassword: `${person.password}-new` }),
    };
    const reply = await send({ method: 'POST', path, body });
    try {
      ifOffered(reply);
    } catch (error) {
      if (error instanceof Skipped) continue;
      throw error;
    }
    offered += 1;
    errorOf(reply, 400, 'AUTH_LINK_INVALID');
    noCookie(reply);
  }
  if (offered === 0) throw new Skipped(`there are no routes ${LINK_ROUTES.join(', ')}`);
};

/** Links are sent by mail, which the suite does not read: what shows without one. */
export const mailedLinks: readonly Check[] = [
  {
    id: 'password-reset-request',
    source: SOURCE,
    title: 'asking for a link to reset a password does not reveal whether an address has an account',
    run: asksAlike('/auth/password-reset'),
  },
  {
    id: 'email-verification-request',
    source: SOURCE,
    title: 'asking for a link to verify an address does not reveal whether it has an account',
    run: asksAlike('/auth/email-verification'),
  },
  {
    id: 'made-up-links',
    source: SOURCE,
    title: 'a made-up token of a link answers 400 AUTH_LINK_INVALID, and the user logs in as before',
    run: async (world) => {
      dataOf(await world.registered());
      await refusesMadeUpTokens(world);
      dataOf(await world.login(world.person.email, world.person.password));
    },
  },
  {
    id: 'email-change-request',
    source: SOURCE,
    title: 'a new address needs the password, reveals nothing of other accounts, and counts only when it is verified',
    run: async ({ registered, secondRegistered, send, person, second }) => {
      dataOf(await registered());
      const headers = asBearer(tokensOf(await secondRegistered()).access);
      const ask = (email: string, password: string) =>
        send({ method: 'PUT', path: '/users/me/email', headers, body: { email, password } });
      const free = `new.${second.email}`;
      errorOf(ifOffered(await ask(free, `${second.password}x`)), 401, 'AUTH_CREDENTIALS_INVALID');
      const known = await ask(person.email, second.password);
      dataOf(known);
      expectAlike(known, await ask(free, second.password));
      const { email } = membersOf(await send({ method: 'GET', path: '/users/me', headers }));
      hold(email === second.email, `the address ${second.email}`, email);
    },
  },
];
