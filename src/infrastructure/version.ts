import manifest from '../../package.json' with { type: 'json' };

/** The application's version (SPEC "Versioning"), as package.json has it. */
export const VERSION: string = manifest.version;
