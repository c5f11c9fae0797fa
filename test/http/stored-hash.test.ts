import bcrypt from 'bcrypt';
import { describe, expect, it } from 'vitest';
import { aUser } from '../support/builders.ts';
import { aPerson, startService } from '../support/service.ts';

/** Passwords and their hashes at cost 10 as published with jBCrypt: made by another implementation of bcrypt. */
const FOREIGN = [
  ['abc', '$2a$10$WvvTPHKwdBJ3uk0Z37EMR.hLA2W6N9AEBhEgrAOljy2Ae5MtaSIUi'],
  ['abcdefghijklmnopqrstuvwxyz', '$2a$10$fVH8e28OQRj9tqiDXs1e1uxpsjN0c7II7YPKXua2NAKYvM6iQk7dq'],
] as const;

describe('a stored hash that another bcrypt made', () => {
  it.each(FOREIGN)('is met by its password alone: %s', async (password, passwordHash) => {
    const service = await startService();
    const user = aUser({ passwordHash });
    await service.ports.users.add(user);
    const logIn = async (attempt: string) => {
      const { status, body } = await service.http
        .post('/auth/login')
        .send({ account: user.username, password: attempt });
      return [status, body.code ?? body.data.user.id];
    };
    expect(await logIn(password)).toEqual([200, user.id]);
    for (const wrong of [`${password}d`, password.slice(1), passwordHash]) {
      expect(await logIn(wrong)).toEqual([401, 'AUTH_CREDENTIALS_INVALID']);
    }
    await service.close();
  });
});

describe('the hash that registering stores', () => {
  it('is one of bcrypt at cost 10 for that password alone', async () => {
    const service = await startService();
    const person = aPerson();
    await service.http.post('/auth/register').send(person).expect(201);
    const hash = (await service.ports.users.findByUsername(person.username))?.passwordHash ?? '';
    await service.close();
    expect(bcrypt.getRounds(hash)).toBe(10);
    expect(await bcrypt.compare(person.password, hash)).toBe(true);
    expect(await bcrypt.compare(person.password.toUpperCase(), hash)).toBe(false);
  });
});
