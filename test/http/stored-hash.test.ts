// Proves SPEC 16.1, 16.2, 16.3; ASVS 11.2.1, 11.4.2; theft-3
import bcrypt from 'bcrypt';
import { describe, expect, it } from 'vitest';
import { storableHash } from '../../src/adapters/crypto/foreign/storable-hash.ts';
import { aUser } from '../support/builders.ts';
import { facts } from '../support/foreign-hashes.ts';
import { aPerson, startService } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';

describe('an imported hash', () => {
  /** Logs in with the password of an imported hash, after a wrong one, and changes it then. @returns the hashes that were stored. */
  const hashesAfterLogin = async (madeBy: RegExp) => {
    const { hash, password } =
      facts.hashes.find((fact) => madeBy.test(`${fact.madeBy} ${fact.hash}`)) ?? expect.unreachable();
    const mailer = memoryMailer();
    const service = await startService({ BCRYPT_COST: '4' }, { mailer });
    const imported = await storableHash(hash, service.ports.hasher);
    if ('problem' in imported) throw new Error(imported.problem);
    const user = aUser(imported);
    await service.ports.users.add(user);
    const logIn = (attempt: string) =>
      service.http.post('/auth/login').send({ account: user.username, password: attempt });
    await logIn(`X${password}`).expect(401);
    await logIn(password).expect(200);
    const { passwordHash = '' } = (await service.ports.users.findById(user.id)) ?? {};
    const { body } = await logIn(password).expect(200);
    await Promise.all((await service.mail?.send(10)) ?? []);
    const asked = mailer.mails.filter(({ subject }) => subject.startsWith('Please change your password'));
    await service.http
      .put('/users/me/password')
      .set('authorization', `Bearer ${body.data.accessToken}`)
      .send({ currentPassword: password, newPassword: 'battery staple' })
      .expect(200);
    await logIn(password).expect(401);
    await logIn('battery staple').expect(200);
    await service.close();
    return { password, passwordHash, imported: imported.passwordHash, asked, logs: service.logs };
  };

  it.each([/bcrypt .*\$2a/, /argon2-cffi/])('is replaced at the log-in: %s', async (madeBy) => {
    const { password, passwordHash, asked } = await hashesAfterLogin(madeBy);
    expect(asked).toEqual([]);
    expect(passwordHash).toMatch(/^\$2b\$04\$/);
    expect(await bcrypt.compare(password, passwordHash)).toBe(true);
  });

  it('stays when its password has more than 72 bytes, which logs in until it is changed, for which a mail asks once', async () => {
    const { passwordHash, imported, asked, logs } = await hashesAfterLogin(/^bcryptjs/);
    expect(passwordHash).toBe(imported);
    expect(asked).toHaveLength(1);
    expect(logs.filter(({ msg }) => msg === 'a password hash could not be renewed')).toEqual([]);
  });
});

it('the hash that registering stores is a bcrypt hash of cost 10 that matches only the password', async () => {
  const service = await startService();
  const person = aPerson();
  await service.http.post('/auth/register').send(person).expect(201);
  const hash = (await service.ports.users.findByUsername(person.username))?.passwordHash ?? '';
  await service.close();
  expect(bcrypt.getRounds(hash)).toBe(10);
  expect(await bcrypt.compare(person.password, hash)).toBe(true);
  expect(await bcrypt.compare(person.password.toUpperCase(), hash)).toBe(false);
});
