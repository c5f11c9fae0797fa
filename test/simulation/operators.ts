import { perform } from '../../src/adapters/http/routes/back-office/act.ts';
import { ACTS } from '../../src/adapters/http/routes/back-office/acts.ts';
import type { EndedList } from '../../src/domain/ended-session.ts';
import { NO_ORIGIN } from '../../src/domain/event.ts';
import { partOf, sessionOf } from './facts.ts';
import { kernel, MINUTE, SECOND } from './kernel.ts';
import { BASE } from './service.ts';
import type { World } from './world.ts';

/** Operators, who mistype addresses, and other services. */

/** How often an act is chosen, and what it is given. */
const DONE: readonly (readonly [act: keyof typeof ACTS, body?: (world: World) => object | undefined])[] = [
  ['disable-user'],
  ['disable-user'],
  ['end-sessions'],
  ['end-all-sessions', () => ({ reason: 'an exercise' })],
  ['set-email', (world) => ({ email: addressIn(world), emailVerified: world.chance.happens(0.3), final: false })],
  ['set-email', (world) => ({ email: addressIn(world), emailVerified: false, final: world.chance.happens(0.5) })],
  ['verify-email'],
  ['resend'],
  ['reset-link', ({ chance }) => ({ handOver: chance.happens(0.5) })],
  ['remove-factors'],
  ['unlock-user'],
  ['invite', (world) => ({ email: addressIn(world), attributes: {}, locale: null })],
  ['delete-user'],
];
/** Perhaps that of somebody else, or of nobody. */
const addressIn = ({ chance, people }: World): string =>
  `${chance.pick([...people, { name: 'adda' }]).name}@example.${chance.pick(['org', 'net'])}`;

const act = async (world: World, name: keyof typeof ACTS, id: string, body?: object): Promise<unknown> => {
  const instance = world.instances.find(({ isUp }) => isUp());
  if (instance === undefined) return null;
  const deps = { ...instance.service.deps, hasMail: true, accountPagesUrl: `${BASE}/auth/link` };
  const done = perform(ACTS[name], deps, { id, body }, NO_ORIGIN);
  const outcome = done.catch((error: { code?: string }) => ({ code: error.code }));
  return Promise.race([outcome, kernel.sleep(MINUTE)]);
};

/** @returns when what was done is over */
export const operate = async (world: World, time: number): Promise<void> => {
  const { chance, database, facts, story } = world;
  const user = database.rows('users').at(chance.below(5));
  if (user === undefined) return;
  const id = String(user.id);
  const [name, bodyOf] = chance.pick(DONE);
  const result = Object(await act(world, name, id, bodyOf?.(world)));
  story.tell(`operator: ${name} ${user.username}: ${result.code ?? 'done'}`);
  if (result.url) facts.letters.push({ to: String(user.email), text: result.url });
  if (name !== 'disable-user' || result.code) return;
  await kernel.sleep(time);
  while (Object((await act(world, 'enable-user', id)) ?? { code: 'none is up' }).code) await kernel.sleep(5 * SECOND);
};

/** Another service asks for each session that ends, by its last token, in both ways. */
export const watchEnded = ({ facts, story, ask, database }: World): void => {
  const headers = (token: string) => ({ authorization: `Bearer ${token}` });
  const judge = async (id: string, token: string, delay: number): Promise<void> => {
    const endedAt = kernel.time;
    await kernel.sleep(delay);
    const at = { method: 'GET', address: '10.9.9.9' };
    const [gateway, feed] = await Promise.all([
      ask({ ...at, path: '/auth/gateway', headers: headers(token) }),
      ask({ ...at, path: '/.well-known/ended-sessions', headers: {} }),
    ]);
    if (gateway === null || gateway.status === 429 || feed?.status !== 200) return;
    const list = partOf(feed.body, 1) as unknown as EndedList;
    const entries: { sid?: string; sub?: string }[] = [list?.sessions ?? [], list?.users ?? []].flat();
    const isListed = entries.some(({ sid, sub }) => sid === id || sub === partOf(token, 1)?.sub);
    story.expect(
      'the feed of ended sessions and the gateway agree within two seconds',
      gateway.status === 401 && (isListed || list.before !== undefined || delay > 1_000 * list.lifetime),
      () => `${id}: ${gateway.status}, ${feed.status} ${isListed}`,
      facts.faultWithin(MINUTE) || facts.forgotSince(endedAt),
    );
  };
  database.watchers.push((changes) => {
    for (const { table, after } of changes) {
      if (table !== 'endedSessions' || !after) continue;
      const [, token] =
        [...facts.tokens].find(([id, each]) => id === after.sessionId || partOf(each, 1)?.sub === after.userId) ?? [];
      // The last access token lives for a minute more.
      if (token) for (const delay of [2 * SECOND, 14 * MINUTE]) void judge(sessionOf(token), token, delay);
    }
  });
};
