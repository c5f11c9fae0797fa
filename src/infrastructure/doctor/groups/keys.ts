import { keyFileFindings, keyFindings } from '../checks/keys.ts';
import { type Finding, note } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { readKeyFiles } from '../probes/key-files.ts';

export const keys = async ({ config, problems, kidsOf }: Patient): Promise<Finding[]> => {
  if (problems.some((text) => /^JWT_(?:ACCESS|REFRESH)_(?:PRIVATE|PUBLIC)_KEY: /.test(text)))
    return [note('keys.skipped', 'Not looked at: a key variable is invalid.', 'See the group Configuration.')];
  if (config.keys === null) {
    const { files, shared } = await readKeyFiles(config.dataDir, kidsOf);
    return keyFileFindings(files, shared);
  }
  const [access, refresh] = await Promise.all([config.keys.access, config.keys.refresh].map(kidsOf));
  return keyFindings([
    { kind: 'access', kids: access ?? [], lifetime: config.accessLifetime },
    { kind: 'refresh', kids: refresh ?? [], lifetime: config.refreshLifetime },
  ]);
};
