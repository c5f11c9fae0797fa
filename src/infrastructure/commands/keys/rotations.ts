import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../../adapters/clock/system.ts';
import { type KeyPair, kidsOf } from '../../../adapters/crypto/token-keys.ts';
import { KEY_SET_MAX_AGE } from '../../../adapters/http/routes/service/well-known.ts';
import { systemReason } from '../../../adapters/log/redact-error.ts';
import { MAX_FACTOR_KEYS } from '../../config/account-variables.ts';
import { KEY_VARIABLES } from '../../config/keys.ts';
import type { Env } from '../../config/variables.ts';
import { parseConfig } from '../../config.ts';
import { newFactorKey, newPair, privatePem, publicPem } from '../../keys.ts';

/** A text, which is written to a new file of this name, or printed below the name. */
export type Output = { readonly name: string; readonly text: string };

/**
 * A line of an environment file that Node.js, Docker, Compose, Kubernetes, systemd and shells can read. systemd and shells need the quotes around a PEM;
 * Docker and Kubernetes pass the quotes on, and the service removes them.
 */
export const envLine = (name: string, value: string): string => {
  const line = value.trimEnd().replaceAll('\n', String.raw`\n`);
  return /^[\w:,-]*$/.test(line) ? `${name}=${line}` : `${name}="${line}"`;
};

/**
 * Writes all files, or after an error none, to a new directory that only its owner can read.
 * @returns the paths of the files; without a directory, the outputs as one text
 * @throws Error if the path exists and is not an empty directory, or cannot be written
 */
export const writeOutput = async (directory: string | undefined, outputs: readonly Output[]): Promise<string> => {
  if (directory === undefined) return outputs.map(({ name, text }) => `# ${name}\n${text}`).join('\n');
  const target = resolve(directory);
  let draft: string | undefined;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    draft = await mkdtemp(`${target}.`);
    for (const { name, text } of outputs) await writeFile(join(draft, name), text, { mode: 0o600, flag: 'wx' });
    await rename(draft, target);
  } catch (error) {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
    throw new Error(`--out: nothing was written: ${systemReason(error)}`);
  }
  return outputs.map(({ name }) => `${join(directory, name)}\n`).join('');
};

/** Makes successors of the key pairs in the environment, and instructions for three steps. @throws ConfigError; Error if the environment has no keys */
export const rotateKeys = async (env: Env): Promise<Output[]> => {
  const { keys, jwtAccessExpiresIn, jwtRefreshExpiresIn } = parseConfig(env);
  if (keys === null)
    throw new Error('There are no keys in the environment to rotate. Create the first ones with generate.');
  const now = systemClock.now();
  const access = await rotationOf('access', keys.access, now + jwtAccessExpiresIn);
  const refresh = await rotationOf('refresh', keys.refresh, now + jwtRefreshExpiresIn);
  return [[access.kids, refresh.kids, ...ANNOUNCE], SWITCH, RETIRE].map((comment, at) => {
    const lines = [access, refresh].flatMap(({ steps }) => steps[at] ?? []);
    return commentedFile(`step-${at + 1}.env`, comment, lines);
  });
};

const commentedFile = (name: string, comment: readonly string[], lines: readonly string[]): Output => ({
  name,
  text: `${[...comment.map((line) => `# ${line}`), ...lines].join('\n')}\n`,
});

/** The lines of each step for a pair. @param expiry epoch milliseconds at which the last token of the old key expires if step 2 is complete now */
const rotationOf = async (kind: keyof typeof KEY_VARIABLES, old: KeyPair, expiry: number) => {
  const fresh = newPair();
  const { privateKey, publicKeys } = KEY_VARIABLES[kind];
  const publicLine = (...pairs: readonly KeyPair[]): string =>
    envLine(publicKeys, publicPem(pairs.flatMap((pair) => pair.publicKeys)));
  const [[before], [after]] = [await kidsOf(old), await kidsOf(fresh)];
  return {
    kids: `The key of ${kind} tokens: ${before}, its successor: ${after}.`,
    steps: [
      [publicLine(old, fresh)],
      [envLine(privateKey, privatePem(fresh.privateKey)), publicLine(fresh, old)],
      [`# Not before ${new Date(expiry).toISOString()}:`, publicLine(fresh)],
    ],
  };
};

const ANNOUNCE = [
  'Step 1 of 3: announce. The old keys still sign; tokens of the new keys are accepted as well.',
  'Set these variables on every instance. Continue when all instances run with them: an instance without the new keys rejects',
  `tokens that others sign with them. Other services cache the key set of access tokens: wait another ${KEY_SET_MAX_AGE / 60} minutes for them.`,
  'With one instance and no other service that verifies tokens, you can start with step 2.',
];
const SWITCH = [
  'Step 2 of 3: switch. The new keys sign; tokens of the old keys are still accepted.',
  'Set these variables on every instance, in any order: all instances accept the tokens of both keys.',
  'Note the time when the last instance runs with them: from then on, no token is signed with the old keys.',
];
const RETIRE = [
  'Step 3 of 3: retire. Remove each old public key when its last token has expired: one token lifetime after step 2 was complete.',
  'The times below assume that step 2 is complete now; add the time that it took. To remove a key earlier logs out the users that',
  'hold a token signed with it.',
];

/** Makes a key for the secrets of authenticator apps, and instructions. @throws ConfigError; Error if the environment has too many keys */
export const makeFactorKey = (env: Env): Output[] => {
  const old = (parseConfig(env).factorKeys ?? []).map((key) => key.toString('base64url'));
  if (old.length === MAX_FACTOR_KEYS)
    throw new Error(`FACTOR_KEYS has ${old.length} keys, which is the limit. End the last rotation first.`);
  const fresh = newFactorKey();
  if (old.length === 0) return [factorKeysFile('factors.env', FIRST_FACTOR_KEY, [fresh])];
  return [
    factorKeysFile('step-1.env', ANNOUNCE_FACTOR_KEY, [...old, fresh]),
    factorKeysFile('step-2.env', SWITCH_FACTOR_KEY, [fresh, ...old]),
    factorKeysFile('step-3.env', RETIRE_FACTOR_KEY, [fresh]),
  ];
};

const factorKeysFile = (name: string, comment: readonly string[], keys: readonly string[]): Output =>
  commentedFile(name, comment, [envLine('FACTOR_KEYS', keys.join(','))]);

const FIRST_FACTOR_KEY = [
  'The key that encrypts the secrets of authenticator apps. Set this variable on every instance, and keep the key in another place than the',
  'database: without it, the authenticator apps of all users are lost.',
  'Secrets that were encrypted with DATA_DIR/keys/factors.key need that key as well: add it to the end, after a comma.',
];
const ANNOUNCE_FACTOR_KEY = [
  'Step 1 of 3: announce. The old key still encrypts; what the new key encrypts can be decrypted as well.',
  'Set this variable on every instance. Continue when all instances run with it: an instance without the new key refuses the codes of',
  'authenticator apps that are added at others. With one instance, you can start with step 2.',
];
const SWITCH_FACTOR_KEY = [
  'Step 2 of 3: switch. The new key encrypts; what the old ones encrypted can still be decrypted.',
  'Set this variable on every instance, in any order. When the last instance runs with it, run `npx tandem keys factors --re-encrypt`',
  'with this variable: it encrypts with the new key what the old ones encrypted, beside the service.',
];
const RETIRE_FACTOR_KEY = [
  'Step 3 of 3: retire. Set this variable when `npx tandem keys factors --re-encrypt` has succeeded after step 2 was complete.',
  'A backup of the database from before needs the old keys: keep them, in another place, as long as you keep such a backup.',
];
