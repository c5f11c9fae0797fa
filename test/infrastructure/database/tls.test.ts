import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { database as examined } from '../../../src/infrastructure/commands/doctor/stores.ts';
import { type Certificate, selfSigned } from '../../support/certificate.ts';
import { setUpOf } from '../../support/doctor.ts';
import { canStartServers, startPostgresWithTls } from '../../support/servers/of-the-tests.ts';
import type { TlsServer } from '../../support/servers/postgres.ts';
import { onPostgresql } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

/** Milliseconds, to catch what hangs. */
const timeout = 60_000;
const YEAR = 365 * 86_400_000;

const VALID = await selfSigned('localhost');
const OF_ANOTHER = await selfSigned('db.example.com');
const EXPIRED = await selfSigned('localhost', Date.now() - YEAR);
/** The code, the certificate of the server, and the one that is trusted. */
const WRONG: readonly (readonly [why: string, code: string, certificate: Certificate, trusted: Certificate])[] = [
  ['that nobody trusts', 'DEPTH_ZERO_SELF_SIGNED_CERT', await selfSigned('localhost'), VALID],
  ['of another name', 'ERR_TLS_CERT_ALTNAME_INVALID', OF_ANOTHER, OF_ANOTHER],
  ['that has expired', 'CERT_HAS_EXPIRED', EXPIRED, EXPIRED],
];

describe.runIf(canStartServers())('a PostgreSQL with TLS', () => {
  const directory = temporaryDirectory();
  let server: TlsServer;
  beforeAll(async () => {
    server = await startPostgresWithTls(VALID);
  });

  /** The driver reads the file at each connection. */
  const urlTrusting = ({ cert }: Certificate): string => {
    const file = join(directory.path, 'ca.pem');
    writeFileSync(file, cert);
    const url = new URL(server.url);
    url.hostname = 'localhost';
    return `${url.href}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  };
  const open = (url: string) => openDatabase(onPostgresql(url), { migrate: true });
  /** Why it cannot be opened; '' if it can. */
  const whyNot = (url: string): Promise<string> =>
    open(url).then(
      (database) => database.close().then(() => ''),
      ({ message }: Error) => message,
    );

  it.each(WRONG)(
    'and a certificate %s is refused with the code of the reason',
    async (_why, code, certificate, trusted) => {
      server.present(certificate);
      const url = urlTrusting(trusted);
      const message = `The database of DATABASE_URL cannot be opened: Error ${code}`;
      await expect.poll(() => whyNot(url), { timeout }).toBe(message);
      const found = await examined(setUpOf({ DATABASE_URL: url }));
      expect(found).toMatchObject({ id: 'database.unreachable', severity: 'problem', seen: message });
    },
  );

  it('whose certificate expires meanwhile: the reason of a failed request names the code', async () => {
    server.present(VALID);
    const url = urlTrusting(VALID);
    await expect.poll(() => whyNot(url), { timeout }).toBe('');
    const database = await open(url);
    await database.ping();
    server.present(EXPIRED);
    const expiring = urlTrusting(EXPIRED);
    await expect.poll(() => whyNot(expiring), { timeout }).toContain('CERT_HAS_EXPIRED');
    await server.restart();
    await expect(database.ping()).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('CERT_HAS_EXPIRED'),
    });
  });
});
