import { describe, expect, it } from 'vitest';
import { exportAccount } from '../../../src/application/accounts/account-data.ts';
import { EVENTS_KEPT } from '../../../src/domain/event.ts';
import { BOB, EMAIL, registeredAda } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';
import { anEvent, aRememberedDevice } from '../../support/builders.ts';

const setUp = async () => {
  const ada = await registeredAda();
  const caller = { userId: ada.user.id, sessionId: ada.session.sessionId };
  return { ...ada, exported: () => exportAccount(ada.app)(caller) };
};

describe('exportAccount', () => {
  it('returns everything that is stored about a user, and no secret', async () => {
    const { app, user, session, linkIn, exported } = await setUp();
    await linkIn({ kind: 'password-reset', to: EMAIL }, 'password-reset');
    await app.enqueue({ kind: 'email-changed', userId: user.id, to: EMAIL, email: 'new@example.org' });
    app.clock.advance(MINUTE);
    await app.users.update(user.id, { attributes: { roles: ['admin'] }, now: user.updatedAt });
    await app.refresh([session.refreshToken]);
    const device = aRememberedDevice({ userId: user.id });
    await app.devices.add(device);
    const now = app.clock.now();
    const createdAt = now - MINUTE;
    const nowhere = { userAgent: null, address: null };
    const id = expect.any(String);
    expect(await exported()).toStrictEqual({
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
          at: createdAt,
          sessionId: session.sessionId,
          reason: null,
          count: 1,
          requestId: null,
          ...nowhere,
          actor: null,
        },
      ],
      links: [{ purpose: 'password-reset', email: EMAIL, createdAt, expiresAt: createdAt + 30 * MINUTE }],
      passkeys: [],
      factors: [],
      recoveryCodes: { left: 0 },
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
    await app.events.add([anEvent({ id: app.ids.next(), userId: user.id, kind: 'enabled', actor: 'Una' })]);
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
    await app.events.add(
      Array.from({ length: EVENTS_KEPT - 1 }, () => anEvent({ id: app.ids.next(), userId: user.id })),
    );
    const { events } = await exported();
    expect(events).toHaveLength(EVENTS_KEPT);
    expect(events.map(({ kind }) => kind).indexOf('registered')).toBe(EVENTS_KEPT - 1);
  });
});
