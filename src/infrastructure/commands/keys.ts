import { factorSecrets } from '../../adapters/crypto/secrets.ts';
import { type KeyPair, kidsOf } from '../../adapters/crypto/token-keys.ts';
import { publicHookKey } from '../../adapters/hooks/signing.ts';
import { reEncryptFactors } from '../../application/factors/manage-factors.ts';
import { SCOPES } from '../../domain/operator.ts';
import { CommandError, invalidArguments } from '../command-error.ts';
import { KEY_VARIABLES } from '../config/keys.ts';
import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import {
  existingHookKey,
  loadOrCreateHookKey,
  newHookKey,
  newPageServer,
  newPair,
  privatePem,
  publicPem,
} from '../keys.ts';
import { type Action, type Answer, action, type Command } from './command.ts';
import { envLine, makeFactorKey, type Output, rotateKeys, writeOutput } from './keys/rotations.ts';
import { withAccounts } from './users/open-accounts.ts';

const answer = async (out: string | undefined, files: readonly Output[]) => ({ text: await writeOutput(out, files) });

const filesAction = (does: string, make: (env: Env) => readonly Output[] | Promise<readonly Output[]>): Action =>
  action({ options: { out: 'DIR' }, does, run: async ({ options: { out }, env }) => answer(out, await make(env)) });

const generateKeys = (): Output[] => {
  const [files, lines]: [Output[], string[]] = [[], []];
  for (const kind of ['access', 'refresh'] as const) {
    const pair = newPair();
    const [privateText, publicText] = [privatePem(pair.privateKey), publicPem(pair.publicKeys)];
    const { privateKey, publicKeys } = KEY_VARIABLES[kind];
    files.push({ name: `${kind}-private.pem`, text: privateText }, { name: `${kind}-public.pem`, text: publicText });
    lines.push(`${envLine(privateKey, privateText)}\n`, `${envLine(publicKeys, publicText)}\n`);
  }
  return [...files, { name: 'keys.env', text: lines.join('') }];
};

const pageServerFiles = (): Output[] => {
  const { id, secret, secretHash } = newPageServer();
  const added = envLine('PAGE_SERVERS', `${id}:${secretHash}`);
  return [
    { name: 'page-server.env', text: `${envLine('PAGE_SERVER_ID', id)}\n${envLine('PAGE_SERVER_SECRET', secret)}\n` },
    { name: 'service.env', text: `# Add to entries that are there after a comma.\n${added}\n` },
  ];
};

const adminFiles = (): Output[] => {
  const { privateKey, publicKeys } = newPair();
  const key = { name: 'support', scopes: SCOPES, publicKey: publicPem(publicKeys) };
  return [
    { name: 'admin-private.pem', text: privatePem(privateKey) },
    { name: 'admin-keys.json', text: `${JSON.stringify([key])}\n` },
  ];
};

const describePair = async (kind: string, pair: KeyPair): Promise<string> => {
  const lines = (await kidsOf(pair)).map(
    (kid, index) => `  ${kid}  ${index === 0 ? 'current: signs and verifies' : 'verifies'}\n`,
  );
  return `Keys of ${kind} tokens:\n${lines.join('')}`;
};

const hookFiles = (key: KeyPair['privateKey']): Output[] => {
  const text = privatePem(key);
  return [
    { name: 'hook-private.pem', text },
    { name: 'hook.env', text: `${envLine('HOOK_PRIVATE_KEY', text)}\n` },
  ];
};

/** Lists the keys of tokens in the environment, each with its `kid` and its use, and the public key of hooks, if any. @throws for instance ConfigError */
const describeKeys = async (env: Env): Promise<string> => {
  const config = parseConfig(env);
  const { keys: pairs } = config;
  const hookKey = await existingHookKey(config);
  const hookKeyLine = hookKey === null ? '' : `\nPublic key of hooks:\n  ${publicHookKey(hookKey)}\n`;
  if (pairs === null)
    return `The environment has no keys. Outside production, the service creates its own in DATA_DIR.\n${hookKeyLine}`;
  return `${await describePair('access', pairs.access)}\n${await describePair('refresh', pairs.refresh)}${hookKeyLine}`;
};

/**
 * Encrypts the secrets of all factors with the first key of FACTOR_KEYS, also while instances run. It can be repeated.
 * @throws for instance CommandError if some secrets cannot be decrypted: they stay as they are, and all others are encrypted
 */
const reEncryptSecrets = async (env: Env): Promise<Answer> => {
  const { factorKeys } = parseConfig(env);
  if (factorKeys === null) throw new Error('There are no FACTOR_KEYS in the environment.');
  return withAccounts()(env, async ({ records }) => {
    const reEncrypt = reEncryptFactors({ records, factorSecrets: factorSecrets(factorKeys) });
    const { changed, current, undecryptable } = await reEncrypt();
    const text = `Secrets of authenticator apps: ${changed} are encrypted with the first key now, ${current} were before, ${undecryptable} cannot be decrypted.\n`;
    if (undecryptable > 0) throw new CommandError('undecryptable', `${text}${KEEP_ALL}`, 1);
    return { text };
  });
};

const KEEP_ALL =
  'Those are unchanged. Keep all keys: add the one that is missing to the end of FACTOR_KEYS, and repeat this.';

export const keys: Command = {
  actions: {
    generate: filesAction('creates two new key pairs', generateKeys),
    rotate: filesAction('creates successors of the key pairs in the environment, with instructions', rotateKeys),
    factors: action({
      options: { out: 'DIR', 're-encrypt': true },
      does: 'creates a key for the secrets of authenticator apps; if the environment has FACTOR_KEYS, with instructions to\n    introduce it; with --re-encrypt, encrypts all of these secrets with the first key of FACTOR_KEYS instead',
      run: async ({ options: { out, 're-encrypt': again }, env }) => {
        if (again && out !== undefined) throw invalidArguments('With --re-encrypt there is no --out.');
        return again ? reEncryptSecrets(env) : answer(out, makeFactorKey(env));
      },
    }),
    'page-server': filesAction(
      'creates the secret of a server that renders pages, and its entry of PAGE_SERVERS',
      pageServerFiles,
    ),
    admin: filesAction(
      'creates the key of a program for the back office: a PEM file for the program, and ADMIN_KEYS for the service\n    (as ADMIN_KEYS_FILE); change the name and the scopes there',
      adminFiles,
    ),
    hook: action({
      options: { out: 'DIR', private: true },
      does: 'shows the public key with which requests of hooks are checked; makes the key in DATA_DIR\n    unless it is there or in the environment; with --private, shows the private key instead, or one that it makes and does\n    not keep, as HOOK_PRIVATE_KEY of all instances',
      run: async ({ options: { out, private: isPrivate }, env }) => {
        if (!isPrivate && out !== undefined) throw invalidArguments('--out needs --private.');
        const config = parseConfig(env);
        if (isPrivate) return answer(out, hookFiles((await existingHookKey(config)) ?? newHookKey()));
        return { text: `${publicHookKey(await loadOrCreateHookKey(config))}\n` };
      },
    }),
    check: action({
      does: 'checks the key pairs in the environment; prints no private key',
      run: async ({ env }) => ({ text: await describeKeys(env) }),
    }),
  },
  notes: `With --out, the keys are written to files in a new directory that only you can read, and only the names of the files are printed.

Exit status: 0 done, 1 failed, 2 invalid arguments or configuration.`,
};
