import { nodeCryptoBrowserProofs } from '../../src/adapters/browser-proofs/node-crypto.ts';
import { describeBrowserProofs } from '../contracts/browser-proofs.contract.ts';

describeBrowserProofs('nodeCryptoBrowserProofs', nodeCryptoBrowserProofs);
