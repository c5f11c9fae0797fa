// Proves ASVS 8.2.2; member-1

import { describe, expect, it } from 'vitest';
import { exportAccount, listEvents } from '../../../src/application/accounts/account-data.ts';
import { COUNTING_PERIOD, EVENTS_KEPT, NO_ORIGIN } from '../../../src/domain/event.ts';
import { BOB, EMAIL, registeredAda } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';
import { anEvent, aRememberedDevice } from '../../support/builders.ts';
import { storeEvents } from '../../support/stored-events.ts';

describe('exportAccount', () => {
  const setUp = async () => {
    const ada = await registeredAda();
    const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
    return {
      ...ada,
      /** Without its own event and mail. */
      exported: async () => {
        const { events, messages, ...rest } = await exportAccount(ada.app)(caller);
        const isOther = ({ kind }: { readonly kind: string }) => kind !== 'exported';
        expect(events[0]).toMatchObject({ kind: 'exported', sessionId: caller.sessionId });
        return { ...rest, events: events.filter(isOther), messages: messages.filter(isOther) };
      },
    };
  };

  it('returns everything that is stored about a user, and no secret', async () => {
    const { app, user, session, linkIn, exported } = await setUp();
    await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    const message = { kind: 'email-changed', userId: user.id, to: EMAIL, email: 'new@example.org' } as const;
    await app.enqueue(message, { ...NO_ORIGIN, actor: 'Una' });
    app.clock.advance(MINUTE);
    await app.users.update(user.id, { attributes: { roles: ['admin'] }, now: user.updatedAt });
    await app.refresh([session.refreshToken]);
    const device = aRememberedDevice({ userId: user.id });
    await app.records.insert('rememberedDevices', device);
    const now = app.clock.now();
    const createdAt = now - MINUTE;
    const nowhere = { userAgent: null, address: null };
    const id = expect.any(String);
    const all = await exported();
    expect(all).toStrictEqual({
      ...all,
      exportedAt: now,
      user: {
        ...user,
        passwordChangedAt: 0,
        emailVerifiedAt: null,
        disabledAt: null,
        secondFactorAt: null,
        attributes: { roles: ['admin'] },
        locale: null,
      },
      sessions: [
        {
          id: session.sessionId,
          createdAt,
          lastUsedAt: now,
          expiresAt: now + 7 * DAY,
          authenticatedAt: createdAt,
          amr: ['pwd'],
          knownAt: createdAt,
          heldAt: null,
          ...nowhere,
          binding: 'none',
        },
      ],
      rememberedDevices: [{ id: device.id, createdAt: device.createdAt, expiresAt: device.expiresAt, ...nowhere }],
      events: [
        {
          id,
          kind: 'registered',
          method: null,
          at: createdAt,
          sessionId: session.sessionId,
          reason: null,
          count: 1,
          requestId: null,
          ...nowhere,
          note: null,
          actor: null,
        },
      ],
      links: [{ purpose: 'password-reset', email: EMAIL, createdAt, expiresAt: createdAt + 30 * MINUTE }],
      messages: [
        {
          id,
          kind: 'email-changed',
          to: EMAIL,
          email: 'new@example.org',
          origin: { requestId: null, ...nowhere },
          createdAt,
        },
      ],
    });
  });

  it('leaves out what has expired', async () => {
    const { app, user, linkIn, logIn } = await setUp();
    await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    app.clock.advance(MINUTE);
    const { sessionId } = await logIn();
    app.clock.advance(7 * DAY - MINUTE);
    const exported = await exportAccount(app)({ userId: user.id, sessionId });
    expect(exported).toMatchObject({ sessions: [{ id: sessionId }], links: [] });
  });

  it('says that an operator did something, but not which one', async () => {
    const { app, user, exported } = await setUp();
    await storeEvents(app, [anEvent({ id: app.ids.next(), userId: user.id, kind: 'enabled', actor: 'Una' })]);
    expect((await exported()).events[0]).toMatchObject({ kind: 'enabled', actor: 'operator' });
  });

  it('returns nothing of another user', async () => {
    const { app, exported } = await setUp();
    const before = await exported();
    const { user: bob } = await app.register(BOB);
    await app.login({ account: BOB.username, password: BOB.password });
    await app.enqueue({ kind: 'password-reset', userId: bob.id, to: BOB.email });
    expect(await exported()).toEqual(before);
  });

  it('returns all events, the latest first', async () => {
    const { app, user, exported } = await setUp();
    await storeEvents(
      app,
      Array.from({ length: EVENTS_KEPT - 2 }, () => anEvent({ id: app.ids.next(), userId: user.id })),
    );
    const { events } = await exported();
    expect(events).toHaveLength(EVENTS_KEPT - 1);
    expect(events.map(({ kind }) => kind).indexOf('registered')).toBe(EVENTS_KEPT - 2);
  });
});

describe('listEvents', () => {
  /** Ada, with five events: her registration and four log-ins. */
  const setUp = async () => {
    const ada = await registeredAda();
    for (let count = 0; count < 4; count += 1) {
      await ada.logIn();
      ada.app.clock.advance(COUNTING_PERIOD);
    }
    const { events } = await ada.ofAda();
    const list = listEvents(ada.app);
    const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
    return { ...ada, caller, ids: events.map(({ id }) => id), list };
  };

  it('lists page after page, the latest first', async () => {
    const { caller, ids, list } = await setUp();
    const first = await list(caller, { before: null, limit: 2 });
    const second = await list(caller, { before: first.next, limit: 3 });
    expect([...first.events, ...second.events].map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    [4, true],
    [5, false],
    [6, false],
  ])('of five events, %i to a page, says whether there is a next page: %s', async (limit, isFollowed) => {
    const { caller, ids, list } = await setUp();
    const { events, next } = await list(caller, { before: null, limit });
    expect(events.map(({ id }) => id)).toEqual(ids.slice(0, limit));
    expect(next).toBe(isFollowed ? ids[limit - 1] : null);
  });
});
