import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { heldFrom } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';
import { receivedFrom } from '../support/mail/received.ts';
import { tokenIn } from '../support/mail/sender.ts';
import { openSmtpServer, type SmtpServer } from '../support/mail/smtp-server.ts';
import { CLOCKS_APART, canShare, twoInstances } from '../support/processes/instances.ts';
import { tally } from '../support/tally.ts';

/** More than both instances have connections. */
const CROWD = 24;
const NEW_PASSWORD = 'a new correct horse';
/** Milliseconds; the time-out only catches hangs. */
const SOON = { timeout: 60_000, interval: 20 };

let smtp: SmtpServer;

describe.runIf(canShare())('two instances', () => {
  beforeAll(async () => {
    smtp = await openSmtpServer();
  });
  const { at } = twoInstances(
    {
      // The server is there when the instances start.
      get MAIL_URL() {
        return `smtp://127.0.0.1:${smtp.port}`;
      },
      MAIL_FROM: 'auth@example.org',
      BASE_URL: 'https://auth.example.org',
    },
    CLOCKS_APART,
  );
  afterAll(() => smtp.close());

  const post = (instance: number, path: string, body: object) => at(instance).http.post(path).send(body);
  const refresh = (instance: number, cookie: string) =>
    at(instance).http.post('/auth/refresh-token').set('Cookie', cookie);
  const crowd = (send: (index: number) => PromiseLike<Response>): Promise<Response[]> =>
    Promise.all(Array.from({ length: CROWD }, (_none, index) => send(index)));
  const received = async (email: string) => {
    const all = smtp.messages.filter(({ recipients }) => recipients.includes(email));
    const mails = await Promise.all(all.map(({ raw }) => receivedFrom(raw)));
    return mails.filter(({ subject }) => subject.startsWith('Reset'));
  };
  const tokenFor = async (email: string): Promise<string> => {
    await post(0, '/auth/password-reset', { email }).expect(202);
    await vi.waitFor(async () => expect(await received(email)).toHaveLength(1), SOON);
    const [mail] = await received(email);
    return tokenIn(mail ?? { text: '' }, 'password-reset');
  };
  const signedUp = async () => {
    const person = aPerson();
    return { person, ...heldFrom(await post(0, '/auth/register', person).expect(201)) };
  };

  it('send each mail once', async () => {
    const people = Array.from({ length: CROWD }, aPerson);
    await crowd((index) => post(index, '/auth/register', people[index] ?? {}));
    await crowd((index) => post(index, '/auth/password-reset', { email: people[index]?.email }));
    for (const { email } of people) {
      await vi.waitFor(async () => expect((await received(email)).length).toBeGreaterThan(0), SOON);
    }
    for (const { email } of people) expect(await received(email)).toHaveLength(1);
  });

  it(`let one of ${CROWD} win who use one link at the same time`, async () => {
    const { person } = await signedUp();
    const token = await tokenFor(person.email);
    const passwords = Array.from({ length: CROWD }, (_none, index) => `${NEW_PASSWORD} ${index}`);
    const answers = await crowd((index) =>
      post(index, '/auth/password-reset/confirm', { token, newPassword: passwords[index] }),
    );
    expect(tally(answers)).toEqual({ '200': 1, '400 AUTH_LINK_INVALID': CROWD - 1 });
    const logIns = await crowd((index) =>
      post(index, '/auth/login', { account: person.username, password: passwords[index] }),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(logIns.map(({ status }) => status)).toEqual(passwords.map((_none, index) => (index === winner ? 200 : 401)));
  });

  it('leave no session that the old password opened, whatever happens at the same time', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { person, accessToken, cookie } = await signedUp();
      const token = await tokenFor(person.email);
      const changes = [0, 1].map((index) =>
        at(index)
          .http.put('/users/me/password')
          .set('Authorization', `Bearer ${accessToken}`)
          .send({ currentPassword: person.password, newPassword: `changed by another ${index}` }),
      );
      const [reset, refreshed, changed, logIns] = await Promise.all([
        post(0, '/auth/password-reset/confirm', { token, newPassword: NEW_PASSWORD }),
        refresh(1, cookie),
        Promise.all(changes),
        Promise.all(
          Array.from({ length: 6 }, (_none, index) =>
            post(index, '/auth/login', { account: person.email, password: person.password }),
          ),
        ),
      ]);
      await post(0, '/auth/login', { account: person.email, password: person.password }).expect(401);
      // A change of the password may come first. It leaves the link to the owner of the mailbox.
      expect(reset.status).toBe(200);
      const held = [refreshed, ...changed, ...logIns].filter(
        ({ status, headers }) => status === 200 && headers['set-cookie'],
      );
      for (const answer of held) await refresh(0, heldFrom(answer).cookie).expect(401);
      await refresh(1, cookie).expect(401);
      await post(1, '/auth/login', { account: person.email, password: NEW_PASSWORD }).expect(200);
    }
  });
});
