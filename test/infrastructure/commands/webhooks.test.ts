import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/infrastructure/commands/doctor/examine.ts';
import { codeBelow, runCode } from '../../support/checkout/documented-code.ts';
import { runHere } from '../../support/processes/commands.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';
import { openReceiver, signersOf } from '../../support/webhook-receiver.ts';

describe('npm run webhooks', () => {
  let env: Record<string, string>;
  beforeEach(async () => {
    const { path } = temporaryDirectory();
    env = { DATA_DIR: path, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
    await runHere(['migrate'], env);
  });
  const webhooks = async (...args: string[]) => {
    const { status, stdout } = await runHere(['webhooks', ...args, '--json'], env);
    return { status, ...JSON.parse(stdout) };
  };

  it('adds, lists, tests, rotates and removes a webhook', async () => {
    const { url, received } = await openReceiver();
    const before = Date.now();
    const { id, secret, publicKey, createdAt, activeAt } = await webhooks(
      'add',
      url,
      '--types',
      'user.deleted,session.ended',
      '--with-secret',
    );
    expect({ publicKey, secret }).toEqual({
      publicKey: expect.stringMatching(/^whpk_[\w+/]{43}=$/),
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
    });
    const times = [before, Date.parse(createdAt), Date.parse(activeAt), Date.now()];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const { webhooks: listed } = await webhooks('list');
    expect(listed).toMatchObject([{ id, url, publicKey, types: ['session.ended', 'user.deleted'], hasSecret: true }]);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
    expect((await runHere(['webhooks', 'list'], env)).stdout).toContain(publicKey);

    expect(await webhooks('test', id.toLowerCase())).toEqual({ status: 204 });
    const rotated = await webhooks('rotate', id);
    expect(rotated.publicKey).not.toBe(publicKey);
    await webhooks('test', id);
    const [first, second] = received;
    if (first === undefined || second === undefined) expect.unreachable();
    expect(first.json).toMatchObject({ type: 'webhook.test', sequence: 0, data: { webhookId: id } });
    const keys = [publicKey, rotated.publicKey];
    expect([signersOf(first, keys), signersOf(second, keys)]).toEqual([[publicKey], keys]);
    const [byPackage = '', byKey = ''] = codeBelow('docs/webhooks.md', 'What a receiver gets', 'ts');
    for (const known of [secret, rotated.secret]) {
      const scope = { ...second, process: { env: { WEBHOOK_SECRET: known } } };
      expect(await runCode(byPackage, scope, 'event')).toEqual({ event: second.json });
    }
    for (const [key, isGenuine] of [
      [publicKey, true],
      [rotated.publicKey, true],
      [`whpk_${'A'.repeat(43)}=`, false],
    ])
      expect(await runCode(byKey, { ...second, publicKey: key }, 'isGenuine')).toEqual({ isGenuine });

    expect((await webhooks('remove', id)).status).toBe(0);
    expect(await webhooks('list')).toMatchObject({ webhooks: [] });
  });

  it('adds webhooks that the doctor finds, and whether an instance can sign for them', async () => {
    const found = async (others = {}) => {
      const { stdout } = await runHere(['doctor', '--json'], { ...env, ...others });
      const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(stdout);
      return findings.filter(({ id }) => id === 'database.webhooks');
    };
    expect(await found()).toEqual([]);
    const { id } = await webhooks('add', 'http://127.0.0.1/');
    expect(await found()).toMatchObject([{ severity: 'ok' }]);
    const other = { DATA_DIR: join(env.DATA_DIR ?? '', 'other') };
    env.HOOK_PRIVATE_KEY =
      parseEnv((await runHere(['keys', 'hook', '--private'], other)).stdout).HOOK_PRIVATE_KEY ?? '';
    await webhooks('add', 'http://127.0.0.1/');
    const seen = expect.stringMatching(`cannot sign for 1 of 2 webhooks: .*: ${id}\\.$`);
    expect(await found()).toMatchObject([{ severity: 'warning', seen }]);
    expect(await found({ HOOK_PRIVATE_KEY: 'none' })).toEqual([]);
  });

  it('says why a test failed', async () => {
    const { url } = await openReceiver((_request, response) => response.writeHead(500).end());
    const { id } = await webhooks('add', url);
    const error = { code: 'refused', message: 'The receiver has answered with 500.' };
    expect(await webhooks('test', id)).toEqual({ status: 1, error });
    rmSync(join(env.DATA_DIR ?? '', 'keys', 'hooks.pem'));
    expect(await webhooks('test', id)).toMatchObject({ status: 1, error: { code: 'another-key' } });
  });

  it.each([
    ['add', 'ftp://127.0.0.1/'],
    ['add', 'http://u:p@127.0.0.1/'],
    ['add', 'https://127.0.0.1/#part'],
    ['add', 'https://10.0.0.1/'],
    ['add', 'https://127.0.0.1/', '--types', 'user.deleted,user.unknown'],
  ])('refuses %s %s', async (...args) => {
    expect(await webhooks(...args)).toMatchObject({ status: 2, error: { code: 'arguments' } });
    expect(await webhooks('list')).toMatchObject({ webhooks: [] });
  });

  it('knows ids alone, and adds twenty webhooks at most', async () => {
    expect(await webhooks('remove', 'unknown')).toMatchObject({ status: 3, error: { code: 'not-found' } });
    for (let count = 0; count < 20; count += 1) await webhooks('add', 'http://127.0.0.1/');
    expect(await webhooks('add', 'http://127.0.0.1/')).toMatchObject({ status: 1, error: { code: 'too-many' } });
  });
});
