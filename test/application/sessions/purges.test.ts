import { describe, expect, it } from 'vitest';
import { purges } from '../../../src/application/sessions/purge.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { EMAIL, inShort, registeredAda } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';
import { aLink, anEvent } from '../../support/builders.ts';

describe('the purge of events', () => {
  /** Ada's registration, and events of the next days. */
  const setUp = async () => {
    const ada = await registeredAda();
    const { app, user } = ada;
    const start = app.clock.now();
    const at = (day: number) => anEvent({ id: app.ids.next(), userId: user.id, at: start + day * DAY });
    await app.events.add([at(1), at(2), at(3)]);
    const days = async () => (await ada.ofAda()).events.map((event) => (event.at - start) / DAY);
    return { ...ada, days, purge: purges({ ...app, eventsRetention: 30 * DAY }).events };
  };

  it('deletes what was kept for longer than the retention, and says how many', async () => {
    const { app, days, purge } = await setUp();
    app.clock.advance(31 * DAY);
    expect(await purge(100)).toBe(1);
    expect(await days()).toEqual([3, 2, 1]);
    app.clock.advance(1);
    expect(await purge(100)).toBe(1);
    expect(await purge(100)).toBe(0);
    expect(await days()).toEqual([3, 2]);
  });

  it('deletes at most as many as it is asked to, the oldest first', async () => {
    const { app, days, purge } = await setUp();
    app.clock.advance(100 * DAY);
    expect(await purge(3)).toBe(3);
    expect(await days()).toEqual([3]);
  });
});

describe('the purge of links', () => {
  it('deletes expired links, at most as many as it is asked to, and keeps the live ones', async () => {
    const { app, user, purposes } = await registeredAda();
    const now = app.clock.now();
    const put = (purpose: Parameters<typeof aLink>[0] & object) =>
      app.links.put(aLink({ userId: user.id, ...purpose }));
    await put({ purpose: 'password-reset', expiresAt: now + MINUTE });
    await put({ purpose: 'not-me', expiresAt: now + MINUTE });
    await put({ purpose: 'email-change', expiresAt: now + MINUTE });
    await put({ purpose: 'email-change-undo', email: EMAIL, expiresAt: now + MINUTE + 1 });
    const purge = purges({ ...app, eventsRetention: DAY }).links;
    expect(await purge(100)).toBe(0);
    app.clock.advance(MINUTE);
    expect([await purge(2), await purge(2), await purge(2)]).toEqual([2, 1, 0]);
    expect(await purposes()).toEqual(['email-change-undo']);
  });
});

describe('the purge of sessions', () => {
  /** Ada, who registered a day before she logged in. */
  const setUp = async () => {
    const ada = await registeredAda();
    const { app, session: first } = ada;
    app.clock.advance(DAY);
    const second = await ada.logIn();
    app.clock.advance(6 * DAY);
    return { ...ada, first, second, purge: purges({ ...app, eventsRetention: DAY }).sessions };
  };

  it('deletes expired sessions, and records why, without an origin', async () => {
    const { app, first, second, ofAda, purge } = await setUp();
    expect(await purge(100)).toBe(1);
    const { sessions, events } = await ofAda();
    expect(sessions).toMatchObject([{ id: second.sessionId }]);
    expect(events.map(inShort)).toEqual(['session-ended: expired', 'logged-in', 'registered']);
    expect(events[0]).toMatchObject({ sessionId: first.sessionId, at: app.clock.now(), ...NO_ORIGIN });
  });

  it('records each of them once, and at most as many as it is asked to', async () => {
    const { app, first, second, happened, purge } = await setUp();
    app.clock.advance(DAY);
    expect([await purge(1), await purge(1), await purge(1)]).toEqual([1, 1, 0]);
    expect((await happened()).slice(0, 2)).toEqual(Array(2).fill('session-ended: expired'));
    for (const { refreshToken } of [first, second]) await expect(app.refresh([refreshToken])).rejects.toThrow();
  });
});

describe('the purge of used values', () => {
  it('keeps a value for as long as an instance whose clock is behind may take it for live', async () => {
    const { app } = await registeredAda();
    await app.used.use('value', app.clock.now() + MINUTE);
    const purge = purges({ ...app, eventsRetention: DAY }).usedValues;
    app.clock.advance(11 * MINUTE);
    expect(await purge(100)).toBe(0);
    expect(await app.used.use('value', app.clock.now())).toBe(false);
    app.clock.advance(DAY);
    expect(await purge(100)).toBe(1);
  });
});
