import manifest from '../../package.json' with { type: 'json' };

/** The application's version, from package.json (SPEC "Versioning"). */
export const VERSION: string = manifest.version;
