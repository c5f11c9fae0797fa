import { readFileSync } from 'node:fs';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { decodeText } from '../decode-text.ts';
import { withHost } from './hosts.ts';
import { KEY_NAMES } from './token-keys.ts';
import type { Env } from './variable.ts';

/** The variables that may contain a secret. `<name>_FILE` is the path of a file with the value, as Docker and Kubernetes mount secrets. */
export const SECRET_VARIABLES: readonly string[] = [
  'DATABASE_URL',
  'PGPASSWORD',
  'REDIS_URL',
  'MAIL_URL',
  'FACTOR_KEYS',
  ...KEY_NAMES,
];

/** @returns the environment with the contents of the files, without the line breaks at their ends; and a line for each that cannot be read. */
export const readSecretFiles = (env: Env): { readonly env: Env; readonly problems: readonly string[] } => {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of SECRET_VARIABLES) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) problems.push(`${name}_FILE: must be unset, or ${name} must be`);
    try {
      values[name] = decodeText(readFileSync(path)).replace(/[\r\n]+$/, '');
      if (values[name] === '') problems.push(`${name}_FILE: the file is empty`);
    } catch (error) {
      problems.push(`${name}_FILE: the file cannot be read: ${systemReason(error)}`);
    }
  }
  return { env: withPassword({ ...env, ...values }, values.PGPASSWORD), problems };
};

/** The driver reads PGPASSWORD from the environment of the process alone, so the password of a file becomes that of the URL. */
const withPassword = (env: Env, password: string | undefined): Env => {
  const text = withHost(env.DATABASE_URL ?? '');
  if (!password || !/^postgres(?:ql)?:/.test(text) || !URL.canParse(text)) return env;
  const url = new URL(text);
  if (url.password === '') url.password = encodeURIComponent(password);
  return { ...env, DATABASE_URL: url.href };
};
