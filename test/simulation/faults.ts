import type { KeyPair, TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { testKeys } from '../support/keys.ts';
import { database } from './database.ts';
import { atRefresh } from './internet.ts';
import { type Chance, HOUR, kernel, MINUTE, SECOND, tell } from './kernel.ts';
import { operate } from './operators.ts';
import { deployment, instances, openInstance, outside } from './service.ts';
import { allBrowsers } from './visitor.ts';
import { facts, horizon, hotOf, world } from './world.ts';

/** Milliseconds: twice as long is within the race window, so nobody is out by a slow line alone. */
const SLOWEST = 4_500;

type Draw<Value> = (chance: Chance) => Value;
const ofDatabase = () => database.faults;
const ofBrowser: Draw<object> = (chance) => chance.pick(allBrowsers());
const ofLine: Draw<object> = (chance) => chance.pick(allBrowsers()).line;
const ofOutside = () => outside;
const rate =
  (low: number, high: number): Draw<number> =>
  (chance) =>
    chance.spread(low, high);
const someTime = (chance: Chance, most: number = HOUR) => chance.spread(SECOND, Math.min(most, horizon() / 20));

/** A member has a value for some time. */
const lasting =
  (targetOf: Draw<object>, member: string, value: Draw<unknown>, most?: number) =>
  async (chance: Chance): Promise<void> => {
    const target = targetOf(chance);
    const before = Object(target)[member];
    Object.assign(target, { [member]: value(chance) });
    await kernel.sleep(someTime(chance, most));
    Object.assign(target, { [member]: before });
  };

const FAULTS = {
  latency: lasting(ofDatabase, 'latency', rate(5, 300)),
  statements: lasting(ofDatabase, 'failing', rate(0.01, 0.6), 5 * MINUTE),
  unanswered: lasting(ofDatabase, 'unanswered', rate(0.02, 0.6), 5 * MINUTE),
  /** It is read-only, or its disk is full. */
  refused: lasting(ofDatabase, 'refused', rate(0.05, 1), 5 * MINUTE),
  frozen: lasting(ofDatabase, 'isFrozen', () => true, 50 * SECOND),
  down: lasting(ofDatabase, 'isDown', () => true, 50 * SECOND),
  cut: lasting(
    (chance) => chance.pick(instances).line,
    'isCut',
    () => true,
    40 * SECOND,
  ),
  counts: lasting(ofOutside, 'hasNoCounts', () => true),
  mail: lasting(ofOutside, 'mail', rate(0.1, 1)),
  replies: lasting(ofOutside, 'replies', rate(0.01, 0.3)),
  hooks: lasting(ofOutside, 'hooks', rate(0.1, 1)),
  providers: lasting(ofOutside, 'providers', rate(0.1, 1)),
  requests: lasting(ofLine, 'lost', rate(0.05, 0.7)),
  slow: lasting(ofLine, 'delay', () => [20, SLOWEST]),
  doubled: lasting(ofLine, 'doubled', rate(0.05, 0.9)),
  answers: lasting(ofLine, 'unanswered', rate(0.05, 0.7)),
  keys: lasting(ofBrowser, 'keyFaults', rate(0.05, 0.9)),
  async forget(chance) {
    await atRefresh();
    await kernel.sleep(chance.spread(1, 3 * SECOND));
    const milliseconds = chance.spread(10, 5 * SECOND);
    const lost = database.forget(milliseconds);
    if (lost.length > 0) facts.forgotten.push(kernel.time);
    tell(`a fail-over forgets ${Math.round(milliseconds)} ms: ${lost.map(({ table }) => table)}`);
    for (const { table, key, after } of lost)
      if (table === 'sessions' && !after) facts.ended.delete(JSON.parse(key)[0]);
    await FAULTS.down(chance);
  },
  async kill(chance) {
    await atRefresh();
    await kernel.sleep(chance.spread(0.1, 500));
    await restart(chance, chance.below(instances.length));
  },
  /** Another version takes the place of each instance in turn. */
  async roll(chance) {
    const { settings } = deployment;
    settings.JWT_ACCESS_EXPIRES_IN = settings.JWT_ACCESS_EXPIRES_IN === '5m' ? '15m' : '5m';
    await restartAll(chance);
  },
  /** All know the new keys before one signs with them. */
  async rotate(chance) {
    const { keys } = deployment;
    const next = testKeys();
    for (const [own, other] of [[keys, next] as const, [next, keys] as const]) {
      const both = (kind: keyof TokenKeys): KeyPair => ({
        ...own[kind],
        publicKeys: [...own[kind].publicKeys, ...other[kind].publicKeys],
      });
      deployment.keys = { access: both('access'), refresh: both('refresh') };
      await restartAll(chance);
    }
  },
  operator: (chance) => operate(chance, someTime(chance)),
} as const satisfies Record<string, Draw<Promise<void>>>;
export type Fault = keyof typeof FAULTS;
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[];

const restart = async (chance: Chance, at: number): Promise<void> => {
  instances[at]?.kill();
  await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  instances[at] = await openInstance();
};
const restartAll = async (chance: Chance): Promise<void> => {
  for (const at of instances.keys()) await restart(chance, at);
};

/** One fault after the other, one of them more often. */
export const trouble = async (chance: Chance, kinds: readonly Fault[]): Promise<void> => {
  while (!world.isOver && kinds.length > 0) {
    await kernel.sleep(chance.spread(3 * SECOND, horizon() / 20));
    if (world.isOver) return;
    const kind = chance.happens(0.6) ? hotOf(kinds) : chance.pick(kinds);
    tell(`fault: ${kind}`);
    facts.lastFault = Number.POSITIVE_INFINITY;
    await FAULTS[kind](chance);
    facts.lastFault = kernel.time;
  }
};
