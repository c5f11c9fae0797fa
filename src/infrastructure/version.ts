import manifest from '../../package.json' with { type: 'json' };
import { checkedOutRevision } from './revision.ts';

const { version, revision }: { readonly version: string; readonly revision?: string } = manifest;

/** The application's version, from package.json (SPEC "Versioning"). */
export const VERSION = version;

/** The commit that it was built from: of a package or an image from package.json, else that of the checkout; `null` if it is unknown. */
export const REVISION = revision || checkedOutRevision(new URL('../../', import.meta.url));
