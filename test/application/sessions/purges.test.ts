// Proves flood-8
import { describe, expect, it } from 'vitest';
import { purges } from '../../../src/application/sessions/purge.ts';
import { useOnce } from '../../../src/application/storage/credentials.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { inShort, registeredAda } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';

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
});

it('the purge of used values keeps them for an hour, since the clock of another instance may be behind', async () => {
  const { app } = await registeredAda();
  const purge = purges({ ...app, eventsRetention: DAY })['used-values'];
  await useOnce(app.records, 'a value', app.clock.now());
  app.clock.advance(60 * MINUTE - 1);
  expect(await purge(100)).toBe(0);
  app.clock.advance(1);
  expect(await purge(100)).toBe(1);
});
