export type Instruction = { readonly name: string; readonly text: string };

/** The instructions of each stage of a Dockerfile, without comments, with joined lines. */
export const stagesOf = (dockerfile: string): Instruction[][] => {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n');
  const stages: Instruction[][] = [];
  for (const line of lines.filter(Boolean)) {
    const [name = '', ...words] = line.split(' ');
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: words.join(' ') });
  }
  return stages;
};

/** The flags, sources and destination of a COPY. */
export const copyOf = (text: string) => {
  const words = text.split(' ');
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  return { from, sources: paths.slice(0, -1), destination: paths.at(-1) ?? '' };
};

/**
 * Whether a `.dockerignore` admits a path. It knows only a list of what is admitted: `*`, then lines with `!` and a path.
 * @throws Error for any other line.
 */
export const admitting = (dockerignore: string): ((path: string) => boolean) => {
  const [all, ...lines] = dockerignore.split('\n').filter(Boolean);
  const other = lines.find((line) => !/^!\w*[\w./-]*$/.test(line));
  if (all !== '*' || other !== undefined) throw new Error(`.dockerignore: unknown syntax: ${other ?? all}`);
  const admitted = lines.map((line) => line.slice(1));
  return (path) => admitted.some((each) => path === each || path.startsWith(`${each}/`));
};
