import { onTestFinished } from 'vitest';
import { whyNoMail } from '../../src/adapters/mailer/smtp.ts';
import { kidsOf } from '../../src/infrastructure/commands/kids.ts';
import { examine } from '../../src/infrastructure/doctor/examine.ts';
import type { Finding } from '../../src/infrastructure/doctor/finding.ts';
import { temporaryDirectory } from './storage/temporary-directory.ts';

/** The findings of one group about an environment, in an empty directory. */
export const examined = async (group: string, env: Readonly<Record<string, string>>): Promise<readonly Finding[]> => {
  const directory = temporaryDirectory();
  onTestFinished(directory.remove);
  const groups = await examine({
    env: { DATA_DIR: directory.path, ...env },
    workingDirectory: directory.path,
    nodeArguments: [],
    kidsOf,
    whyNoMail,
  });
  return groups.find(({ name }) => name === group)?.findings ?? [];
};
