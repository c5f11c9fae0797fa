// Proves ASVS 6.2.1, 6.2.9, 6.2.12
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { passwordHasher } from '../../src/adapters/crypto/password-hasher.ts';
import { makeLeakedFile } from '../../src/infrastructure/data/leaked.ts';
import { aPerson, startService } from '../support/http/service.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

const problemOf = ({ body }: { body: { details?: readonly { field: string; code: string; message: string }[] } }) =>
  body.details?.map(({ field, code, message }) => `${field} ${code} ${message}`);

it('PASSWORD_MIN_LENGTH holds for registration and in the OpenAPI document', async () => {
  const { http } = await startService({ PASSWORD_MIN_LENGTH: '15' });
  const short = await http.post('/auth/register').send({ ...aPerson(), password: 'correct horse ' });
  expect([short.status, problemOf(short)]).toEqual([400, ['password too_short must have at least 15 characters']]);
  await http
    .post('/auth/register')
    .send({ ...aPerson(), password: 'correct horse!!' })
    .expect(201);
  const { body } = await http.get('/openapi.json');
  expect(JSON.stringify(body)).toContain('"minLength":15,"maxLength":72');
});

it('PASSWORD_HASH=argon2id takes passwords of more than 72 bytes, and all of each counts', async () => {
  const { http, ports } = await startService(
    { PASSWORD_HASH: 'argon2id' },
    { hasher: passwordHasher({ scheme: 'argon2id', cost: 4 }) },
  );
  const person = { ...aPerson(), password: 'пароль из многих слов '.repeat(10) };
  await http.post('/auth/register').send(person).expect(201);
  const { passwordHash } = (await ports.users.findByUsername(person.username)) ?? expect.unreachable();
  expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const logIn = (password: string) => http.post('/auth/login').send({ account: person.username, password });
  expect((await logIn(person.password)).status).toBe(200);
  expect((await logIn(person.password.slice(0, -1))).status).toBe(401);
});

describe('LEAKED_PASSWORDS_FILE', () => {
  it('refuses a password of the list', async () => {
    const [list, file] = [join(directory.path, 'list'), join(directory.path, 'leaked')];
    writeFileSync(list, `${createHash('sha1').update('correct horse').digest('hex')}:12\n`);
    await makeLeakedFile(list, file, 10);
    const { http } = await startService({ LEAKED_PASSWORDS_FILE: file });
    const refused = await http.post('/auth/register').send({ ...aPerson(), password: 'correct horse' });
    const problem = 'password leaked must not be a password that is known from a leak';
    expect([refused.status, problemOf(refused)]).toEqual([400, [problem]]);
    await http
      .post('/auth/register')
      .send({ ...aPerson(), password: 'another horse' })
      .expect(201);
  });

  it('ends the start if it is no such list', async () => {
    const other = join(directory.path, 'other');
    writeFileSync(other, 'password\n');
    await expect(startService({ LEAKED_PASSWORDS_FILE: other })).rejects.toThrow(/is not a list of leaked passwords/);
  });
});

it('LEAKED_PASSWORDS_URL lets a password pass while nobody answers there, with one line of the log', async () => {
  const { http, logs } = await startService({ LEAKED_PASSWORDS_URL: 'http://127.0.0.1:9/range' });
  for (const person of [aPerson(), aPerson()]) await http.post('/auth/register').send(person).expect(201);
  expect(logs.filter(({ msg }) => /leaked/.test(`${msg}`))).toHaveLength(1);
});
