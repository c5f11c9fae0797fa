import { writeFileSync } from 'node:fs';
import { asText, currentDocument, DOCUMENT } from '../openapi/current-document.ts';
import { APPENDIX, appendixOf, COVERAGE, readProofs, SECURITY, withProofs } from './proofs.ts';
import { ROOT, readText } from './repository.ts';
import { envExample, withVariables } from './variables.ts';

/** `npm run docs` */
const { proofs } = await readProofs();
writeFileSync(ROOT + COVERAGE, withProofs(readText(COVERAGE), proofs));
writeFileSync(ROOT + APPENDIX, appendixOf(readText(SECURITY), proofs));
writeFileSync(`${ROOT}.env.example`, envExample());
writeFileSync(`${ROOT}docs/configuration.md`, withVariables(readText('docs/configuration.md')));
writeFileSync(ROOT + DOCUMENT, asText(await currentDocument()));
