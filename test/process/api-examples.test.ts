import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { documentedProxy } from '../support/openapi/documented-proxy.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The fenced blocks of docs/api.md from its examples on: commands and their responses. */
const blocks = [
  ...(readText('docs/api.md').split('\n## Flows\n')[1] ?? '').matchAll(/```(sh|json)\n([\s\S]*?)```/g),
].map(([, language = '', text = '']) => ({ language, text }));
const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
/** What the page prints below each command: the payload of a success, or else the response; `null` where there is none. */
const printed = blocks.flatMap(({ language }, index) => {
  const next = blocks[index + 1];
  return language === 'sh' ? [next?.language === 'json' ? JSON.parse(next.text) : null] : [];
});

/** The names and types of the members of a value; for an array, those of its first item. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
};

type Answer = { readonly success?: boolean; readonly code?: string; readonly data?: Answer };
const printedOf = (answer: Answer): Answer | undefined => (answer.success === true ? answer.data : answer);

const directory = temporaryDirectory();
const service = await runService({});

it('the examples of docs/api.md have the printed responses when they run in order', async () => {
  const proxy = await documentedProxy(service.url);
  const script = commands.join("\nprintf '\\0'\n").replaceAll('http://localhost:3000', proxy.url);
  const { stdout } = await promisify(execFile)('sh', ['-ec', `export TMPDIR="$PWD"\n${script}`], {
    cwd: directory.path,
  });
  const responses = stdout.split('\0').map((text) => (text === '' ? null : printedOf(JSON.parse(text))));
  expect(responses.length).toBeGreaterThan(4);
  expect(responses.map(shapeOf)).toEqual(printed.map(shapeOf));
  expect(proxy.deviations).toEqual([]);
  expect(proxy.documented.length).toBeGreaterThan(4);
  const codes = (all: readonly (Answer | null | undefined)[]) => all.map((answer) => answer?.code);
  expect(codes(responses)).toEqual(codes(printed));
});
