import type { KeyPair, TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { testKeys } from '../support/keys.ts';
import { HOUR, kernel, MINUTE, SECOND } from './kernel.ts';
import { operate } from './operators.ts';
import type { World } from './world.ts';

/** Sets a member for some time. */
const during = async <Of extends object>(target: Of, changed: Partial<Of>, milliseconds: number): Promise<void> => {
  const before = { ...target };
  Object.assign(target, changed);
  await kernel.sleep(milliseconds);
  for (const name of Object.keys(changed)) Object.assign(target, { [name]: before[name as keyof Of] });
};

/** Milliseconds: twice as long is within the race window, so nobody is out by a slow line alone. */
const SLOWEST = 4_500;

type Target = (world: World) => object;
const data: Target = ({ database }) => database.faults;
const browser: Target = ({ chance, browsers }) => chance.pick(browsers);
const line: Target = ({ chance, browsers }) => chance.pick(browsers).line;
const outside: Target = (world) => world.outside;

const someTime = ({ chance, horizon }: World, most: number = HOUR) =>
  chance.spread(SECOND, Math.min(most, horizon / 20));
/** A member has a value for some time: `true`, or one between these. */
const lasting =
  (target: Target, member: string, range: true | [low: number, high: number], most?: number) =>
  (world: World): Promise<void> =>
    during(target(world), { [member]: range === true || world.chance.spread(...range) }, someTime(world, most));

const FAULTS = {
  latency: lasting(data, 'latency', [5, 300]),
  statements: lasting(data, 'failing', [0.01, 0.6], 5 * MINUTE),
  unanswered: lasting(data, 'unanswered', [0.02, 0.6], 5 * MINUTE),
  /** It is read-only, or its disk is full. */
  refused: lasting(data, 'refused', [0.05, 1], 5 * MINUTE),
  frozen: lasting(data, 'isFrozen', true, 50 * SECOND),
  down: lasting(data, 'isDown', true, 50 * SECOND),
  cut: lasting(({ chance, instances }) => chance.pick(instances).line, 'isCut', true, 40 * SECOND),
  counts: lasting(outside, 'hasNoCounts', true),
  mail: lasting(outside, 'mail', [0.1, 1]),
  replies: lasting(outside, 'replies', [0.01, 0.3]),
  hooks: lasting(outside, 'hooks', [0.1, 1]),
  providers: lasting(outside, 'providers', [0.1, 1]),
  requests: lasting(line, 'lost', [0.05, 0.7]),
  slow: (world) => during(line(world), { delay: [20, SLOWEST] }, someTime(world)),
  doubled: lasting(line, 'doubled', [0.05, 0.9]),
  answers: lasting(line, 'unanswered', [0.05, 0.7]),
  keys: lasting(browser, 'keyFaults', [0.05, 0.9]),
  async forget(world) {
    await world.internet.atRefresh();
    await kernel.sleep(world.chance.spread(1, 3 * SECOND));
    const milliseconds = world.chance.spread(10, 5 * SECOND);
    const lost = world.database.forget(milliseconds);
    if (lost.length > 0) world.facts.forgotten.push(kernel.time);
    world.story.tell(`a fail-over forgets ${Math.round(milliseconds)} ms: ${lost.map(({ table }) => table)}`);
    for (const { table, key, after } of lost)
      if (table === 'sessions' && after === undefined) world.facts.ended.delete(JSON.parse(key)[0]);
    await FAULTS.down(world);
  },
  async kill(world) {
    await world.internet.atRefresh();
    await kernel.sleep(world.chance.spread(0.1, 500));
    await restart(world, world.chance.below(world.instances.length));
  },
  /** Another version takes the place of each instance in turn. */
  async roll(world) {
    const { settings } = world.around;
    settings.JWT_ACCESS_EXPIRES_IN = settings.JWT_ACCESS_EXPIRES_IN === '5m' ? '15m' : '5m';
    await restartAll(world);
  },
  /** All know the new keys before one signs with them. */
  async rotate(world) {
    const { config } = world.around;
    const { keys } = config;
    const next = testKeys();
    for (const [own, other] of [[keys, next] as const, [next, keys] as const]) {
      const both = (kind: keyof TokenKeys): KeyPair => ({
        ...own[kind],
        publicKeys: [...own[kind].publicKeys, ...other[kind].publicKeys],
      });
      config.keys = { access: both('access'), refresh: both('refresh') };
      await restartAll(world);
    }
  },
  operator: (world) => operate(world, someTime(world)),
} as const satisfies Record<string, (world: World) => Promise<void>>;
export type Fault = keyof typeof FAULTS;
export const ALL_FAULTS = Object.keys(FAULTS) as Fault[];

const restart = async ({ chance, instances, open }: World, at: number): Promise<void> => {
  instances[at]?.kill();
  await kernel.sleep(chance.spread(SECOND, 20 * SECOND));
  instances[at] = await open();
};
const restartAll = async (world: World): Promise<void> => {
  for (const at of world.instances.keys()) await restart(world, at);
};

/** One fault after the other, one of them more often. */
export const trouble = async (world: World, kinds: readonly Fault[]): Promise<void> => {
  const { story, facts, chance, horizon, isOver } = world;
  const hot = kinds[world.hotFault % kinds.length] as Fault;
  while (!isOver() && kinds.length > 0) {
    await kernel.sleep(chance.spread(3 * SECOND, horizon / 20));
    if (isOver()) return;
    const kind = chance.happens(0.6) ? hot : chance.pick(kinds);
    story.tell(`fault: ${kind}`);
    facts.lastFault = Number.POSITIVE_INFINITY;
    await FAULTS[kind](world);
    facts.lastFault = kernel.time;
  }
};
