import { expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import type { Storage, Stores, Transactions } from '../../../src/application/storage/records.ts';
import { tokensOf } from '../../support/http/auth-http.ts';
import { aPerson, hasher, startService } from '../../support/http/service.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';

const TOKEN = /password-reset#token=([\w-]{43})/;

/** The same adapter as an instance of a class: its methods are those of its prototype, and need `this`. */
const asInstance = <Port extends object>(port: Port): Port => {
  type Instance = { readonly port: Port };
  const methods = Object.entries(port).map(([name, method]) => [
    name,
    {
      value(this: Instance, ...given: unknown[]) {
        return method.apply(this.port, given);
      },
    },
  ]);
  return Object.create(Object.create(null, Object.fromEntries(methods)), { port: { value: port } });
};

/** Users, records and their transaction, all of them instances of classes. */
const instances = (): Storage => {
  const { transactions, ...stores } = memoryStorage();
  const all = ({ users, records, ...stores }: Stores): Stores => ({
    ...stores,
    users: asInstance(users),
    records: asInstance(records),
  });
  const unit: Transactions = { run: (work) => transactions.run((inside) => work(all(inside))) };
  return { ...all(stores), transactions: asInstance(unit) };
};

it('a storage of one’s own may be of instances of classes: through the life of an account', async () => {
  const mailer = memoryMailer();
  const { http, mail, ports } = await startService({}, { storage: instances(), hasher, mailer: asInstance(mailer) });
  const person = aPerson();
  await http.post('/auth/register').send(person).expect(201);
  await http.post('/auth/password-reset').send({ email: person.email }).expect(202);
  await Promise.all((await mail?.send(10)) ?? []);
  const [, token] = TOKEN.exec(mailer.mails.map(({ text }) => text).join('\n')) ?? [];
  const password = 'another horse battery';
  await http.post('/auth/password-reset/confirm').send({ token, newPassword: password }).expect(200);
  const login = await http.post('/auth/login').send({ account: person.email, password }).expect(200);
  const { accessToken, cookie } = tokensOf(login);
  const asOwner = { Authorization: `Bearer ${accessToken}` };
  await http.post('/auth/refresh-token').set('Cookie', cookie).expect(200);
  expect((await http.get('/users/me/events').set(asOwner).expect(200)).body.data.events).toHaveLength(6);
  const user = (await ports.users.findByUsername(person.username)) ?? expect.unreachable();
  await http.delete('/users/me').set(asOwner).send({ password }).expect(200);
  expect(await ports.users.findById(user.id)).toBeNull();
  expect(await messagesOf(ports.records, user.id)).toEqual([]);
});
