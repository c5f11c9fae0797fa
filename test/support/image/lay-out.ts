import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT, readText } from '../checkout/repository.ts';

type Instruction = { readonly name: string; readonly text: string };

/** The instructions of each stage of a Dockerfile, with continued lines joined. */
const stagesOf = (dockerfile: string): Instruction[][] => {
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

/** The stage, the sources and the destination of a COPY instruction. */
const copyOf = (text: string) => {
  const words = text.split(' ');
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  return { from, sources: paths.slice(0, -1), destination: paths.at(-1) ?? '' };
};

/**
 * Returns a function that tells whether a `.dockerignore` admits a path. The file may only have `*`, then lines with `!` and a path.
 * @throws Error if the file has another line
 */
const admissionBy = (dockerignore: string): ((path: string) => boolean) => {
  const [all, ...lines] = dockerignore.split('\n').filter(Boolean);
  const other = lines.find((line) => !/^!\w*[\w./-]*$/.test(line));
  if (all !== '*' || other !== undefined) throw new Error(`.dockerignore: unknown syntax: ${other ?? all}`);
  const admitted = lines.map((line) => line.slice(1));
  return (path) => admitted.some((each) => path === each || path.startsWith(`${each}/`));
};

/** What the container image runs. Its working directory is the directory that it was laid out in. */
export type Image = {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
};

/** Instructions that have no effect on the files, or that set a user, which a test cannot switch to. */
const IGNORED = ['FROM', 'WORKDIR', 'USER', 'VOLUME', 'EXPOSE', 'ARG', 'LABEL'];
/** The build arguments of the image. */
export const BUILD_ARGS = { REVISION: 'a-commit-of-the-tests' };
const ABOUT_USERS = /^install -d -o |^chown /;
const INSTALL = 'npm ci --omit=dev --ignore-scripts';

const isAdmitted = admissionBy(readText('.dockerignore'));

/** Lays out the files of the image as its Dockerfile says. The packages are those of the checkout, without the development ones. */
export const layOutImage = (directory: string): Image => {
  const [dependencies = [], final = [], ...others] = stagesOf(readText('Dockerfile'));
  if (others.length > 0) throw new Error('Dockerfile: there are more than two stages');
  const image = { env: {}, command: [], healthCheck: [] };
  for (const instruction of final) Object.assign(image, perform(instruction, dependencies, directory));
  return image;
};

const perform = ({ name, text }: Instruction, stage: readonly Instruction[], directory: string): Partial<Image> => {
  const { from, sources, destination } = copyOf(text);
  if (name === 'ENV') return { env: Object.fromEntries(text.split(' ').map((pair) => pair.split('='))) };
  if (name === 'CMD') return { command: JSON.parse(text) };
  if (name === 'HEALTHCHECK') return { healthCheck: JSON.parse(text.slice(text.indexOf('['))) };
  if (name === 'COPY' && from === undefined) for (const source of sources) copy(source, destination, directory);
  else if (name === 'COPY') installPackages(stage, directory);
  else if (name === 'RUN' && !ABOUT_USERS.test(text)) run(text, directory);
  else if (name !== 'RUN' && !IGNORED.includes(name)) throw new Error(`Dockerfile: unknown instruction ${name}`);
  return {};
};

/** Copies a file, or the contents of a directory. @throws Error if `.dockerignore` admits nothing of the source */
const copy = (source: string, destination: string, directory: string): void => {
  const from = join(ROOT, source);
  const target = join(directory, destination, destination.endsWith('/') ? basename(source) : '');
  const filter = (path: string) => statSync(path).isDirectory() || isAdmitted(relative(ROOT, path));
  cpSync(from, target, { recursive: true, filter });
  if (!existsSync(target)) throw new Error(`COPY ${source}: .dockerignore does not admit it`);
};

/** Copies the packages that `npm ci` would install in the first stage. */
const installPackages = (stage: readonly Instruction[], directory: string): void => {
  const needed = stage.filter(({ name }) => name === 'COPY').flatMap(({ text }) => copyOf(text).sources);
  const missing = needed.find((source) => !isAdmitted(source));
  if (missing !== undefined) throw new Error(`COPY ${missing}: .dockerignore does not admit it`);
  const { packages }: { readonly packages: Readonly<Record<string, { readonly dev?: boolean }>> } = JSON.parse(
    readText('package-lock.json'),
  );
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const from = join(ROOT, path);
    // The packages for other platforms are not installed.
    if (path === '' || dev || !existsSync(from)) continue;
    const filter = (file: string) => !relative(from, file).startsWith('node_modules');
    cpSync(from, join(directory, path), { recursive: true, filter });
  }
  const commands = stage.filter(({ name }) => name === 'RUN').map(({ text }) => text);
  if (commands.join() !== INSTALL) throw new Error(`Dockerfile: the packages are not those of ${INSTALL}`);
};

const run = (command: string, directory: string): void => {
  const path = `PATH="${dirname(process.execPath)}:$PATH"`;
  execFileSync('sh', ['-ec', `${path}\n${command}`], {
    cwd: directory,
    env: { ...process.env, ...BUILD_ARGS },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
};
