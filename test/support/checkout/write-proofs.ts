import { writeFileSync } from 'node:fs';
import { PAGES, readProofs, withProofs } from './proofs.ts';
import { ROOT, readText } from './repository.ts';

/** `npm run docs` */
const { proofs } = await readProofs();
for (const page of PAGES) writeFileSync(ROOT + page, withProofs(readText(page), proofs));
