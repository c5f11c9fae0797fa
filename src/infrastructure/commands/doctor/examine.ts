import { withTimeout } from '../../../adapters/limits/response-timeout.ts';
import { reasonOf, systemReason } from '../../../adapters/log/redact-error.ts';
import { whyNoMail } from '../../../adapters/mailer/smtp.ts';
import type { VariableName } from '../../config/variables.ts';
import { cookie, device, proxy } from './cookie.ts';
import { database } from './database.ts';
import { type Finding, type Findings, note, ok, problem, QUESTION_TIMEOUT, type SetUp, warning } from './finding.ts';
import { keys } from './keys.ts';
import { redis } from './redis.ts';
import { secretFiles } from './secret-files.ts';
import { templates } from './templates.ts';

/** The errors and warnings of a start, in the same words. */
export const configuration = ({ config, problems }: Pick<SetUp, 'config' | 'problems'>): Finding[] => [
  ...(problems.length === 0 ? [ok('configuration.valid', 'The service accepts all variables.')] : []),
  ...problems.map((text) => problem(idOf(text), text, adviceFor(text))),
  ...[...config.databaseWarnings, ...config.warnings].map((text) =>
    warning(idOf(text), text, 'Change it, unless it is intended: docs/configuration.md.'),
  ),
];

/** Every line begins with the name of its variable. */
const idOf = (text: string): string => `configuration.${/^[A-Z][A-Z0-9_]*/.exec(text)?.[0] ?? 'other'}`;

const adviceFor = (text: string): string =>
  /^JWT_\w+_KEY: required/.test(text)
    ? 'Make the keys with `npx tandem keys generate`, and set all four variables.'
    : 'Correct it, or the service does not start: docs/configuration.md.';

export const mail = async ({ config }: Pick<SetUp, 'config'>): Promise<Findings> => {
  if (config.mail === null)
    return note('mail.none', 'MAIL_URL is unset: no password reset, no email verification.', 'Set it to have them.');
  const { url, requireTls } = config.mail;
  if (url === null)
    return note('mail.files', 'MAIL_URL is unset: mail is written to DATA_DIR/mail.', 'Set MAIL_URL to send it.');
  const why = await whyNoMail({ url, requireTls, timeout: QUESTION_TIMEOUT });
  const { host } = new URL(url);
  if (why === null) return ok('mail.reachable', `The mail server at ${host} can be used.`);
  return problem(
    'mail.unreachable',
    `The mail server at ${host} cannot be used: ${why}. Mail waits.`,
    'Check that it runs, that this machine may reach it, its certificate, and the user and the password of MAIL_URL.',
  );
};

type Group = {
  /** The beginning of the ids of its findings. */
  readonly name: string;
  readonly title: string;
  readonly examine: (setUp: SetUp) => Findings | Promise<Findings>;
  /** Variables without which it is not examined. */
  readonly needs: readonly VariableName[];
};

const OF_COOKIE = ['JWT_REFRESH_COOKIE_SAME_SITE', 'JWT_REFRESH_COOKIE_SECURE'] as const;
const ORIGINS = ['ALLOWED_ORIGINS_DEV', 'ALLOWED_ORIGINS_PROD'] as const;

/** In the order of the report. */
const GROUPS: readonly Group[] = [
  { name: 'configuration', title: 'Configuration', examine: configuration, needs: [] },
  { name: 'keys', title: 'Keys', examine: keys, needs: ['DATA_DIR'] },
  { name: 'cookie', title: 'Cookie', examine: cookie, needs: ['BASE_URL', ...ORIGINS, ...OF_COOKIE] },
  {
    name: 'device',
    title: 'Device',
    examine: device,
    needs: ['BASE_URL', 'DEVICE_BINDING', 'JWT_REFRESH_COOKIE_SECURE'],
  },
  { name: 'proxy', title: 'Proxy', examine: proxy, needs: ['BASE_URL', 'TRUST_PROXY'] },
  { name: 'database', title: 'Database', examine: database, needs: ['DATABASE_URL', 'DATA_DIR', 'MIGRATE_ON_START'] },
  { name: 'redis', title: 'Redis', examine: redis, needs: ['REDIS_URL'] },
  { name: 'mail', title: 'Mail', examine: mail, needs: ['NODE_ENV', 'MAIL_URL', 'MAIL_FROM'] },
  { name: 'templates', title: 'Mail templates', examine: templates, needs: ['MAIL_TEMPLATES', 'DEFAULT_LOCALE'] },
  { name: 'secrets', title: 'Secrets', examine: secretFiles, needs: ['DATA_DIR'] },
];

export type Examined = { readonly title: string; readonly findings: readonly Finding[] };

/** Examines all groups at the same time, without writing. If a group fails or hangs, that is its finding. */
export const examine = (setUp: SetUp): Promise<Examined[]> =>
  Promise.all(
    GROUPS.map(async (group) => ({
      title: group.title,
      findings: [await findingsOf(group, setUp)].flat(),
    })),
  );

/** Milliseconds that a whole group may take. */
const GROUP_TIMEOUT = 10_000;

const findingsOf = async ({ name, needs, examine }: Group, setUp: SetUp): Promise<Findings> => {
  const missing = needs.filter((variable) => setUp.invalidNames.has(variable)).join(', ');
  if (missing !== '')
    return note(`${name}.skipped`, `Not examined: ${missing} is invalid.`, 'See the group Configuration.');
  try {
    // An async function, so that an error of a synchronous check is a rejection, too.
    return await withTimeout(GROUP_TIMEOUT, (async () => examine(setUp))(), noAnswer);
  } catch (error) {
    return problem(
      `${name}.failed`,
      `This could not be examined: ${whyFailed(error)}.`,
      'Correct that, or run the doctor as the user that runs the service.',
    );
  }
};

/** Errors of the system name a path or an address. Other messages may quote values. */
const whyFailed = (error: unknown): string => {
  const isOfSystem = error instanceof Error && typeof Reflect.get(error, 'syscall') === 'string';
  return (isOfSystem ? systemReason(error) : reasonOf(error)) || 'unknown';
};

const noAnswer = () => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
