import { beforeEach, describe, expect, it, vi } from 'vitest';
import { afterCommitQueue } from '../../../src/adapters/hooks/after-commit.ts';
import { limitedBeforeRegister, limitedClaims } from '../../../src/adapters/hooks/bounded.ts';
import { anEvent, aSession, aUser } from '../../support/builders.ts';
import { silentLogger } from '../../support/silent-logger.ts';

const REGISTRATION = {
  username: 'ada',
  email: 'ada@example.org',
  locale: null,
  address: null,
  userAgent: null,
  invited: false,
  extra: {},
};
const UNAVAILABLE = { code: 'SYS_HOOK_UNAVAILABLE', retryAfter: 5 };

const never = () => new Promise<never>(() => undefined);

describe('an answer of beforeRegister', () => {
  it.each([
    ['nothing', undefined],
    ['another decision', { decision: 'maybe' }],
    ['an unknown member', { decision: 'allow', atributes: {} }],
    ['a long message', { decision: 'refuse', message: 'x'.repeat(201) }],
    ['a message of two lines', { decision: 'refuse', message: 'a\nb' }],
    ['a message with a separator of lines', { decision: 'refuse', message: 'a\u2028b' }],
    ['a message that reorders text', { decision: 'refuse', message: 'a\u202eb' }],
    ['attributes that are a list', { decision: 'allow', attributes: [] }],
    ['an attribute with the name of a claim', { decision: 'allow', attributes: { sub: 'x' } }],
    ['attributes that are too large', { decision: 'allow', attributes: { a: 'x'.repeat(1_024) } }],
    ['attributes that are no JSON', { decision: 'allow', attributes: { a: 1n } }],
  ])('is refused: %s', async (_what, answer) => {
    const outcomes = vi.fn();
    const ask = limitedBeforeRegister(() => answer as never, outcomes);
    await expect(ask(REGISTRATION)).rejects.toMatchObject(UNAVAILABLE);
    expect(outcomes.mock.calls).toEqual([['before-register', 'failed']]);
  });

  it('has its attributes added to those of an invitation, which count if they have the same names', async () => {
    const answering = (attributes: object) =>
      limitedBeforeRegister(() => ({ decision: 'allow', attributes: { ...attributes } }), vi.fn());
    const invited = { role: 'admin', note: 'x'.repeat(900) };
    const answer = await answering({ role: 'member', plan: 'trial' })(REGISTRATION, invited);
    expect(answer).toEqual({ decision: 'allow', attributes: { ...invited, plan: 'trial' } });
    await expect(answering({ more: 'x'.repeat(200) })(REGISTRATION, invited)).rejects.toMatchObject(UNAVAILABLE);
  });
});

it('attributes that were stored before some texts and names were refused do not fail a hook', async () => {
  const attributes = { note: 'x\0', sub: '\ud800' };
  const merged = { ...attributes, plan: 'trial' };
  const claims = limitedClaims(() => ({ plan: 'trial' }), vi.fn());
  expect(await claims({ ...aUser(), attributes }, aSession())).toEqual(merged);
  const register = limitedBeforeRegister(() => ({ decision: 'allow', attributes: { plan: 'trial' } }), vi.fn());
  expect(await register(REGISTRATION, attributes)).toEqual({ decision: 'allow', attributes: merged });
});

/** An object with a member of this name, as a database or a request may have it. */
const withMember = (name: string): object => JSON.parse(`{ "${name}": "admin" }`);

describe('an answer of claims', () => {
  const user = { ...aUser(), attributes: { team: 'x'.repeat(1_000) } };
  const ask = (answer: unknown, observe = vi.fn()) => limitedClaims(() => answer as never, observe)(user, aSession());

  it.each<readonly [string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['a text', 'admin'],
    ...['sub', 'exp', 'iss', 'aud', 'sid', 'user', 'attributes', '__proto__', 'constructor'].map(
      (name) => [`a member ${name}`, withMember(name)] as const,
    ),
    ['__proto__ below', { roles: withMember('__proto__') }],
    ['more than two kilobytes', { roles: 'x'.repeat(2_048), team: '' }],
    ['more than that with the attributes of the user', { roles: 'x'.repeat(1_048) }],
    ['no JSON', { a: 1n }],
  ])('is refused: %s', async (_what, answer) => {
    const outcomes = vi.fn();
    await expect(ask(answer, outcomes)).rejects.toMatchObject(UNAVAILABLE);
    expect(outcomes.mock.calls).toEqual([['claims', 'failed']]);
  });

  it('is merged over the attributes of the user', async () => {
    const outcomes = vi.fn();
    expect(await ask({ team: 'red', roles: ['editor'] }, outcomes)).toEqual({ team: 'red', roles: ['editor'] });
    expect(await ask({}, outcomes)).toEqual(user.attributes);
    expect(await ask(Object.create({ role: 'admin' }), outcomes)).toEqual(user.attributes);
    expect(outcomes.mock.calls).toEqual(Array(3).fill(['claims', 'done']));
  });
});

describe('hooks that do not end', () => {
  beforeEach(() => void vi.useFakeTimers());

  it.each([
    ['a registration after two seconds', 2_000, 'before-register'],
    ['a token after half a second', 500, 'claims'],
  ] as const)('refuse %s, and further ones at once while fifty wait', async (_what, limit, name) => {
    const outcomes = vi.fn();
    const [register, claim] = [limitedBeforeRegister(never, outcomes), limitedClaims(never, outcomes)];
    const answer = () => (name === 'claims' ? claim(aUser(), aSession()) : register(REGISTRATION));
    const ask = () => answer().catch((error: unknown) => error);
    const waiting = Array.from({ length: 50 }, ask);
    expect(await ask()).toMatchObject(UNAVAILABLE);
    expect(outcomes.mock.calls).toEqual([[name, 'dropped']]);
    await vi.advanceTimersByTimeAsync(limit + 500);
    expect(await Promise.all(waiting)).toEqual(Array(50).fill(expect.objectContaining(UNAVAILABLE)));
    const next = ask();
    await vi.advanceTimersByTimeAsync(limit + 500);
    expect(await next).toMatchObject(UNAVAILABLE);
    expect(outcomes).toHaveBeenLastCalledWith(name, 'failed');
  });

  it('hold up the next event for ten seconds, a thousand wait, and a stop waits for five seconds', async () => {
    const heard: string[] = [];
    const [outcomes, error] = [vi.fn(), vi.fn()];
    const events = afterCommitQueue(
      ({ id }) => {
        heard.push(id);
        return never();
      },
      Object.assign(Object.create(silentLogger), { error }),
      outcomes,
    );
    const added = Array.from({ length: 1_003 }, () => anEvent());
    added.forEach(events.add);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(heard).toEqual([added[0]?.id]);
    await vi.advanceTimersByTimeAsync(1);
    expect(heard).toEqual([added[0]?.id, added[1]?.id]);
    const dropped = outcomes.mock.calls.filter(([, outcome]) => outcome === 'dropped');
    expect(dropped.length).toBeGreaterThan(0);
    const closed = events.close().catch((failure: unknown) => failure);
    expect(error).toHaveBeenLastCalledWith({ count: dropped.length }, expect.stringContaining('too many waited'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await closed).toBeInstanceOf(Error);
  });
});
