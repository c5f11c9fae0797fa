import { createHash } from 'node:crypto';

/** A strong entity tag without its quotes (RFC 9110 §8.8.3). */
export const etagOf = (content: string): string => createHash('sha256').update(content).digest('base64url');

type Kept = { readonly text: string; readonly etag: string };

/** A document that is made when it is first needed, and then kept. After a failure the next call tries again. */
export const keptDocument = (make: () => Promise<string>): (() => Promise<Kept>) => {
  let kept: Promise<Kept> | undefined;
  return () => {
    kept ??= make().then(
      (text) => ({ text, etag: etagOf(text) }),
      (error: unknown) => {
        kept = undefined;
        throw error;
      },
    );
    return kept;
  };
};
