import { etagOf } from './etag.ts';

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
