import { readConfig } from '../config.ts';
import { VERSION } from '../version.ts';
import { action, type Command, countText } from './command.ts';
import { type Check, type CheckReport, examine, type Finding, type Severity } from './doctor/examine.ts';
import { keys, secretFiles } from './doctor/keys.ts';
import { configuration, mail, pages, templates } from './doctor/settings.ts';
import { cookie, device, proxy } from './doctor/site.ts';
import { database, redis } from './doctor/stores.ts';

const COOKIE_VARIABLES = ['JWT_REFRESH_COOKIE_SAME_SITE', 'JWT_REFRESH_COOKIE_SECURE'] as const;
const ORIGIN_VARIABLES = ['ALLOWED_ORIGINS_DEV', 'ALLOWED_ORIGINS_PROD'] as const;

export const CHECKS: readonly Check[] = [
  { name: 'configuration', title: 'Configuration', run: configuration, reads: [] },
  { name: 'keys', title: 'Keys', run: keys, reads: ['DATA_DIR'] },
  { name: 'cookie', title: 'Cookie', run: cookie, reads: ['BASE_URL', ...ORIGIN_VARIABLES, ...COOKIE_VARIABLES] },
  { name: 'device', title: 'Device', run: device, reads: ['BASE_URL', 'DEVICE_BINDING', 'JWT_REFRESH_COOKIE_SECURE'] },
  { name: 'proxy', title: 'Proxy', run: proxy, reads: ['BASE_URL', 'TRUST_PROXY'] },
  { name: 'database', title: 'Database', run: database, reads: ['DATABASE_URL', 'DATA_DIR', 'MIGRATE_ON_START'] },
  { name: 'redis', title: 'Redis', run: redis, reads: ['REDIS_URL'] },
  { name: 'mail', title: 'Mail', run: mail, reads: ['NODE_ENV', 'MAIL_URL', 'MAIL_FROM'] },
  { name: 'templates', title: 'Mail templates', run: templates, reads: ['MAIL_TEMPLATES', 'DEFAULT_LOCALE'] },
  { name: 'pages', title: 'Pages', run: pages, reads: ['PAGE_TEMPLATES'] },
  { name: 'secrets', title: 'Secrets', run: secretFiles, reads: ['DATA_DIR'] },
];

const countsOf = (findings: readonly Finding[]) => {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { ok: count('ok'), note: count('note'), warning: count('warning'), problem: count('problem') };
};

const WIDTH = 'warning'.length;

const linesOf = ({ id, severity, seen, advice }: Finding): string => {
  const line = `  ${severity.padEnd(WIDTH)}  ${seen} [${id}]\n`;
  return advice === null ? line : `${line}  ${' '.repeat(WIDTH)}  → ${advice}\n`;
};

const textOf = (reports: readonly CheckReport[], counts: ReturnType<typeof countsOf>): string => {
  const parts = reports.map(({ title, findings }) => `${title}\n${findings.map(linesOf).join('')}\n`);
  const totals = (['problem', 'warning', 'note'] as const).map((each) => countText(counts[each], each));
  return `${parts.join('')}${totals.join(', ')}.\n`;
};

export const doctor: Command = {
  actions: {
    '': action({
      options: { json: true },
      does: 'examines the environment and what it names, and reports; changes nothing',
      run: async ({ env }) => {
        const setUp = { ...readConfig(env), workingDirectory: process.cwd(), nodeArguments: process.execArgv, env };
        const reports = await examine(CHECKS, setUp);
        const findings = reports.flatMap((each) => each.findings);
        const counts = countsOf(findings);
        return {
          json: { version: VERSION, counts, findings },
          text: textOf(reports, counts),
          status: counts.problem > 0 ? 1 : 0,
        };
      },
    }),
  },
  failureStatus: 2,
  notes: 'Exit status: 0 without a problem, 1 with a problem, 2 if it could not run.',
};
