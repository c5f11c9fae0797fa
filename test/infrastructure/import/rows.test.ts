import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvRows, entriesOf, jsonObjects } from '../../../src/infrastructure/import/rows.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

async function* chunks(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

const allOf = async <Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> => {
  const all: Entry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
};

const LENGTHS = [1, 2, 3, 7, 64, 100_000];

describe('a JSON document', () => {
  const rows = [{ a: '"]}{[\\', b: [{ c: 1 }] }, { a: 'é\n', b: { users: [{ c: 2 }] } }, {}];
  const list = JSON.stringify(rows, null, 1);
  const object = JSON.stringify(
    { a: ['users', { x: 1 }], 'us"ers': [{ x: 2 }], users: rows, z: { users: [{ x: 3 }] } },
    null,
    1,
  );

  it.each(LENGTHS)('gives its objects with their lines, in chunks of %i', async (length) => {
    for (const [text, tables] of [
      [list, []],
      [object, ['users', 'none']],
    ] as const) {
      const read = await allOf(jsonObjects(chunks(text, length), tables));
      expect(read.map((entry) => 'row' in entry && entry.row)).toEqual(rows);
      const lines = text.split('\n');
      expect(read.map(({ line }) => lines[line - 1]?.trim()[0])).toEqual(['{', '{', '{']);
      expect(new Set(read.map(({ line }) => line)).size).toBe(3);
    }
  });
});

it.each(LENGTHS)('a CSV file gives its entries with their lines, in chunks of %i', async (length) => {
  for (const end of ['\n', '\r\n']) {
    const text = ['\ufeffa,b', '1,"x', 'y, ""z"""', '', '2,', '3', '4,5,6', '7,8,', ''].join(end);
    expect(await allOf(csvRows(chunks(text, length)))).toEqual([
      { line: 2, row: { a: '1', b: `x${end}y, "z"` } },
      { line: 5, row: { a: '2', b: '' } },
      { line: 6, problem: 'has 1 fields in place of 2' },
      { line: 7, problem: 'has 3 fields in place of 2' },
      { line: 8, row: { a: '7', b: '8' } },
    ]);
  }
});

describe('a file', () => {
  const read = async (bytes: string | Buffer) => {
    const file = join(directory.path, 'file');
    writeFileSync(file, bytes);
    const entries = await allOf(entriesOf(file, { tables: ['users'] }));
    return entries.map(({ line, ...entry }) => [line, 'row' in entry ? entry.row : entry.problem]);
  };
  const STOPPED = '; the rest of the file was not read';
  const LONG = 'x'.repeat(2 ** 18 + 1);

  it.each<[string, string | Buffer, [number, unknown][]]>([
    [
      'lines of JSON',
      '\ufeff{"users":1}\r\n\n[]\n{"a":\n{"a":2}',
      [
        [1, { users: 1 }],
        [3, 'is no JSON object'],
        [4, 'is no JSON in UTF-8'],
        [5, { a: 2 }],
      ],
    ],
    ['a document on one line', '{"users":[{"a":1}]}', [[1, { a: 1 }]]],
    ['a byte order mark before a list', '\ufeff[\n{"a":1}]', [[2, { a: 1 }]]],
    [
      'an object that is not JSON',
      '[{"a":1},\n{"a":tru},\n{"a":3}]',
      [
        [1, { a: 1 }],
        [2, 'is not JSON'],
        [3, { a: 3 }],
      ],
    ],
    [
      'a document that ends too soon',
      '[{"a":1},\n{"a":"',
      [
        [1, { a: 1 }],
        [2, `is not complete${STOPPED}`],
      ],
    ],
    ['a document without users', '{\n"a":[{}]}', [[1, `begins no list, nor an object with users${STOPPED}`]]],
    ['an entry without an end', `[\n{"a":"${LONG}`, [[2, `has more than 262144 characters${STOPPED}`]]],
    [
      'brackets without an end',
      `{\n"a":${'['.repeat(200)}`,
      [[2, `has too many brackets within each other${STOPPED}`]],
    ],
    ['a column twice', 'a,b,a\n1,2,3', [[1, `names a column twice${STOPPED}`]]],
    [
      'a quotation mark that is not closed',
      'a,b\n1,2\n"3,4\n5,6\n',
      [
        [2, { a: '1', b: '2' }],
        [3, `has a quotation mark that is not closed${STOPPED}`],
      ],
    ],
    [
      'a quotation mark within a field',
      'a,b\n1,2\n3,secret"\n',
      [
        [2, { a: '1', b: '2' }],
        [3, `is not CSV${STOPPED}`],
      ],
    ],
    ['a field without an end', `a,b\n1,${LONG}`, [[2, `has an entry of more than 262144 characters${STOPPED}`]]],
    ['UTF-16', Buffer.from('\ufeffa,b', 'utf16le'), [[1, `is UTF-16: save the file as UTF-8${STOPPED}`]]],
    ['Latin-1', Buffer.from('a,b\n1,2\n3,\xe9\n', 'latin1'), [[3, `is not UTF-8${STOPPED}`]]],
    ['half a character at the end', Buffer.from('a,b\n1,2\n3,\xc3', 'latin1'), [[3, `is not UTF-8${STOPPED}`]]],
    ['nothing', '', []],
  ])('is read as far as it can be: %s', async (_name, bytes, expected) => {
    expect(await read(bytes)).toEqual(expected);
  });

  it('has to be a regular file, since it is read twice', async () => {
    await expect(allOf(entriesOf('/dev/null', { tables: [] }))).rejects.toThrow('/dev/null has to be a file.');
  });
});
