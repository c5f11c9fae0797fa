import { performAct } from '../../src/adapters/http/routes/back-office/act.ts';
import { ACTS } from '../../src/adapters/http/routes/back-office/acts.ts';
import type { EndedList } from '../../src/domain/ended-session.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { database } from './database.ts';
import { ask, askForLogIn } from './internet.ts';
import { type Chance, expect, kernel, MINUTE, SECOND, tell } from './kernel.ts';
import { BASE, claimsOf, sessionOf } from './requests.ts';
import { instances } from './service.ts';
import { passwordOf, people } from './visitor.ts';
import { facts, faultWithin, forgotSince, userNamed } from './world.ts';

/** Operators, who mistype addresses, and other services. */

/** As often as each is there. */
const DONE = [
  ...(['disable-user', 'disable-user', 'enable-user', 'end-sessions', 'end-all-sessions', 'delete-user'] as const),
  ...(['set-email', 'set-email', 'verify-email', 'resend', 'reset-link', 'invite'] as const),
  ...(['remove-factors', 'unlock-user'] as const),
];
/** What acts are told. */
const bodyOf = (chance: Chance) => ({
  ...{ reason: 'an exercise', attributes: {}, locale: null, handOver: chance.happens(0.5) },
  /** Perhaps that of somebody else, or of nobody. */
  email: `${chance.pick([...people, { name: 'adda' }]).name}@example.${chance.pick(['org', 'net'])}`,
  ...chance.pick([{ emailVerified: true }, { final: true }, {}, {}]),
});

const act = async (name: keyof typeof ACTS, id: string, body?: object): Promise<{ code?: string; url?: string }> => {
  const instance = instances.find(({ line }) => !line.isDead);
  if (instance === undefined) return { code: 'none is up' };
  const deps = { ...instance.service.deps, hasMail: true, accountPagesUrl: `${BASE}/auth/link` };
  const done = performAct(ACTS[name], deps, { id, body, query: undefined }, NO_ORIGIN);
  const outcome = done.catch(({ code }) => ({ code }));
  return Object(await Promise.race([outcome, kernel.sleep(MINUTE)]));
};

/** @returns when what was done is over */
export const operate = async (chance: Chance, time: number): Promise<void> => {
  const user = database.rows('users').at(chance.below(5));
  if (user === undefined) return;
  const [id, name] = [String(user.id), chance.pick(DONE)];
  const { code, url } = await act(name, id, bodyOf(chance));
  tell(`operator: ${name} ${user.username}: ${code ?? 'done'}`);
  if (url) facts.letters.push({ to: String(user.email), text: url });
  if (name !== 'disable-user' || code) return;
  await kernel.sleep(time);
  while ((await act('enable-user', id)).code) await kernel.sleep(5 * SECOND);
};

/** Everybody is disabled, and tries to log in. */
export const disableAll = async (): Promise<void> => {
  for (const person of people) {
    await act('disable-user', String(userNamed(person.name)?.id));
    await askForLogIn('10.8.8.8', person.name, passwordOf(person));
  }
};

/** Another service asks for each session that ends, by its last token, in both ways. */
const judgeEnd = async (id: string, token: string, delay: number): Promise<void> => {
  const endedAt = kernel.time;
  await kernel.sleep(delay);
  const [at, headers] = [{ method: 'GET', address: '10.9.9.9' }, { authorization: `Bearer ${token}` }];
  const requests = [
    ask({ ...at, path: '/auth/gateway', headers }),
    ask({ ...at, path: '/.well-known/ended-sessions' }),
  ];
  const [gateway, feed] = await Promise.all(requests);
  if (!gateway || gateway.status === 429 || feed?.status !== 200) return;
  const list = claimsOf(feed.body) as unknown as EndedList;
  const entries: { sid?: string; sub?: string }[] = [list.sessions ?? [], list.users ?? []].flat();
  const isListed = entries.some(({ sid, sub }) => sid === id || sub === claimsOf(token).sub);
  expect(
    'the feed of ended sessions and the gateway agree within two seconds',
    gateway.status === 401 && (isListed || list.before !== undefined || delay > 1_000 * list.lifetime),
    () => `${id}: ${gateway.status}, ${feed.status} ${isListed}`,
    faultWithin() || forgotSince(endedAt),
  );
};
database.watch('endedSessions', ({ after }) => {
  if (!after) return;
  const isOf = ([id, token]: [string, string]) => id === after.sessionId || claimsOf(token).sub === after.userId;
  const [, token] = [...facts.tokens].find(isOf) ?? [];
  // The last access token lives for a minute more.
  if (token) for (const delay of [2 * SECOND, 14 * MINUTE]) void judgeEnd(sessionOf(token), token, delay);
});
