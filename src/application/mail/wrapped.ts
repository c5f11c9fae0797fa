/** RFC 5322 §2.1.1 asks for 78 characters at most. */
const WIDTH = 76;

/** The text in lines. A word that is longer than a line is broken. */
export const wrapped = (text: string): string => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap(pieces)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
};

const pieces = (word: string): string[] => {
  const points = [...word];
  const count = Math.max(1, Math.ceil(word.length / WIDTH));
  const size = Math.ceil(points.length / count);
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(''));
};
