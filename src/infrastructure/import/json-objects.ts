import { isObject } from './fields.ts';
import { FileProblem, ROW_MAX_CHARACTERS, type Row, type RowProblem } from './row.ts';

/** Strings, brackets and line breaks. A quotation mark alone begins a string that has not ended yet. */
const TOKEN = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["{}[\]\n]/g;
const MAX_DEPTH = 100;

/**
 * The objects of a JSON document, one after the other: those of its list or, if it is an object, those of the lists of its members `tables`. What is
 * around them is not looked at.
 * @throws FileProblem
 */
export async function* jsonObjects(
  chunks: AsyncIterable<string>,
  tables: readonly string[],
): AsyncGenerator<Row | RowProblem> {
  const open: string[] = [];
  let [rest, line, key, hasList] = ['', 1, '', false];
  const isInList = () =>
    open.at(-1) === '[' && (open.length === 1 || (open.length === 2 && open[0] === '{' && tables.includes(key)));
  for await (const chunk of chunks) {
    const text = rest + chunk;
    let [end, object]: [number, { at: number; line: number; depth: number } | null] = [0, null];
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      if (token === '"') break;
      if (token === '\n') line += 1;
      else if (token.startsWith('"')) key = open.length === 1 ? token.slice(1, -1) : key;
      else if (token === '{' || token === '[') {
        if (token === '{' && object === null && isInList()) object = { at: index, line, depth: open.length };
        if (open.push(token) > MAX_DEPTH) throw new FileProblem(line, 'has too many brackets within each other');
        hasList ||= isInList();
      } else {
        open.pop();
        if (object?.depth === open.length) {
          yield rowIn(text.slice(object.at, index + 1), object.line);
          object = null;
        }
      }
      end = index + token.length;
    }
    if (object !== null) {
      // It is read again with the next chunk.
      [end, line, open.length] = [object.at, object.line, object.depth];
    }
    rest = text.slice(end);
    if (rest.length > ROW_MAX_CHARACTERS) throw new FileProblem(line, `has more than ${ROW_MAX_CHARACTERS} characters`);
  }
  if (open.length > 0) throw new FileProblem(line, 'is not complete');
  if (!hasList)
    throw new FileProblem(1, `begins no list${tables.length > 0 ? `, nor an object with ${tables[0]}` : ''}`);
}

const rowIn = (json: string, line: number): Row | RowProblem => {
  try {
    const row: unknown = JSON.parse(json);
    if (isObject(row)) return { line, row };
  } catch {
    // The message of the error quotes the text.
  }
  return { line, problem: 'is not JSON' };
};
