import { writeFileSync } from 'node:fs';
import { asText, currentDocument, DOCUMENT } from '../openapi/current-document.ts';
import { PAGES, readProofs, withProofs } from './proofs.ts';
import { ROOT, readText } from './repository.ts';
import { envExample, withVariables } from './variables.ts';

/** `npm run docs` */
const { proofs } = await readProofs();
for (const page of PAGES) writeFileSync(ROOT + page, withProofs(readText(page), proofs));
writeFileSync(`${ROOT}.env.example`, envExample());
writeFileSync(`${ROOT}docs/configuration.md`, withVariables(readText('docs/configuration.md')));
writeFileSync(ROOT + DOCUMENT, asText(await currentDocument()));
