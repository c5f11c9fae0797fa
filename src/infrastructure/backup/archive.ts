import * as v from 'valibot';

/**
 * The form of a backup: a gzipped tar archive. First `tandem-backup.json`, then `keys/…` if there are any, `database/…`, and at the end
 * `tandem-files.json` with the size and the SHA-256 of everything before it. An archive without its end is no backup.
 */
export const FORMAT = 1;
export const ABOUT_NAME = 'tandem-backup.json';
export const FILES_NAME = 'tandem-files.json';
export const DATABASE = 'database';
export const KEYS = 'keys';

export const About = v.object({
  format: v.number(),
  /** The version of Tandem that made it. */
  tandem: v.string(),
  migrations: v.array(v.string()),
});
export type About = v.InferOutput<typeof About>;

const FileSum = v.object({ size: v.number(), sha256: v.string() });
export type FileSum = v.InferOutput<typeof FileSum>;

export const Files = v.object({
  /** ISO 8601. What was committed until then is in the backup. */
  endedAt: v.string(),
  files: v.record(v.string(), FileSum),
});
export type Files = v.InferOutput<typeof Files>;
