import { performAct } from '../../src/adapters/http/routes/back-office/act.ts';
import { ACTS } from '../../src/adapters/http/routes/back-office/acts.ts';
import type { EndedList } from '../../src/domain/ended-session.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { database } from './database.ts';
import { answerTo, askForLogIn } from './internet.ts';
import { type Chance, expect, kernel, MINUTE, SECOND, trace } from './kernel.ts';
import { BASE, claimsOf, sessionOf } from './requests.ts';
import { instances } from './service.ts';
import { passwordOf, people } from './visitor.ts';
import { facts, faultWithin, forgotSince, userNamed } from './world.ts';

/** Operators, who sometimes mistype addresses, and other services that verify access tokens. */

type Name = keyof typeof ACTS;
const ALL = [...(Object.keys(ACTS) as Name[]), 'disable-user', 'set-email', 'invite'] as const;

const perform = async (name: Name, given: { readonly [member: string]: unknown; body?: object }) => {
  const instance = instances.find(({ line }) => !line.isDead);
  const settings = { hasMail: true, accountPagesUrl: `${BASE}/auth/link`, resetLinkHandOver: 'on' };
  const deps = { ...instance?.service.deps, ...settings };
  const done = instance && performAct(ACTS[name], deps as never, { body: {}, query: undefined, ...given }, NO_ORIGIN);
  const outcome = done?.catch(({ code }) => ({ code }));
  return Object(await Promise.race([outcome ?? { code: 'none is up' }, kernel.sleep(MINUTE)]));
};

/** An operator does a random act about a random user. A disabled user is enabled again after `time` milliseconds. */
export const actAtRandom = async (chance: Chance, time: number): Promise<void> => {
  const [user, name] = [database.rows('users').at(chance.below(5)), chance.pick(ALL)];
  if (user === undefined) return;
  const one = (table: 'sessions' | 'identities') => database.rows(table).find(({ userId }) => userId === user.id)?.id;
  /** It may be the address of another user, or of no user. */
  const email = `${chance.pick([...people, { name: 'adda' }]).name}@example.${chance.pick(['org', 'net'])}`;
  const kind = chance.pick([{ emailVerified: true }, { final: true }, { sendLink: true }, {}]);
  const body = { email, attributes: {}, handOver: chance.happens(0.5), reason: 'an exercise', ...kind };
  const ids = { id: name === 'replay-webhook' ? 'receiver' : user.id };
  const more = { sessionId: one('sessions'), identityId: one('identities'), body };
  const { code, url } = await perform(name, { ...ids, ...more });
  trace(`operator: ${name} ${user.username}: ${code ?? 'done'}`);
  if (url) facts.letters.push({ to: String(user.email), text: url });
  if (name !== 'disable-user' || code) return;
  await kernel.sleep(time);
  while ((await perform('enable-user', ids)).code) await kernel.sleep(5 * SECOND);
};

/** An operator disables each user, who then tries to log in. */
export const disableAll = async (): Promise<void> => {
  for (const person of people) {
    await perform('disable-user', { id: userNamed(person.name)?.id });
    await askForLogIn('10.8.8.8', person.name, passwordOf(person));
  }
};

/** Another service checks the last access token of an ended session in both ways: at the gateway, and in the list of ended sessions. */
const judgeEndedSession = async (id: string, token: string, delay: number): Promise<void> => {
  const endedAt = kernel.time;
  await kernel.sleep(delay);
  const get = (path: string, headers = {}) => answerTo({ method: 'GET', address: '10.9.9.9', path, headers });
  const asked = [get('/auth/gateway', { authorization: `Bearer ${token}` }), get('/.well-known/ended-sessions')];
  const [gateway, feed] = await Promise.all(asked);
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
  // 14 minutes later, the last access token may still be valid for a minute.
  if (token) for (const delay of [2 * SECOND, 14 * MINUTE]) void judgeEndedSession(sessionOf(token), token, delay);
});
